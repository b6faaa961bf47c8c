// The store of Twenty's chat: a row for each part of a message. Our own code, based on a description of the original. The
// column names are those of its tables.

/** The columns of one part. Missing fields become NULL. Fields without a column, such as a call's raw input, are lost. */
const rowOf = (part, orderIndex) => ({
  orderIndex,
  type: part.type,
  textContent: part.type === 'text' ? part.text : null,
  reasoningContent: part.type === 'reasoning' ? part.text : null,
  toolName: part.toolCallId === undefined ? null : (part.toolName ?? part.type.slice('tool-'.length)),
  toolCallId: part.toolCallId ?? null,
  toolInput: part.input ?? null,
  toolOutput: part.output ?? null,
  state: part.toolCallId === undefined ? null : part.state,
  errorMessage: part.errorText ?? null,
  providerMetadata: part.providerMetadata ?? part.callProviderMetadata ?? null,
});

/** Reads a row as a part. NULL becomes a missing field, or an empty input of a call. */
function partOf(row) {
  const { type, toolCallId, state } = row;
  const metadata = row.providerMetadata ?? undefined;
  if (type === 'text') return { type, text: row.textContent, providerMetadata: metadata };
  if (type === 'reasoning') return { type, text: row.reasoningContent, providerMetadata: metadata };
  if (toolCallId === null) return { type };
  const call = { type, toolCallId, state, input: row.toolInput ?? {}, callProviderMetadata: metadata };
  if (type === 'dynamic-tool') call.toolName = row.toolName;
  if (state === 'output-available') call.output = row.toolOutput;
  if (state === 'output-error') call.errorText = row.errorMessage ?? '';
  return call;
}

const isCall = ({ toolCallId }) => toolCallId !== undefined;
const isFirst = ({ toolCallId }, idx, parts) => idx === parts.findIndex((part) => part.toolCallId === toolCallId);

/** twentyhq/twenty#21276: a call that waits for its result never gets one, so it is marked as failed. */
const finalised = (parts) => parts.map((part) => isCall(part) && part.state === 'input-available'
  ? { ...part, state: 'output-error', errorText: 'Tool execution was interrupted.' }
  : part);
/** Later versions: a call that was still streaming is dropped. */
const withoutHalves = (parts) => parts.filter((part) => !isCall(part) || part.state !== 'input-streaming');
/** twentyhq/twenty#21752: a call rejected because of its input has no input, but a request needs one. */
const withInput = (parts) => parts.map((part) =>
  isCall(part) && part.state === 'output-error' ? { ...part, input: part.input ?? {} } : part);
/** twentyhq/twenty#23277: a call can occur both as a typed part and as a dynamic one. The first one is kept. */
const withoutTwins = (parts) => parts.filter((part, idx) => !isCall(part) || isFirst(part, idx, parts));

/** Until twentyhq/twenty#21740, a call of an unbound tool had no row, so the complete message was not written. */
function bound(parts) {
  const odd = parts.find(({ type }) => type === 'dynamic-tool');
  if (odd) throw new Error(`Unsupported part type: ${odd.type}`);
  return parts;
}

/** The chokepoint through which every message is written, in its four versions. */
export const CHOKEPOINTS = {
  v0: bound,
  v1: (parts) => finalised(bound(parts)),
  v2: (parts) => finalised(withoutHalves(parts)),
  v3: (parts) => withInput(finalised(withoutTwins(withoutHalves(parts)))),
};

export const rowsOf = ({ id, role, parts }) => ({ id, role, parts: parts.map(rowOf) });
export const messageOf = ({ id, role, parts }) => ({ id, role, parts: parts.map(partOf) });
