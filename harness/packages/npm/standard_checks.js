// The checks of the standard interruption tests. They read the facts of a play, and the histories that the provider
// received.

// A result that consists of one of these words says that its call succeeded.
const SUCCESSES = ["ok", "okay", "done", "success", "successful", "succeeded", "completed", "finished", "true"];

/** The problems of a play, each as a sentence. */
export function problems(expected, facts) {
  const found = [...facts.refusals, ...facts.raised];
  const ordered = facts.report.orders.map((order) => order.exchange);
  const scripted = facts.report.faults.filter((fault) => !ordered.includes(fault.exchange));
  if (facts.expectsFault && scripted.every((fault) => fault.receipt === null)) found.push("the agent never asked for the reply that the provider refuses");
  for (const { tool, args, call } of facts.runs) {
    if (call === undefined) found.push(`${tool} ran with ${JSON.stringify(args)}, and the model called it with no such arguments`);
  }
  const sent = new Sent(facts);
  if (sent.items.length === 0) return [...found, "the last message of the user was never sent"];
  for (const words of expected) {
    const [name, ...calls] = words.split(" ");
    if (!(name in CHECKS)) throw new Error(`unknown check ${name}`);
    found.push(...CHECKS[name](facts, sent, calls));
  }
  return found;
}

const CHECKS = {
  ran: ({ runs }, sent, calls) =>
    calls.flatMap((name) => (runs.some((run) => run.call === name && run.isFinished) ? [] : [`call ${name} was not run`])),
  "never-ran": ({ runs }, sent, calls) =>
    calls.flatMap((name) => (runs.some((run) => run.call === name) ? [`call ${name} ran, though the model had not finished it`] : [])),
  "run-once": ({ calls, runs }) =>
    calls.flatMap(({ as: name }) => {
      const times = runs.filter((run) => run.call === name).length;
      return times > 1 ? [`call ${name} ran ${times} times`] : [];
    }),
  answered: (facts, sent, calls) => calls.flatMap((name) => (sent.result(name) ? [] : [`call ${name} has no result in the next request`])),
  "results-kept": ({ runs }, sent) => {
    const inTime = runs.filter((run) => run.call !== undefined && run.isFinished && !run.isLate);
    const times = (name) => runs.filter((run) => run.call === name).length;
    return [...new Set(inTime.map((run) => run.call))].flatMap((name) => sent.keeps(name, times(name)));
  },
  "not-claimed": ({ calls, runs }, sent) =>
    calls.filter(({ as: name }) => !runs.some((run) => run.call === name && run.isFinished)).flatMap(({ as: name }) => {
      const result = sent.result(name);
      return result && sent.claims(name, result) ? [`call ${name} did not finish, but its result reads ${JSON.stringify(result.text)}`] : [];
    }),
  "texts-kept": ({ texts }, sent) =>
    texts.flatMap((text) => {
      const times = sent.text("assistant").split(text).length - 1;
      return times === 1 ? [] : [`the model's text "${text}" is sent ${times} times`];
    }),
  "users-kept": ({ said }, sent) => {
    let from = 0;
    return said.flatMap((text) => {
      const words = sent.text("user");
      const times = words.split(text).length - 1;
      const at = words.indexOf(text, from);
      from = Math.max(from, at);
      if (times !== 1) return [`the user's message "${text}" is sent ${times} times`];
      return at < 0 ? [`the user's message "${text}" is not in its place`] : [];
    });
  },
  quiet: ({ nRequestsAfterStop: times }) => (times > 0 ? [`the agent sent ${times} more request${times > 1 ? "s" : ""} after the stop`] : []),
  "no-start-after-stop": ({ startedAfterStop }) => startedAfterStop.map(({ call, tool }) => `call ${call ?? tool} started after the stop`),
};

/** The history of the last request with the user's last message. */
class Sent {
  constructor({ histories, said, calls }) {
    const last = said.at(-1);
    const isLast = ({ items }) => items.some(({ content }) => content.kind === "text" && content.text.includes(last));
    this.items = histories.filter(isLast).at(-1)?.items ?? [];
    this.calls = calls;
  }

  text(role) {
    const ofRole = this.items.filter((item) => item.role === role && item.content.kind === "text");
    return ofRole.map((item) => item.content.text).join("\n");
  }

  /** The result of a call, by the id under which the agent sends the call. */
  result(name) {
    const key = this.calls.find((call) => call.as === name).args?.key;
    const call = this.items.find(({ content }) => content.kind === "call" && key !== undefined && content.args?.key === key);
    return call && this.items.find(({ content }) => content.kind === "result" && content.id === call.content.id)?.content;
  }

  /** The text that the tool of a call returns. */
  returned(name) {
    return `found ${this.calls.find((call) => call.as === name).args?.key}`;
  }

  claims(name, { text, is_error: isError }) {
    return !isError && (text.includes(this.returned(name)) || SUCCESSES.includes(text.trim().toLowerCase().replace(/[.!"]/g, "")));
  }

  /** The problems with the result of a finished call. Its text counts wherever it is, but not as the result of another call. */
  keeps(name, nRuns) {
    const returned = this.returned(name);
    const holders = this.items.filter(({ content }) => JSON.stringify(content).includes(returned));
    if (holders.length === 0) return [`call ${name} finished, but its result is not sent`];
    const results = holders.filter(({ content }) => content.kind === "result");
    if (results.length > nRuns) return [`the result of call ${name} is sent ${results.length} times`];
    if (results.length > 0 && this.result(name)?.text.includes(returned) !== true) return [`the result of call ${name} is sent for another call`];
    return [];
  }
}
