/** A tool of the scenario. */
export interface Given {
  name: string;
  description: string;
  /** The JSON Schema of its arguments. */
  inputSchema: any;
  /** The URL to post the tool's arguments to. The response tells how the tool ends. */
  gateUrl: string;
  /** True if the tool ignores a stop. */
  deaf: boolean;
  /** True if the tool needs the user's approval. Only for adapters with the capability `approvals`. */
  asks?: boolean;
  /** True if its result ends the turn. Only for adapters with the capability `finalTools`. */
  ends?: boolean;
  /** The agent that it hands the conversation over to. Only for adapters with the capability `handoffs`. */
  handsOver?: string;
  /** True if it runs on the user's side. Only for adapters with the capability `clientTools`. */
  client?: boolean;
}

/** The options of a session. */
export interface Spec {
  protocol: 1;
  /** The provider's URL, without `/v1` and without a trailing slash. */
  baseUrl: string;
  dialect: string;
  mode: string;
  /** The model to use. If absent, use a current one of the dialect. */
  model?: string;
  /** True to request thinking from the model. */
  thinking?: boolean;
  /** True to offer the provider's own web search. Only with the capability `serverTools`. */
  search?: boolean;
  /** The SDK's limit of steps. Only for adapters with the capability `stepLimit`. */
  maxSteps?: number;
  /** A folder for the data that an application would keep in its database. */
  stateDir: string;
  /** The URL to call before and after each write of the SDK's store. Only with the capability `saving`. */
  savingUrl?: string;
  tools: Given[];
}

/** The stored session, which your application would keep in its database. */
export interface Store {
  /** The history saved last, or `empty`. */
  load<T>(empty: T): T;
  save(history: unknown): void;
}

/** An open session. */
export interface Session {
  id: string;
  spec: Spec;
  store: Store;
  /** The stop of the running turn. */
  stop?: AbortController;
  /** Called at each stop of a turn. The signal reports only the first. */
  onStop?: () => void;
  /** Reports a repair that the adapter makes in this turn in the application's place, as the SDK's documentation asks. */
  repaired: (name: string) => void;
  /** The adapter's own data of the session. */
  [own: string]: any;
}

/** Shows the user the state of a call. */
export type Show = (id: string, state?: string, title?: string) => void;

/** Resolves to true if the user allows the call, false if not, and undefined after a stop. */
export type Ask = (callId: string) => Promise<boolean | undefined>;

/** The end of a turn as the SDK reports it. */
export interface End {
  raised?: any;
  cancelled?: boolean;
}

/** One turn of the SDK. */
export type Turn = (session: Session, text: string, stop: AbortSignal, show: Show, ask: Ask) => Promise<End>;

/** A cancellation token, which some SDKs use instead of a signal. */
export interface Token {
  isCancellationRequested?: boolean;
  onCancellationRequested(stop: () => void): unknown;
}

/** The forms in which an SDK reports a stop to its tools. */
export type Stop = AbortSignal | PromiseLike<unknown> | Token;

/** The error of a tool that did not return. */
export interface ToolFailure extends Error {
  name: "Denied" | "ToolError";
  kind: "error" | "throw" | "deny";
}

/**
 * Returns the version of the package that contains a file, such as `versionOf(import.meta.resolve('my-sdk'))`. It also
 * works for a package that does not export its `package.json`.
 */
export function versionOf(file: string): string;

/**
 * Posts a tool's arguments to its gate and waits. The harness decides when and how the tool ends. Rejects with a
 * `ToolFailure`, or with the abort error of `fetch` after a stop.
 */
export function gate(given: Given, input: unknown, stop?: Stop): Promise<string>;

/**
 * Runs a write of the SDK's store. The harness decides when it begins, when the SDK continues after it, and whether it
 * fails. `entries` is the number of entries that it adds to the thread: user messages, calls and results. `write` gets the
 * number of entries to keep, from the first, if that is not all of them (only with the capability `failingWrites`).
 */
export function saving<T>(spec: Spec, entries: number, write: (keep?: number) => Promise<T>): Promise<T>;

/** The items of a write up to the last entry that the store keeps. Without `keep`, it keeps all. */
export function upTo<T>(items: T[], isEntry: (item: T) => boolean, keep?: number): T[];

/** An event of an SDK's own stream. */
export interface Event {
  type: string;
  call?: string;
  tool?: string;
  text?: string;
  failed?: boolean;
}

/** A call's tool and its arguments so far, collected from the events. */
export interface Known {
  tool: string;
  input: any;
}

/** A stored call. */
export interface Stored {
  call: string;
  state: string;
  arguments?: string;
  result?: string;
}

/** Code that makes messages of the SDK's own stream. Feed it events in the given order, even if that is wrong. */
export interface Consumer {
  feed(event: Event, known: Known): any;
  end(): any;
  stored(): Stored[];
  /** The error that the SDK has reported, if it reports errors without throwing. */
  error?(): any;
}

/** The optional parts of an adapter. */
export interface More {
  /** Capabilities that differ from those of an SDK that streams, can be stopped and stores its history. */
  capabilities?: Record<string, any>;
  /** Waits until the SDK has consumed its input, if turns of the event loop are not enough. */
  settled?: () => Promise<void>;
  /** Converts a given history to the form of the store. */
  give?: (history: any[], spec: Spec) => any;
  /** Returns the history, if the store contains more than that. */
  stored?: (session: Session) => any;
  /**
   * Runs an action of `_brickbat/action`: `{ steer: "…" }`, `{ inject: "…" }`, `{ interrupt: "…" }` or `{ change: { … } }`.
   * It can return `{ changed: false }` if the SDK reports that there is nothing to change.
   */
  act?: (session: Session, action: any) => any;
  /** Releases the resources of an ended session, such as its connections. */
  closed?: (session: Session) => any;
  /**
   * Switches the open session to a model of the provider that its `spec` now names, for an adapter that claims
   * `changes.provider`. Without it, the session is closed and loaded again.
   */
  provider?: (session: Session) => any;
  /**
   * Gives a running turn the list of tools that the `spec` of its session now names, for an adapter that claims
   * `changes.toolsInTurn`. With `changes.tools` only, the next turn reads the list from the `spec`.
   */
  tools?: (session: Session) => any;
  /** Functions that open consumers of events, by name. */
  events?: Record<string, () => Consumer | Promise<Consumer>>;
}

/** Serves the protocol until standard input ends. */
export function serve(
  about: { sdk: string; version: string; modes: string[] },
  dialects: string[],
  turn: Turn,
  more?: More,
): void;

/** Feeds a new consumer with events and records its stored calls after each event and after the end of the stream. */
export function replay(
  consumers: More["events"],
  params: { consumer: string; events: Event[] },
): Promise<{ told: { stored: Stored[][]; refused?: { at: number; message: string } } }>;
