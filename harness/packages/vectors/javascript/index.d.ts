/** One input with the expected result. */
export interface Vector<Input> {
  /** The dialect; for a session, the product. */
  group: string;
  /** The id of the rule that the file is about. */
  rule: string | null;
  name: string;
  result: "valid" | "acceptable" | "invalid";
  /** The request as JSON, or as text if it is not JSON; the bytes of a stream; the files of a session by name. */
  input: Input;
  /** The complete entry, as in the file. */
  entry: Record<string, any>;
}

/** The folder with the files. */
export const DATA: URL;
/** Yields each request body. */
export function histories(): Generator<Vector<any>>;
/** Yields each recorded reply. */
export function streams(): Generator<Vector<Buffer>>;
/** Yields each stored session. The store is the first file. */
export function sessions(): Generator<Vector<Record<string, Buffer>>>;
/** The JSON Schema of the files of one kind. */
export function schema(kind: "histories" | "streams" | "sessions"): Record<string, any>;
