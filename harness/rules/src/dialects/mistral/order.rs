//! The beginning and the end of a conversation, and the role order.

use super::switches::{MistralSwitches, UserAfterTool};
use super::{MESSAGE_ORDER, MistralMessage, MistralRole};
use crate::dialects::mistral::VALIDATOR;
use crate::{Occurrence, Rule, Violations};

#[derive(Debug)]
pub(super) struct Order {
    user_after_tool: UserAfterTool,
    last: Option<Last>,
}

/// The last message. Its role is `None` if the schema check has reported it.
#[derive(Debug, Clone, Copy)]
struct Last {
    n: usize,
    role: Option<MistralRole>,
    is_prefix: bool,
}

impl Order {
    pub(super) fn new(switches: &MistralSwitches) -> Order {
        Order { user_after_tool: switches.user_after_tool, last: None }
    }

    pub(super) fn message(&mut self, said: MistralMessage<'_, '_>, out: &mut Violations) {
        let MistralMessage { n, role, .. } = said;
        let previous = self.last.and_then(|last| last.role);
        self.last = Some(Last { n, role, is_prefix: said.is_prefix() });
        let (Some(previous), Some(current)) = (previous, role) else { return };
        let violation = || {
            let violation = Occurrence::at(format!("/messages/{n}/role")).code(MESSAGE_ORDER);
            violation.with("cur", current.name()).with("prev", previous.name())
        };
        match (previous, current) {
            (MistralRole::System | MistralRole::User, MistralRole::Tool)
            | (MistralRole::Assistant | MistralRole::Tool, MistralRole::System) => {
                out.add(&ROLE_ORDER, violation);
            }
            (MistralRole::Tool, MistralRole::User) => match self.user_after_tool {
                UserAfterTool::Refused => out.add(&ROLE_ORDER, violation),
                UserAfterTool::Contested => out.warn(&ROLE_ORDER, violation),
                UserAfterTool::Taken => {}
            },
            _ => {}
        }
    }

    pub(super) fn finish(&self, n_messages: Option<usize>, out: &mut Violations) {
        match self.last {
            None if n_messages == Some(0) => {
                out.add(&CONVERSATION_START, || Occurrence::at("/messages").form(EMPTY).code(MESSAGE_ORDER));
            }
            Some(Last { n: 0, role: Some(MistralRole::Assistant | MistralRole::Tool), .. }) => {
                out.add(&CONVERSATION_START, || Occurrence::at("/messages/0/role").code(MESSAGE_ORDER));
            }
            Some(Last { n, role: Some(MistralRole::Assistant), is_prefix: false }) if n > 0 => {
                out.add(&LAST_MESSAGE_ASSISTANT, || {
                    let violation = Occurrence::at(format!("/messages/{n}/role")).code(MESSAGE_ORDER);
                    violation.with("role", MistralRole::Assistant.name())
                });
            }
            _ => {}
        }
    }
}

/// The second error message of the rule about the beginning.
const EMPTY: usize = 1;

pub(crate) static CONVERSATION_START: Rule = Rule {
    summary: "A conversation has a message, and not only a reply or a result.",
    why: "Trimming left no message, or only one that answers a removed message. Keep the user \
         message, or add one.",
    sentences: &[
        "Conversation must start with a user message or system message",
        "Conversation must have at least one message",
    ],
    sources: &[VALIDATOR],
    ..Rule::measured("mistral/conversation-start", "MIS-START-1", 2, "2024-04")
};

pub(crate) static LAST_MESSAGE_ASSISTANT: Rule = Rule {
    summary: "The last message is not a finished reply.",
    why: "The conversation ends with a reply, so there is nothing to answer. Add a user message, or \
         set `prefix` to let the model continue the reply.",
    sentences: &["Expected last role User or Tool (or Assistant with prefix) for serving but got {role}"],
    sources: &[
        "https://github.com/huggingface/smolagents/issues/757",
        "https://github.com/0xPlaygrounds/rig/pull/1130",
        "https://github.com/microsoft/autogen/issues/5044",
        VALIDATOR,
    ],
    ..Rule::measured("mistral/last-message-assistant", "MIS-LAST-1", 3, "2025-01")
};

pub(crate) static ROLE_ORDER: Rule = Rule {
    summary: "Results follow calls or results, and system messages do not follow a reply.",
    why: "A message is at a place where its role is not allowed: a result after the user's next \
         message, as when a turn is stopped and the result is stored late, or a system message \
         after a reply. Older endpoints and other servers also refuse a user message directly after \
         a result; an assistant message between the two helps there.",
    sentences: &["Unexpected role '{cur}' after role '{prev}'"],
    sources: &[
        "https://github.com/datapizza-labs/datapizza-ai/issues/98",
        "https://github.com/charmbracelet/crush/issues/279",
        "https://github.com/avante-corp/avante.nvim/issues/2562",
        "https://github.com/onyx-dot-app/onyx/issues/6458",
        VALIDATOR,
    ],
    ..Rule::measured("mistral/role-order", "MIS-ORD-1", 4, "2024-10")
};
