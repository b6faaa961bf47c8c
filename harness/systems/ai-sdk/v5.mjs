// The calls of the AI SDK 5. They are those of version 6, except that a tool cannot ask the user.
export { options, responseMessages, uiMessages } from './v6.mjs';

export const CAPABILITIES = {};

// The documentation of this version does not say what to do after a stop.
export const AFTER_STOP = {};
