import type { AssertionError } from "node:assert";
import type { Dialect, ProviderOptions, StrictProvider } from "./test.js";

/** The agent failed a test. */
export class StandardFailure extends AssertionError {}

/** A tool for the agent. The test decides when it ends. */
export interface StandardTool {
  name: string;
  description: string;
  /** The JSON Schema of the arguments. */
  parameters: { type: "object"; properties: Record<string, { type: "string" }>; required: string[] };
  /** Runs the tool. Pass on the signal of the stop if the agent's tools get one. */
  run(args: any, options?: { signal?: AbortSignal }): Promise<string>;
}

/** The surroundings of an agent. */
export interface Setup {
  /** The provider's base URL in the form that the vendor's SDK of the dialect takes. */
  baseURL: string;
  dialect: Dialect;
  /** The tools that the agent has to offer to the model. */
  tools: StandardTool[];
  /** An existing folder, empty for the first agent. A fresh agent gets the same one, and continues the thread. */
  store: string;
  provider: StrictProvider;
}

/** The agent of a test. */
export interface StandardAgent {
  /** Runs a turn, and stops it when the signal is aborted. It may return or throw. */
  turn(text: string, options: { signal: AbortSignal }): Promise<unknown> | unknown;
  /** Called before a fresh agent takes over the store, and at the end. */
  close?(): Promise<unknown> | unknown;
}

export type Capability = "stop" | "store" | "streaming" | "parallel";

/** Subclass this, and call `register` with the functions of your test runner. */
export abstract class StandardInterruptionTests {
  /** The dated set of tests, such as `2026-12`. A newer version of this package runs the same set. */
  abstract requirements: string;
  /** The dialect that the agent speaks. */
  abstract dialect: Dialect;
  /** Capabilities that the agent does not have, each with a reason. The tests that need them are skipped with it. */
  lacks: Partial<Record<Capability, string>>;
  /** Tests that fail for a known reason. They are skipped with it, and fail once they pass. */
  expectedFailures: Record<string, string>;
  /** Options of the strict provider, such as `host`. */
  providerOptions: ProviderOptions;
  /** Makes an agent over `setup.store`. */
  abstract makeAgent(setup: Setup): StandardAgent | Promise<StandardAgent>;
  /** Registers the tests of the set with vitest or node:test. */
  static register(runner: { describe: (name: string, body: () => void) => unknown; test: (...args: any[]) => unknown }): void;
  /** The tests of the set, and the reason why a test is skipped, if it is. */
  list(): { name: string; proves: string; skipped?: string }[];
  /** Runs one test, and throws if it fails. */
  run(name: string): Promise<void>;
}
