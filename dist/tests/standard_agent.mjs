// A small agent on Anthropic's Messages API, right unless a bug is planted. Its store is a file.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const MAX_TRIES = 3;

export class Agent {
  constructor({ baseURL, tools, store }, bug) {
    Object.assign(this, { url: `${baseURL}/v1/messages`, tools, bug, path: join(store, "thread.json") });
    this.isFresh = existsSync(this.path);
    this.messages = this.isFresh ? JSON.parse(readFileSync(this.path, "utf8")) : [];
    if (this.isFresh && bug === "fresh-forgets-results") this.messages = this.messages.filter(({ content }) => typeof content === "string" || content.every(({ type }) => type === "text"));
    if (this.isFresh && bug === "fresh-starts-over") this.messages = [];
  }

  async turn(text, { signal } = {}) {
    if (this.bug === "stays-stopped") signal = this.signal = this.signal?.aborted ? this.signal : signal;
    if (this.isFresh && this.bug === "fresh-reruns") await this.runAgain();
    if (this.bug === "reruns-after-stop" && this.wasStopped) await this.runAgain();
    this.wasStopped = false;
    this.messages.push({ role: "user", content: text });
    try {
      while (await this.step(signal)) this.save();
    } catch (error) {
      if (this.bug === "drops-user" && this.messages.at(-1).content === text) this.messages.pop();
      if (this.bug === "drops-results-before-answer" && signal?.aborted && this.messages.at(-1).content[0].type === "tool_result") this.messages.splice(-2);
      if (this.bug === "drops-user-on-error" && !signal?.aborted) this.messages.pop();
      if (!signal?.aborted || this.bug === "stays-stopped") throw error;
      this.wasStopped = true;
    } finally {
      this.save();
    }
  }

  save() {
    writeFileSync(this.path, JSON.stringify(this.messages));
  }

  async step(signal) {
    const { content, isWhole, stop } = await this.reply(signal);
    const runnable = content.filter((block) => block.type !== "tool_use" || (block.isWhole && (isWhole || this.bug === "runs-cut-replies")));
    if (!isWhole && this.bug === "keeps-cut-calls") this.add(content);
    else this.add(isWhole || this.bug === "runs-cut-replies" ? runnable : runnable.filter(({ type }) => type === "text"));
    const calls = (this.bug === "runs-cut-arguments" ? content : runnable).filter(({ type }) => type === "tool_use");
    if (this.bug === "runs-cut-arguments" && calls.some((call) => !call.isWhole)) {
      await Promise.all(calls.map((call) => this.run(call).catch(() => {})));
      throw new Error("the reply was cut");
    }
    if (!isWhole && this.bug !== "runs-cut-replies") throw new Error("the reply was cut");
    if (calls.length === 0) return false;
    const results = await this.results(calls, signal);
    if (results) this.messages.push({ role: "user", content: results });
    if (signal?.aborted && this.bug !== "asks-after-stop") {
      this.wasStopped = true;
      return false;
    }
    return stop === "tool_use" || stop === "max_tokens" || results !== undefined;
  }

  add(content) {
    const blocks = content.map(({ isWhole, json, ...block }) => block).filter((block) => block.text !== "" || this.bug === "stores-empty-texts");
    if (blocks.length > 0) this.messages.push({ role: "assistant", content: blocks });
  }

  async results(calls, signal) {
    const done = new Map();
    const inOrder = [];
    const stopped = new Promise((resolve) => signal?.addEventListener("abort", resolve, { once: true }));
    const finish = async (call) => {
      const text = await this.run(call, signal).then((text) => ({ content: text }), (error) => ({ content: error.message, is_error: true, error }));
      if (signal?.aborted && this.bug !== "starts-after-stop") return;
      done.set(call.id, text);
      inOrder.push(text);
    };
    if (this.bug === "starts-after-stop") {
      for (const call of calls) await finish(call);
    } else {
      const run = this.bug === "runs-first-call-only" ? calls.slice(0, 1) : calls;
      await Promise.race([Promise.all(run.map(finish)), stopped]);
    }
    const failed = [...done.values()].find(({ error }) => error);
    if (failed && this.bug === "throws-with-tools") throw failed.error;
    if (signal?.aborted) {
      if (this.bug === "leaves-calls-open") return undefined;
      if (this.bug === "forgets-results") done.clear();
    }
    return calls.map(({ id }, at) => {
      const words = this.bug === "claims-success" ? { content: "Done." } : { content: "The user stopped this call.", is_error: true };
      const { error, ...result } = (this.bug === "swaps-results" ? inOrder[at] : done.get(id)) ?? words;
      return { type: "tool_result", tool_use_id: id, ...result };
    });
  }

