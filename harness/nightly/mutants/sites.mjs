// Lists the places in a JavaScript file that can be mutated.
//
// `node sites.mjs MODULES`, where MODULES is the folder in which npm has installed the parser.
// Standard input has `{ source, functions }`: the text, and the names of the functions and classes to look in (`f`, `Class`
// or `Class.method`). Standard output has the sites, each with its kind, its range, the text that replaces the range, and
// the place of a marker that shows whether the code is executed. Offsets count code points, as Python does.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';

const { parse } = createRequire(resolve(process.argv[2], 'index.js'))('acorn');
const { source, functions } = JSON.parse(readFileSync(0, 'utf8'));

/** The statements that can change places with a neighbour. None declares a name or leaves the block. */
const MOVABLE = new Set(['ExpressionStatement', 'IfStatement', 'ForOfStatement', 'ForStatement', 'WhileStatement', 'TryStatement']);
const EXITS = new Set(['ReturnStatement', 'ContinueStatement', 'BreakStatement', 'ThrowStatement']);
const FUNCTIONS = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']);
/** The methods of arrays that return one element for each, or some, of the array's. */
const ELEMENTWISE = new Set(['map', 'flatMap', 'filter']);

const text = ({ start, end }) => source.slice(start, end);
const isNode = (value) => typeof value?.type === 'string';
const children = (node) => Object.values(node).flat().filter(isNode);

/** The name of a node in the table of targets, inside a class. */
function nameOf(node, parent, inClass) {
  if (node.type === 'MethodDefinition' || node.type === 'PropertyDefinition') return `${inClass}.${text(node.key)}`;
  if (node.id?.type === 'Identifier' && node.type !== 'VariableDeclarator') return node.id.name;
  const isValue = parent?.type === 'VariableDeclarator' && parent.init === node;
  return isValue && (FUNCTIONS.has(node.type) || node.type === 'ClassExpression') ? parent.id.name : undefined;
}

/** The nodes with these names, and those of them that were found. */
function* targets(node, parent, inClass) {
  const name = nameOf(node, parent, inClass);
  if (functions.includes(name)) return yield { name, node };
  const isClass = node.type === 'ClassDeclaration' || node.type === 'ClassExpression';
  for (const child of children(node)) yield* targets(child, node, isClass ? name : inClass);
}

const site = (kind, range, text, mark) => ({ kind, start: range.start, end: range.end, text, mark });

/** The lists of statements in a node. */
const listOf = (node) => node.type === 'SwitchCase' ? node.consequent
  : node.type === 'BlockStatement' || node.type === 'StaticBlock' ? node.body : [];

/** The places of a node's body that are executed on their own, each with its marker. */
function marks(node) {
  const found = new Map();
  const put = (child, form) => child && found.set(child, { form, start: child.start, end: child.end });
  for (const statement of listOf(node)) put(statement, 'statement');
  if (node.type === 'IfStatement') [node.consequent, node.alternate].forEach((child) => put(child, 'branch'));
  if (/^(For|While|DoWhile)/.test(node.type)) put(node.body, 'branch');
  if (node.type === 'ArrowFunctionExpression' && node.expression) put(node.body, 'expression');
  for (const [child] of found) if (child.type === 'BlockStatement') found.delete(child);
  return found;
}

/** A list without one of its elements, as the range to remove. */
function without(elements, index) {
  const { start, end } = elements[index];
  return index > 0 ? { start: elements[index - 1].end, end } : { start, end: elements[index + 1].start };
}

function* swaps(node, mark) {
  const list = listOf(node);
  for (let index = 1; index < list.length; index += 1) {
    const [one, two] = [list[index - 1], list[index]];
    if (!MOVABLE.has(one.type) || !MOVABLE.has(two.type) || one.directive) continue;
    const range = { start: one.start, end: two.end };
    yield site('swap', range, text(two) + source.slice(one.end, two.start) + text(one), mark(one));
  }
}

/** The mutations of one node. `isTop` is true for a statement of a function's own body. */
function* ofNode(node, mark, isTop) {
  const isResult = node.type === 'ReturnStatement' && node.argument && isTop;
  switch (node.type) {
    case 'ExpressionStatement':
      if (node.directive || node.expression.callee?.type === 'Super') break;
      yield site('drop-statement', node, ';', mark);
      if (node.expression.type === 'AwaitExpression') {
        yield site('drop-await', node.expression, text(node.expression.argument), mark);
      }
      break;
    case 'IfStatement': case 'ConditionalExpression':
      yield site('negate', node.test, `!(${text(node.test)})`, mark);
      break;
    case 'ForOfStatement':
      if (node.await) break;
      for (const cut of ['slice(1)', 'slice(0, -1)']) {
        yield site('skip-result', node.right, `[...(${text(node.right)})].${cut}`, mark);
      }
      break;
    case 'CallExpression': case 'NewExpression':
      yield* ofCall(node, mark);
      break;
    case 'ObjectExpression':
      if (node.properties.length < 2) break;
      for (const index of node.properties.keys()) yield site('drop-property', without(node.properties, index), '', mark);
      break;
    case 'Literal':
      if (typeof node.value === 'boolean') yield site('flip-flag', node, String(!node.value), mark);
      break;
    default:
      if (EXITS.has(node.type) && !isResult) yield site('drop-exit', node, ';', mark);
  }
}

function* ofCall(node, mark) {
  const { callee, arguments: given } = node;
  if (given.length > 1) yield site('drop-argument', without(given, given.length - 1), '', mark);
  if (callee.type !== 'MemberExpression' || !ELEMENTWISE.has(callee.property.name) || given.length === 0) return;
  yield site('skip-result', callee.object, `${text(callee.object)}.slice(1)`, mark);
  if (callee.property.name === 'filter') yield site('drop-filter', node, text(callee.object), mark);
}

function* sites(node, mark, isTop) {
  if (mark) yield* ofNode(node, mark, isTop);
  const own = marks(node);
  yield* swaps(node, (statement) => own.get(statement));
  const isBody = FUNCTIONS.has(node.type);
  for (const child of children(node)) {
    const isTopList = isBody && child === node.body;
    yield* sites(child, own.get(child) ?? mark, isTopList || (isTop && node.type === 'BlockStatement'));
  }
}

const found = [...targets(parse(source, { ecmaVersion: 'latest', sourceType: 'module', allowHashBang: true }))];
const missing = functions.filter((name) => !found.some((target) => target.name === name));
if (missing.length > 0) {
  console.error(`no function or class has the name ${missing.join(', ')}`);
  process.exit(1);
}
const pairs = [...source.matchAll(/[\u{10000}-\u{10FFFF}]/gu)].map(({ index }) => index);
const points = (range) => {
  const count = (offset) => offset - pairs.filter((pair) => pair < offset).length;
  return { ...range, start: count(range.start), end: count(range.end) };
};
const all = found.flatMap(({ node }) => [...sites(node, undefined, false)]);
console.log(JSON.stringify(all.map((one) => ({ ...points(one), mark: points(one.mark) }))));
