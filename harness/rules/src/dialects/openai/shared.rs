//! Lists of rules that several profiles share.

use super::{content, media, pairing, schema};
use crate::Rule;

/// The rules about calls and answers. No server can make a call of an entry without a function, but what it does then was
/// seen only for some.
pub(super) static PAIRING: [&Rule; 6] = [
    &schema::TOOL_CALL_SHAPE,
    &pairing::TOOL_MESSAGE_ORPHAN,
    &pairing::TOOL_MESSAGE_UNKNOWN_ID,
    &pairing::TOOL_MESSAGE_MISSING,
    &pairing::TOOL_MESSAGE_DUPLICATE,
    &pairing::TOOL_CALL_ID_DUPLICATE,
];

/// The rules about the form of a single message, without that about images.
pub(super) static OTHER_SHAPES: [&Rule; 10] = [
    &schema::MESSAGES_EMPTY,
    &schema::UNKNOWN_ROLE,
    &schema::CONTENT_PART_TYPE,
    &schema::CONTENT_LIST_EMPTY,
    &schema::TOOL_CALLS_EMPTY,
    &schema::CALL_ID_TOO_LONG,
    &schema::FUNCTION_NAME_PATTERN,
    &schema::TOOL_CALL_ID_REQUIRED,
    &content::CONTENT_NULL,
    &media::INPUT_NOT_ENABLED,
];

/// The rules about the form of a single message.
pub(super) static SHAPES: [&Rule; 11] = [
    &schema::MESSAGES_EMPTY,
    &schema::UNKNOWN_ROLE,
    &schema::CONTENT_PART_TYPE,
    &schema::CONTENT_LIST_EMPTY,
    &schema::TOOL_CALLS_EMPTY,
    &schema::CALL_ID_TOO_LONG,
    &schema::FUNCTION_NAME_PATTERN,
    &schema::TOOL_CALL_ID_REQUIRED,
    &content::CONTENT_NULL,
    &media::IMAGE_OUTSIDE_USER,
    &media::INPUT_NOT_ENABLED,
];

/// The same and the rule about the form of a call, for providers with a rule of their own about its arguments.
pub(super) static SHAPES_WITH_CALLS: [&Rule; 12] = [
    &schema::MESSAGES_EMPTY,
    &schema::UNKNOWN_ROLE,
    &schema::CONTENT_PART_TYPE,
    &schema::CONTENT_LIST_EMPTY,
    &schema::TOOL_CALLS_EMPTY,
    &schema::TOOL_CALL_SHAPE,
    &schema::CALL_ID_TOO_LONG,
    &schema::FUNCTION_NAME_PATTERN,
    &schema::TOOL_CALL_ID_REQUIRED,
    &content::CONTENT_NULL,
    &media::IMAGE_OUTSIDE_USER,
    &media::INPUT_NOT_ENABLED,
];
