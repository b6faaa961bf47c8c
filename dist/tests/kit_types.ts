// Checks the types of `brickbat-adapter`.
import { gate, replay, serve, type Given, type Turn } from "brickbat-adapter";

const turn: Turn = async (session, text, stop, show, ask) => {
  const history = session.store.load<string[]>([]);
  const given: Given | undefined = session.spec.tools[0];
  if (given?.asks && !(await ask("call_1"))) return { cancelled: stop.aborted };
  show("call_1", "in_progress", given?.name);
  if (given) history.push(text, await gate(given, { key: "a" }, stop));
  session.store.save(history);
  return {};
};

serve({ sdk: "mine", version: "1.0.0", modes: ["messages"] }, ["openai-chat"], turn, { capabilities: { load: true } });
const { told } = await replay({ mine: () => ({ feed() {}, end() {}, stored: () => [] }) }, { consumer: "mine", events: [] });
console.log(told.refused?.at, told.stored.length);
// @ts-expect-error A session has no such field.
const wrong: Turn = async (session) => session.spec.baseURL;
// @ts-expect-error A tool is stopped by a signal, a promise or a token.
await gate({} as Given, {}, "stop");
console.log(wrong);