  async run({ name, input, json }, signal) {
    const tool = this.tools.find((tool) => tool.name === name);
    if (!tool) throw Object.assign(new Error(`there is no tool ${name}`), { name: "UnknownTool" });
    return tool.run(input ?? { key: json }, this.bug === "passes-no-signal" ? {} : { signal });
  }

  /** Runs the calls of the last reply with calls again. */
  async runAgain() {
    this.isFresh = false;
    const last = this.messages.findLast(({ content }) => Array.isArray(content) && content.some(({ type }) => type === "tool_use"));
    for (const call of last?.content ?? []) if (call.type === "tool_use") await this.run(call).catch(() => {});
  }

  async reply(signal) {
    for (let k = 1; ; k++) {
      const answer = await fetch(this.url, {
        method: "POST",
        signal: this.bug === "asks-after-stop" ? undefined : signal,
        headers: { "content-type": "application/json", "x-api-key": "none", "anthropic-version": "2023-06-01" },
        body: JSON.stringify({ model: "claude-sonnet-4-5", max_tokens: 1000, stream: true, messages: this.messages, tools: this.offered() }),
      });
      if (answer.ok) return this.read(answer);
      const text = await answer.text();
      if (answer.status < 500 && answer.status !== 429) throw new Error(text);
      if (k === MAX_TRIES) throw new Error(text);
      if (this.bug === "doubles-user-on-retry" && typeof this.messages.at(-1).content === "string") this.messages.push(this.messages.at(-1));
      if (this.bug === "reruns-on-retry" && typeof this.messages.at(-1).content !== "string") await this.runAgain();
      if (this.bug === "drops-results-on-retry" && typeof this.messages.at(-1).content !== "string") this.messages.splice(-2);
    }
  }

  offered() {
    return this.tools.map(({ name, description, parameters }) => ({ name, description, input_schema: parameters }));
  }

  /** Reads a stream, also one that breaks. */
  async read(answer) {
    const content = [];
    let stop;
    let isWhole = false;
    let rest = "";
    try {
      for await (const chunk of answer.body.pipeThrough(new TextDecoderStream())) {
        const frames = (rest + chunk).split("\n\n");
        rest = frames.pop();
        for (const frame of frames) {
          const event = JSON.parse(frame.match(/^data: (.*)$/m)[1]);
          if (event.type === "error") throw new Error(event.error.message);
          if (event.type === "content_block_start") content[event.index] = { ...event.content_block, ...(event.content_block.type === "tool_use" && { input: undefined, json: "" }) };
          const block = content[event.index];
          if (event.type === "content_block_delta" && block.type === "text") block.text += event.delta.text;
          if (event.type === "content_block_delta" && block.type === "tool_use") block.json += event.delta.partial_json;
          if (event.type === "content_block_stop") this.complete(block);
          if (event.type === "message_delta") stop = event.delta.stop_reason;
          if (event.type === "message_stop") isWhole = true;
        }
      }
    } catch (error) {
      if (this.bug === "drops-results-in-broken-answer") this.messages.splice(-2);
      if (this.bug === "drops-user-in-broken-stream") this.messages.pop();
    }
    if (!isWhole && this.bug === "keeps-cut-calls") for (const block of content) if (block.type === "tool_use") block.input ??= {};
    return { content, isWhole, stop };
  }

  complete(block) {
    if (block.type !== "tool_use") return;
    try {
      block.input = JSON.parse(block.json || "{}");
      block.isWhole = true;
    } catch {
      block.isWhole = false;
    }
  }
}
