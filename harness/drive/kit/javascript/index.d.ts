/** A tool that the harness gives. */
export interface Given {
  name: string;
  description: string;
  /** A JSON Schema of its arguments. */
  inputSchema: any;
  /** Where the tool's arguments go; the answer is how the tool ends. */
  gateUrl: string;
  /** Whether the tool does not hear a stop. */
  deaf: boolean;
  /** Whether the user is asked before it runs; only for adapters with the capability `approvals`. */
  asks?: boolean;
  /** Whether its result ends the turn; only for adapters with the capability `finalTools`. */
  ends?: boolean;
  /** The agent to which it hands the conversation over; only for adapters with the capability `handoffs`. */
  handsOver?: string;
  /** Whether it runs on the user's side; only for adapters with the capability `clientTools`. */
  client?: boolean;
}

/** What a session is opened with. */
export interface Spec {
  protocol: 1;
  /** Without `/v1` and without a slash at its end. */
  baseUrl: string;
  dialect: string;
  mode: string;
  /** The model to ask; a current one of the dialect if there is none. */
  model?: string;
  /** Whether the model is asked to think. */
  thinking?: boolean;
  /** Whether to offer the web search that the provider runs itself; only with the capability `serverTools`. */
  search?: boolean;
  /** The SDK's limit of steps; only for adapters with the capability `stepLimit`. */
  maxSteps?: number;
  /** A folder for what the application around the SDK would keep in its database. */
  stateDir: string;
  /** Where to ask before and after each write of the SDK's store; only with the capability `saving`. */
  savingUrl?: string;
  tools: Given[];
}

/** What your database would keep of a session. */
export interface Store {
  /** What was saved last, or `empty`. */
  load<T>(empty: T): T;
  save(history: unknown): void;
}

/** A session that is open. */
export interface Session {
  id: string;
  spec: Spec;
  store: Store;
  /** Of the running turn. */
  stop?: AbortController;
  /** Called at each stop of a turn; the signal is for the first. */
  onStop?: () => void;
  /** Whatever an adapter keeps of a session. */
  [own: string]: any;
}

/** Shows the user the state of a call. */
export type Show = (id: string, state?: string, title?: string) => void;

/** Whether the user allows a call; nothing after a stop. */
export type Ask = (callId: string) => Promise<boolean | undefined>;

/** How a turn ended, as the SDK says it. */
export interface End {
  raised?: any;
  cancelled?: boolean;
}

/** One turn of the SDK. */
export type Turn = (session: Session, text: string, stop: AbortSignal, show: Show, ask: Ask) => Promise<End>;

/** A token by which some SDKs tell of a stop. */
export interface Token {
  isCancellationRequested?: boolean;
  onCancellationRequested(stop: () => void): unknown;
}

/** By what an SDK tells its tools of a stop. */
export type Stop = AbortSignal | PromiseLike<unknown> | Token;

/** How a tool ended that did not return. */
export interface ToolFailure extends Error {
  name: "Denied" | "ToolError";
  kind: "error" | "throw" | "deny";
}

/**
 * Posts a tool's arguments to its gate and waits: the harness decides when and how the tool ends. Rejects with a
 * `ToolFailure`, or as `fetch` does when `stop` comes.
 */
export function gate(given: Given, input: unknown, stop?: Stop): Promise<string>;

/**
 * Makes a write of the SDK's store: the harness decides when it begins, and when the SDK goes on after it. `entries` is how
 * many entries it adds to the thread: what the user says, each call and each result.
 */
export function saving<T>(spec: Spec, entries: number, write: () => Promise<T>): Promise<T>;

/** An event of an SDK's own stream. */
export interface Event {
  type: string;
  call?: string;
  tool?: string;
  text?: string;
  failed?: boolean;
}

/** What the events tell of a call: its tool, and its arguments so far. */
export interface Known {
  tool: string;
  input: any;
}

/** What is stored of a call. */
export interface Stored {
  call: string;
  state: string;
  arguments?: string;
  result?: string;
}

/** Whoever makes messages of the SDK's own stream. What is out of order stays so. */
export interface Consumer {
  feed(event: Event, known: Known): any;
  end(): any;
  stored(): Stored[];
  /** What the SDK has reported, where it does not throw. */
  error?(): any;
}

/** What an adapter may add. */
export interface More {
  /** Where they differ from those of an SDK that streams, can be stopped, and stores its history. */
  capabilities?: Record<string, any>;
  /** Waits until what the SDK has taken in is consumed, where turns of the event loop do not tell. */
  settled?: () => Promise<void>;
  /** A given history in the form of the store. */
  give?: (history: any[], spec: Spec) => any;
  /** The history, where what the store holds is more than that. */
  stored?: (session: Session) => any;
  /**
   * Does what `_brickbat/action` asks for: `{ steer: "…" }`, `{ inject: "…" }`, `{ interrupt: "…" }` or `{ change: { … } }`.
   * It may return `{ changed: false }`, where the SDK says that there is nothing to change.
   */
  act?: (session: Session, action: any) => any;
  /** Lets go of a session that is over, such as of its connections. */
  closed?: (session: Session) => any;
  /**
   * Gives the open session a model of the provider that its `spec` names now, for an adapter that claims
   * `changes.provider`; without it, the session is closed and loaded anew.
   */
  provider?: (session: Session) => any;
  /** Opens a consumer of events, by name. */
  events?: Record<string, () => Consumer | Promise<Consumer>>;
}

/** Answers the harness until standard input ends. */
export function serve(
  about: { sdk: string; version: string; modes: string[] },
  dialects: string[],
  turn: Turn,
  more?: More,
): void;

/** Feeds a new consumer with events, and notes what it has stored after each of them and when the stream has ended. */
export function replay(
  consumers: More["events"],
  params: { consumer: string; events: Event[] },
): Promise<{ told: { stored: Stored[][]; refused?: { at: number; message: string } } }>;
