// Checks the assertions of exported tests with the rule vectors: they must accept every valid request, and each must reject
// an invalid one.
import { existsSync, readdirSync, readFileSync } from 'node:fs';

const RULES = 'harness/report/src/export/rules';
const rules = readdirSync(RULES).flatMap((dialect) =>
  readdirSync(`${RULES}/${dialect}`).filter((file) => file.endsWith('.mjs')).map((file) => `${dialect}/${file.slice(0, -4)}`));
/** Parses a body. Returns undefined for a truncated body, which no client sends. */
const parsed = (text) => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
// A function shared by several dialects has to work in only one of them.
const works = new Map();
for (const rule of rules) {
  const code = readFileSync(`${RULES}/${rule}.mjs`, 'utf8');
  const problem = new Function(`${code}; return problem;`)();
  const file = `corpora/histories/${rule}.json`;
  if (!existsSync(file)) throw new Error(`${rule} has no vectors`);
  for (const { name, request, body: text, result, profile } of JSON.parse(readFileSync(file, 'utf8')).vectors) {
    // Other providers of a dialect have different rules.
    const body = request ?? parsed(text);
    if (profile || !body) continue;
    const found = problem(body);
    if (found && result === 'valid') console.log(`${rule} accuses ${name}: ${found}`);
    if (found && result === 'invalid') works.set(code, true);
  }
  if (!works.has(code)) works.set(code, false);
}
const idle = rules.filter((rule) => !works.get(readFileSync(`${RULES}/${rule}.mjs`, 'utf8')));
idle.forEach((rule) => console.log(`${rule} sees none of its invalid vectors`));
console.log(`${rules.length} rules`);
