//! The rules of Anthropic Messages, phase by phase. Above each stands the provider's sentence, with the address of its
//! first source.
//!
//! Most addresses lead to somebody who received that sentence. For some sentences no occurrence is public: there the
//! address is the page of the provider's documentation, or the SDK's file, that states the requirement.

mod ending;
mod fields;
mod pairing;
mod server_tools;
mod shape;

use super::super::Rule;

pub(in crate::rules) use ending::*;
pub(in crate::rules) use fields::*;
pub(in crate::rules) use pairing::*;
pub(in crate::rules) use server_tools::*;
pub(in crate::rules) use shape::*;

/// Every rule, in the order in which it is checked.
pub(in crate::rules) static RULES: &[&Rule] = &[
    &BODY_NOT_JSON,
    &REQUEST_SHAPE,
    &UNKNOWN_ROLE,
    &TOOL_USE_FIELD_REQUIRED,
    &TOOL_ID_PATTERN,
    &TOOL_NAME_PATTERN,
    &TOOL_INPUT_NOT_OBJECT,
    &TOOL_RESULT_ID_REQUIRED,
    &THINKING_FIELD_REQUIRED,
    &SERVER_TOOL_ID_PATTERN,
    &CACHE_CONTROL_ON_EMPTY_TEXT,
    &TOOL_NAMES_NOT_UNIQUE,
    &MESSAGES_EMPTY,
    &EXTRA_KEY,
    &TEXT_EMPTY,
    &TEXT_BLANK,
    &USER_MESSAGE_EMPTY,
    &ASSISTANT_MESSAGE_EMPTY,
    &FIRST_MESSAGE_NOT_USER,
    &SYSTEM_MESSAGE_FIRST,
    &SYSTEM_MESSAGE_NOT_AFTER_USER,
    &SYSTEM_MESSAGE_NOT_BEFORE_ASSISTANT,
    &SYSTEM_MESSAGE_CONTENT,
    &TOOL_USE_OUTSIDE_ASSISTANT,
    &TOOL_RESULT_OUTSIDE_USER,
    &TOOL_USE_ID_DUPLICATE,
    &TOOL_USE_ID_REUSED,
    &TOOL_RESULT_MISSING,
    &TEXT_AFTER_TOOL_USE,
    &TOOL_RESULT_NOT_FIRST,
    &TOOL_RESULT_DUPLICATE,
    &TOOL_RESULT_ORPHAN,
    &SERVER_TOOL_RESULT_MISSING,
    &SERVER_TOOL_RESULT_ORPHAN,
    &SERVER_TOOL_NOT_OFFERED,
    &SIGNATURE_INVALID,
    &THINKING_MODIFIED,
    &THINKING_BOUND_ELSEWHERE,
    &THINKING_LAST,
    &THINKING_MISSING,
    &THINKING_NOT_FIRST,
    &THINKING_WHEN_DISABLED,
    &THINKING_WITH_FORCED_TOOL,
    &FINAL_TEXT_TRAILING_SPACE,
    &PREFILL_NOT_SUPPORTED,
    &CACHE_CONTROL_TOO_MANY,
    &CACHE_CONTROL_ORDER,
];
