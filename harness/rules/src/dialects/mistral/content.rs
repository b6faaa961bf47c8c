//! Checks of single messages: ids, names, and the content of assistant messages.

use super::switches::{CallIds, MistralSwitches, OddNames};
use super::{FUNCTION_CALL, MistralMessage, MistralRole};
use crate::dialects::is_plain_name;
use crate::dialects::mistral::VALIDATOR;
use crate::json::Json;
use crate::{Occurrence, Rule, Violations};

#[derive(Debug)]
pub(super) struct ContentRules {
    call_ids: CallIds,
    odd_names: OddNames,
    /// The index of the last message, if it is a prefix that the reply must continue.
    prefix: Option<usize>,
}

impl ContentRules {
    pub(super) fn new(switches: &MistralSwitches) -> ContentRules {
        ContentRules { call_ids: switches.call_ids, odd_names: switches.odd_names, prefix: None }
    }

    pub(super) fn message(&mut self, said: MistralMessage<'_, '_>, out: &mut Violations) {
        if let Some(prefix) = self.prefix.take() {
            out.add(&PREFIX_NOT_LAST, || Occurrence::at(format!("/messages/{prefix}/prefix")));
        }
        match said.role {
            Some(MistralRole::Assistant) => {
                self.check_assistant(said, out);
                self.prefix = said.is_prefix().then_some(said.n);
            }
            Some(MistralRole::Tool) => self.check_result(said, out),
            _ => {}
        }
    }

    fn check_assistant(&self, said: MistralMessage<'_, '_>, out: &mut Violations) {
        let n = said.n;
        let is_nothing = |content: Json| {
            content.is_null() || content.is_empty_str() || (content.is_array() && content.is_empty())
        };
        let is_silent = said.content.is_none_or(is_nothing);
        let has_calls = said.calls().next().is_some();
        let violation = || Occurrence::at(format!("/messages/{n}"));
        if is_silent != has_calls {
            out.add(&CONTENT_AND_CALLS, violation);
        }
        if is_silent && !has_calls {
            out.add(&ASSISTANT_MESSAGE_EMPTY, violation);
        }
        for (k, call) in said.calls().enumerate() {
            let at = |field: &str| {
                Occurrence::at(format!("/messages/{n}/tool_calls/{k}{field}")).code(FUNCTION_CALL)
            };
            let id = call.called();
            if let Some(form) = self.complaint(&id) {
                let place = if call.id.is_some() { "/id" } else { "" };
                out.add(&CALL_ID_FORM, || at(place).form(form).with("id", &id));
            }
            let name = call.function.and_then(|function| function.get("name")?.as_str());
            if let Some(name) = name {
                check_name(self.odd_names, &name, || at("/function/name"), out);
            }
        }
    }

    fn check_result(&self, said: MistralMessage<'_, '_>, out: &mut Violations) {
        let n = said.n;
        if let Some(name) = said.name.and_then(Json::as_str) {
            check_name(self.odd_names, &name, || Occurrence::at(format!("/messages/{n}/name")), out);
        }
        let id = said.tool_call_id.and_then(Json::as_str);
        let complaint = match (&id, self.call_ids) {
            (None, CallIds::NineAlphanumerics) => Some(RESULT_WITHOUT_ID),
            (Some(id), CallIds::NineAlphanumerics) => (!is_nine_alphanumerics(id)).then_some(ILL_FORMED),
            (id, CallIds::AnyButNull) => self.complaint(id.as_deref().unwrap_or_default()),
        };
        let place = if said.tool_call_id.is_some() { "/tool_call_id" } else { "" };
        if let Some(form) = complaint {
            out.add(&CALL_ID_FORM, || {
                let violation = Occurrence::at(format!("/messages/{n}{place}")).form(form);
                violation.with("id", id.as_deref().unwrap_or_default())
            });
        }
    }

    /// Returns the index of the error message for a call id, if the id is invalid.
    fn complaint(&self, id: &str) -> Option<usize> {
        match self.call_ids {
            CallIds::NineAlphanumerics if id == "null" => Some(CALL_WITHOUT_ID),
            CallIds::NineAlphanumerics => (!is_nine_alphanumerics(id)).then_some(ILL_FORMED),
            CallIds::AnyButNull => (id.is_empty() || id == "null").then_some(NULL_OR_EMPTY),
        }
    }
}

// Indexes of the error messages of the rule about ids.
const ILL_FORMED: usize = 0;
const CALL_WITHOUT_ID: usize = 1;
const RESULT_WITHOUT_ID: usize = 2;
const NULL_OR_EMPTY: usize = 3;

