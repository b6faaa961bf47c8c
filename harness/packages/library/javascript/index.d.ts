export type Dialect =
  | "anthropic-messages"
  | "openai-chat"
  | "openai-responses"
  | "gemini"
  | "bedrock-converse"
  | "mistral";

/** The rules that judge a history. By default, they are the newest of the dialect. */
export interface HistoryOptions {
  /** Required if the history does not show it. */
  dialect?: Dialect | undefined;
  /** The host that answers, as a name or a URL, such as `api.x.ai`. */
  host?: string | undefined;
  /** The model, if the body names a different one or none. */
  model?: string | undefined;
  /** A profile, such as `anthropic-messages@2026-05`, or `union`. Cannot be combined with `host`. */
  profile?: string | undefined;
}

/** A broken rule at a place in the history. */
export interface Finding {
  /** The rule. `explain` describes it. */
  rule: string;
  /** The short name of the rule. */
  alias: string;
  /** `refused`, or `warning` if only older or stricter providers refuse the history. */
  level: "refused" | "denied" | "warning";
  /** The place as a JSON pointer. */
  pointer: string;
  /** The provider's error message. */
  message: string;
  /** The profiles that refuse the history because of this finding. */
  refused_by: string[];
  /** The profiles that accept it with a warning. */
  warned_by: string[];
  /** The place in the JSON text. Offset and length are in bytes. */
  place: { line: number; column: number; offset: number; length: number };
  /** What the rule requires. */
  summary: string;
  /** How a history comes to break the rule, and how to repair it. */
  mend: string;
}

/** What a provider would answer. The names are those of `brickbat check --format json`. */
export interface Verdict {
  /** True if the provider accepts the history. */
  accepted: boolean;
  dialect: Dialect;
  /** The profile that judged, with its date. */
  profile: string;
  /** Why this profile judged. */
  profile_by: string;
  host: string | null;
  model: string | null;
  /** If the model is not known: the rules that were not applied in full. */
  rules_by_model: string[];
  /** The HTTP status of the refusal. */
  status: number | null;
  /** The profiles that refuse the history. */
  refused_by: string[];
  /** The first hundred findings. */
  findings: Finding[];
  /** The number of further findings. */
  more_findings: number;
  /** The place of the request in the given text, if that is not a request itself: a JSON pointer, or words. */
  found: string | null;
  /** The findings for people, with an excerpt of the history. Empty if there are none. */
  text: string;
}

/**
 * Checks whether a provider would accept this history, by the rules of `brickbat check`: a list of messages, a request body, or
 * either as JSON text or bytes. Throws a `TypeError` if it cannot be judged, and a `RangeError` if it has more than 8 MiB.
 */
export function check(history: unknown, options?: HistoryOptions): Verdict;

/** An edit of a repair. */
export interface RepairEdit {
  /** The place as a JSON pointer. */
  pointer: string;
  /** What is changed. */
  words: string;
  /** True if it removes content. */
  loses: boolean;
}

/** The outcome of a repair. */
export type Repair =
  | { outcome: "healthy" }
  | {
      outcome: "repaired";
      /** The repaired history. */
      body: any;
      /** The same as JSON, with every other byte unchanged. */
      text: string;
      edits: RepairEdit[];
    }
  | {
      outcome: "beyond";
      /** Why no edit is known. */
      reason: string;
      /** True if `truncate` helps. */
      can_truncate: boolean;
    };

/** Finds the smallest edit after which the provider accepts a history, like `brickbat check --fix`. */
export function repair(
  history: unknown,
  options?: HistoryOptions & {
    /** If no other edit helps, end the conversation before the refused part. */
    truncate?: boolean | undefined;
  },
): Repair;

/** Explains a rule by its id, or the error of a provider or an SDK. Undefined if nothing is known about it. */
export function explain(text: string): string | undefined;

/** A stored session. The names are those of `brickbat session --format json`, which has more fields. */
export interface StoredSession {
  /** The product that wrote it. */
  product: string;
  /** The verdict on its next request, such as `accepted` or `bricked`. */
  verdict: string;
  profile: string;
  /** The refusals of the next request. */
  refusals: { rule: string | null; place: object | null; pointer: string }[];
  [name: string]: unknown;
}

/**
 * Reads a session as an agent stores it, and judges the next request in it. Databases, and the files of goose, opencode and
 * LangGraph in Redis, need the command line.
 */
export function session(
  file: string | Uint8Array,
  options?: {
    /** The name of the file. */
    name?: string | undefined;
    /** The model of the next request, for stores that do not show it. */
    model?: string | undefined;
    profile?: string | undefined;
  },
): {
  sessions: StoredSession[];
  /** The file and the error, if it could not be read. */
  unread: { file: string; error: string }[];
  /** The report for people. */
  text: string;
};

/** Throws with the provider's message if a provider would reject these messages as the start of the next request. */
export function assertHistory(messages: unknown, options?: HistoryOptions): void;

/** A generated conversation. */
export interface GeneratedHistory {
  dialect: Dialect;
  model: string;
  /** The label of the planted fault; null for a valid conversation. */
  fault: string | null;
  /** True if the fault has a repair that loses nothing. */
  can_repair: boolean | null;
  /** The messages, items or contents of the request. The last one is the user's. */
  messages: any[];
  /** The complete request, with the same list of messages. It is not enumerable. */
  readonly body: any;
}

export interface GeneratorOptions {
  /** Valid conversations (the default), or ones with one planted fault that has a repair or none. */
  kind?: "valid" | "repairable" | "unrepairable" | undefined;
}

/** Makes a conversation from bytes. Fewer and smaller bytes make a smaller one; no bytes make the smallest. */
export function historyOf(bytes: Uint8Array, dialect: Dialect, options?: GeneratorOptions): GeneratedHistory;

/** The required part of fast-check, and the arbitrary that it makes. */
export interface FastCheck<Arbitrary> {
  uint8Array(constraints: { maxLength: number; size: "max" }): {
    map(mapper: (bytes: Uint8Array) => GeneratedHistory): Arbitrary;
  };
}

/** An arbitrary of fast-check for conversations, which shrink: `histories(fc, "anthropic-messages")`. */
export function histories<Arbitrary>(
  fc: FastCheck<Arbitrary>,
  dialect: Dialect,
  options?: GeneratorOptions & { maxBytes?: number | undefined },
): Arbitrary;

/** Brickbat itself failed. This is not a verdict on the agent. */
export class BrickbatError extends Error {}
