import type { Dialect } from "brickbat-rules";

export { assertHistory, BrickbatError, type Dialect, type HistoryOptions } from "brickbat-rules";

/** A stop or a fault at a point of a reply. */
export interface Armed {
  /** The armed stop or fault as text. */
  readonly words: string;
  /** Waits until the point of a stop is reached. The reply then pauses there. */
  reached(options?: { /** In milliseconds. */ timeout?: number }): Promise<void>;
  /** Resumes a paused reply. Not needed if the client has disconnected. */
  release(): Promise<void>;
  /** The proof that it happened: `read` if the client had read everything sent before it. */
  receipt(): Promise<Receipt | null>;
  /** The outcome of the next request in that dialect: `accepted`, or the rule that it broke. */
  followedBy(): Promise<Followed | null>;
}

export type Receipt = "read" | "written";
export type Followed = "accepted" | { refused: string };
export type FaultInside = "eof" | "reset" | "end-early" | "error" | "stall";
export type FaultInPlace = "overloaded" | "rate-limit";
export type FaultKind = FaultInside | FaultInPlace;

/** A rejected request. */
export interface Refusal {
  /** The number of the request, from 0. */
  exchange: number;
  /** The rule that it broke. `brickbat explain RULE` describes it. */
  rule: string;
  /** The place in the body, as a JSON pointer. */
  pointer: string;
  /** The provider's error message. */
  message: string;
  /** The profile whose rules judged it, with its date. */
  profile: string;
  /** The HTTP status. */
  status: number;
  /** The history of the request in one line. */
  shape: string;
}

/** A request without its content. */
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

/** A stop or an injected fault. If the receipt is null, it did not happen. */
export interface Happened {
  words: string;
  exchange: number | null;
  receipt: Receipt | null;
  then: Followed | null;
}

/** The events so far. */
export interface Report {
  /** The number of requests for a reply. */
  requests: number;
  /** The number of rejected requests. */
  refused: number;
  /** The last thousand requests. */
  exchanges: Exchange[];
  /** The faults injected into replies. */
  faults: Happened[];
  /** The armed stops and faults, in order. */
  orders: Happened[];
  /** The counts of `/_brickbat/state`. */
  state: Record<string, unknown>;
}

/** The messages of a request. */
export interface SentHistory {
  /** The number of the request, from 0. */
  exchange: number;
  items: HistoryItem[];
}

/** One block of a message, in one form for all dialects. */
export interface HistoryItem {
  /** The place in the body, as a JSON pointer. */
  pointer: string;
  /** The index of the message. */
  message: number;
  role: "user" | "assistant" | "tool" | "other";
  content:
    | { kind: "text"; text: string }
    | { kind: "call"; id: string; name: string; /** A string if the arguments are not a JSON object. */ args: unknown }
    | { kind: "result"; id: string; text: string; /** Null if the dialect cannot mark an error. */ is_error: boolean | null }
    | { kind: "thought" | "raw"; value: unknown };
}

/** The behavior of the provider. `brickbat serve --help` describes each option. */
export interface ProviderOptions {
  /** Judge by the rules of a profile, such as `anthropic-messages@2026-05`. */
  profile?: string;
  /** Judge by the rules of a host, such as `api.x.ai`. */
  host?: string;
  /** Judge by the rules of a model. */
  model?: string;
  /** A scenario file with the replies. Without it, replies are improvised. */
  scenario?: string;
  /** The seed of improvised replies. */
  seed?: number;
  /** The number of times that the model calls tools after a prompt before it answers. */
  rounds?: number;
  /** The tokens that each reply reports for its request. */
  usage?: number;
  /** Inject faults into replies: the usual kinds, or only these. */
  faults?: boolean | FaultKind | FaultKind[];
  /** Inject a fault into every Nth reply. */
  every?: number;
  /** The number of seconds after which a stalled reply continues. */
  stall?: number;
  /** Do not fail the test if a request is rejected. */
  allowRefusals?: boolean;
  /** Do not fail the test if no request arrives. */
  allowUnused?: boolean;
}

/** A strict provider on a free local port. It ends with this process, even after a crash. */
export class StrictProvider {
  /** Starts a provider. */
  static start(options?: ProviderOptions): Promise<StrictProvider>;
  private constructor();
  allowRefusals: boolean;
  allowUnused: boolean;
  /** The URL that serves all dialects, without a trailing slash. */
  readonly url: string;
  /** The base URL of each dialect in the form that its vendor's SDK takes. */
  readonly baseUrls: Record<Dialect, string>;
  /** The environment variables that point programs at the provider, with made-up keys. */
  readonly variables: Record<string, string>;
  /** Environment variables that would make a program bypass the provider. */
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
   * Pauses a reply at a point, such as `after calls` or `after end a of reply 2`, so that you can stop the agent there.
   * Replies are counted from this call on.
   */
  stopAt(at: string): Promise<Armed>;
  /** Injects a fault at a point of a reply. */
  fault(kind: FaultInside, at: string): Promise<Armed>;
  /** Returns an error in place of a reply. */
  fault(kind: FaultInPlace, at?: string): Promise<Armed>;
  /** The events so far. */
  report(): Promise<Report>;
  /** The first thousand rejected requests. */
  refusals(): Promise<Refusal[]>;
  /** The histories of the last hundred requests, also of rejected ones, in one form for all dialects. */
  histories(): Promise<SentHistory[]>;
  /** The messages of the error that `check` throws. */
  problems(): Promise<string[]>;
  /** Throws if a request was rejected, no request arrived, or an armed point was never reached. */
  check(): Promise<void>;
  /** Runs `check`, then ends the provider even if it throws. */
  close(): Promise<void>;
  /** Ends the provider without running `check`. */
  stop(): Promise<void>;
}

/** The required part of a test context: `onTestFinished` in vitest, `after` in node:test. */
export type TestContext =
  | { onTestFinished(end: () => void | Promise<void>): unknown }
  | { after(end: () => void | Promise<void>): unknown };

/**
 * Starts a strict provider for a test. With the context of a node:test or vitest test, it is checked and closed at the end
 * of the test. Without one, call `close`.
 */
export function strictProvider(context?: TestContext, options?: ProviderOptions): Promise<StrictProvider>;
