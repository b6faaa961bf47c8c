/** A stop or a fault at a point of a reply. */
export interface Armed {
  /** What was armed, in words. */
  readonly words: string;
  /** Waits until the point of a stop is reached; the reply is then held there. */
  reached(options?: { /** In milliseconds. */ timeout?: number }): Promise<void>;
  /** Lets a reply go on that is held. One whose reader has gone needs none. */
  release(): Promise<void>;
  /** The proof that it happened: `read` if nothing that was sent before it was left to read for the client. */
  receipt(): Promise<Receipt | null>;
  /** What became of the next request in that dialect: `accepted`, or the rule by which it was refused. */
  followedBy(): Promise<Followed | null>;
}

export type Receipt = "read" | "written";
export type Followed = "accepted" | { refused: string };
export type Dialect =
  | "anthropic-messages"
  | "openai-chat"
  | "openai-responses"
  | "gemini"
  | "bedrock-converse"
  | "mistral";
export type FaultInside = "eof" | "reset" | "end-early" | "error" | "stall";
export type FaultInPlace = "overloaded" | "rate-limit";
export type FaultKind = FaultInside | FaultInPlace;

/** A request that was refused. */
export interface Refusal {
  /** The number of the request, from 0. */
  exchange: number;
  /** The rule that it broke; `brickbat explain RULE` says more. */
  rule: string;
  /** Where in the body, as a JSON pointer. */
  pointer: string;
  /** The provider's words. */
  message: string;
  /** Whose rules judged it, and of when. */
  profile: string;
  /** The HTTP status. */
  status: number;
  /** The history of the request in a line. */
  shape: string;
}

/** A request, without its words. */
export interface Exchange {
  exchange: number;
  dialect: Dialect;
  profile: string;
  model: string;
  shape: string;
  status: number;
  rule?: string;
  pointer?: string;
  fault?: string;
}

/** What went wrong on purpose, or was to. Without a receipt it did not happen. */
export interface Happened {
  words: string;
  exchange: number | null;
  receipt: Receipt | null;
  then: Followed | null;
}

/** What has happened so far. */
export interface Report {
  /** How many requests for a reply have come. */
  requests: number;
  /** How many of them were refused. */
  refused: number;
  /** The last thousand requests. */
  exchanges: Exchange[];
  /** What went wrong with replies on purpose. */
  faults: Happened[];
  /** What was armed, in order. */
  orders: Happened[];
  /** The counts, as `/_brickbat/state` has them. */
  state: Record<string, unknown>;
}

/** How the provider behaves; `brickbat serve --help` says more of each. */
export interface ProviderOptions {
  /** Whose rules judge: a profile, such as `anthropic-messages@2026-05`. */
  profile?: string;
  /** Whose rules judge: a host, such as `api.x.ai`. */
  host?: string;
  /** By the rules of which model. */
  model?: string;
  /** A file from which replies are taken. Without it they are improvised. */
  scenario?: string;
  /** What improvised replies are drawn from. */
  seed?: number;
  /** How often the model calls tools after a prompt before it answers. */
  rounds?: number;
  /** The tokens that each reply reports for its request. */
  usage?: number;
  /** Spoils replies: all usual kinds, or these. */
  faults?: boolean | FaultKind | FaultKind[];
  /** Each so-manieth reply is spoilt. */
  every?: number;
  /** After how many seconds a stalled reply goes on. */
  stall?: number;
  /** A refused request does not fail the test. */
  allowRefusals?: boolean;
  /** A test in which no request comes does not fail. */
  allowUnused?: boolean;
}

/** A strict provider on a free port of this machine. It ends with this process, however that ends. */
export class StrictProvider {
  /** Starts one. */
  static start(options?: ProviderOptions): Promise<StrictProvider>;
  private constructor();
  allowRefusals: boolean;
  allowUnused: boolean;
  /** The address below which all dialects are spoken, without a slash at its end. */
  readonly url: string;
  /** The base URL of each dialect, as the SDK of its vendor takes it. */
  readonly baseUrls: Record<Dialect, string>;
  /** The variables of the environment by which programs find their provider, with made-up keys. */
  readonly variables: Record<string, string>;
  /** Variables that would lead a program past the provider. */
  readonly without: string[];
  /** `baseURL` of the package `@anthropic-ai/sdk`. */
  readonly anthropic: string;
  /** `baseURL` of the package `openai`, for Chat Completions and Responses. */
  readonly openai: string;
  /** `baseUrl` in the HTTP options of the package `@google/genai`. */
  readonly gemini: string;
  /** `endpoint` of the client of `@aws-sdk/client-bedrock-runtime`, configured for HTTP/1.1. */
  readonly bedrock: string;
  /** `serverURL` of the package `@mistralai/mistralai`. */
  readonly mistral: string;
  /**
   * Holds a reply at a point, such as `after calls` or `after end a of reply 2`: stop the agent there. Replies are counted
   * from here on.
   */
  stopAt(at: string): Promise<Armed>;
  /** Spoils a reply at a point. */
  fault(kind: FaultInside, at: string): Promise<Armed>;
  /** Answers with an error in place of a reply. */
  fault(kind: FaultInPlace, at?: string): Promise<Armed>;
  /** What has happened so far. */
  report(): Promise<Report>;
  /** The requests that were refused, the first thousand of them. */
  refusals(): Promise<Refusal[]>;
  /** What `check` throws. */
  problems(): Promise<string[]>;
  /** Throws if a request was refused, none came, or an armed point was never reached. */
  check(): Promise<void>;
  /** Checks, and ends the provider in any case. */
  close(): Promise<void>;
  /** Ends the provider without a check. */
  stop(): Promise<void>;
}

/** What is needed of the context of a test: that of vitest has `onTestFinished`, that of node:test has `after`. */
export type TestContext =
  | { onTestFinished(end: () => void | Promise<void>): unknown }
  | { after(end: () => void | Promise<void>): unknown };

/**
 * Starts a strict provider for a test. With the context of a test of node:test or vitest, it is checked and closed when the
 * test is over; without one, call `close`.
 */
export function strictProvider(context?: TestContext, options?: ProviderOptions): Promise<StrictProvider>;

/** Whose rules judge a history. */
export interface HistoryOptions {
  /** Needed where the messages do not show it. */
  dialect?: Dialect;
  host?: string;
  model?: string;
  profile?: string;
}

/** Throws, in the provider's words, if a provider would refuse these messages as the start of the next request. */
export function assertHistory(messages: unknown, options?: HistoryOptions): void;

/** The provider does not do what it was asked: that is no verdict on the agent. */
export class BrickbatError extends Error {}