pub(super) fn check_tools(switches: &MistralSwitches, body: Json, out: &mut Violations) {
    for (k, tool) in body.field("tools").items().enumerate() {
        if let Some(name) = tool.field("function").field("name").as_str() {
            let at = || Occurrence::at(format!("/tools/{k}/function/name"));
            check_name(switches.odd_names, &name, at, out);
        }
    }
}

fn check_name(odd_names: OddNames, name: &str, at: impl FnOnce() -> Occurrence, out: &mut Violations) {
    if is_function_name(name) {
        return;
    }
    let violation = || at().with("name", name);
    match odd_names {
        OddNames::Contested if !name.is_empty() => out.warn(&FUNCTION_NAME, violation),
        OddNames::Refused | OddNames::Contested => out.add(&FUNCTION_NAME, violation),
    }
}

const MAX_NAME_CHARS: usize = 64;

fn is_function_name(name: &str) -> bool {
    let name = without_line_end(name);
    is_plain_name(name) && name.len() <= MAX_NAME_CHARS
}

fn is_nine_alphanumerics(id: &str) -> bool {
    let id = without_line_end(id);
    id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Removes one line feed at the end, because the `$` in the validator's patterns also matches before it.
fn without_line_end(text: &str) -> &str {
    text.strip_suffix('\n').unwrap_or(text)
}

pub(crate) static CONTENT_AND_CALLS: Rule = Rule {
    summary: "A reply has either content or calls, not both and not neither.",
    why: "Models with the first three tokenizers do not accept a reply with both text and calls, or \
         with neither. Drop the text of a reply that makes calls.",
    sentences: &["Assistant message must have either content or tool_calls, but not both."],
    is_optional: true,
    sources: &[
        "https://github.com/langchain-ai/langchain/issues/21196",
        "https://github.com/mistralai/mistral-common/issues/186",
        VALIDATOR,
    ],
    ..Rule::measured("mistral/content-and-calls", "MIS-ASST-1", 6, "2024-05")
};

pub(crate) static ASSISTANT_MESSAGE_EMPTY: Rule = Rule {
    summary: "A reply has content or calls.",
    why: "A reply without text and without calls was stored, as happens when it is stopped before its first token. \
          Drop it, or say in it that it was stopped.",
    sentences: &["Assistant message must have either content or tool_calls, but not none."],
    sources: &[
        "https://github.com/OpenHands/OpenHands/issues/8685",
        "https://github.com/solbrowse/extension/issues/16",
    ],
    ..Rule::observed("mistral/assistant-message-empty", "MIS-ASST-2", 6, "2025-05")
};

pub(crate) static CALL_ID_FORM: Rule = Rule {
    summary: "The id of a call, in the call and in its result, has nine letters and digits.",
    why: "The id was made by another provider, by a gateway or by the client. Make ids of nine letters and digits, \
          the same in a call and in its result.",
    sentences: &[
        "Tool call id was {id} but must be a-z, A-Z, 0-9, with a length of 9.",
        "Tool call id has to be defined in serving mode.",
        "Tool call id has to be defined.",
        "Tool call id must be a non-empty string other than 'null' for tokenizer version 13 or newer.",
    ],
    sources: &[
        "https://github.com/zed-industries/zed/issues/53034",
        "https://github.com/langchain-ai/langchain/pull/24668",
        "https://github.com/anomalyco/opencode/issues/1680",
        "https://github.com/Gage-Technologies/mistral-go/issues/8",
        VALIDATOR,
    ],
    ..Rule::measured("mistral/call-id-form", "MIS-ID-1", 6, "2024-05")
};

pub(crate) static FUNCTION_NAME: Rule = Rule {
    summary: "The name of a function has at most 64 letters, digits, underscores and dashes.",
    why: "The model invented a name, or the name comes from a provider that allows more characters. Rename the \
          function.",
    sentences: &[
        "Function name was {name} but must be a-z, A-Z, 0-9, or contain underscores and dashes, with a maximum \
         length of 64.",
    ],
    sources: &[VALIDATOR],
    ..Rule::measured("mistral/function-name", "MIS-NAME-1", 6, "2024-04")
};

pub(crate) static PREFIX_NOT_LAST: Rule = Rule {
    summary: "Only the last message is a reply for the model to continue.",
    why: "The client wrote the beginning of a reply, and the stored reply still has its `prefix`. \
         Remove `prefix` from earlier messages.",
    sentences: &["Assistant message with prefix True must be last message"],
    sources: &[VALIDATOR],
    ..Rule::measured("mistral/prefix-not-last", "MIS-PRE-1", 6, "2024-07")
};
