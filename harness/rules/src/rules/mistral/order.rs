//! How a conversation begins and ends, and which role follows which.

use super::super::profile::{MistralSwitches, UserAfterTool};
use super::super::violation::{Breach, Breaches};
use super::table::*;
use super::{MESSAGE_ORDER, Role, Said};

/// What is known of the order so far.
#[derive(Debug)]
pub(super) struct Order {
    user_after_tool: UserAfterTool,
    last: Option<Last>,
}

/// The last message that came. Its role is nothing where the check of the shape has complained about it.
#[derive(Debug, Clone, Copy)]
struct Last {
    n: usize,
    role: Option<Role>,
    is_prefix: bool,
}

impl Order {
    pub(super) fn new(switches: &MistralSwitches) -> Order {
        Order { user_after_tool: switches.user_after_tool, last: None }
    }

    /// Takes the next message.
    pub(super) fn message(&mut self, said: Said<'_, '_>, out: &mut Breaches) {
        let Said { n, role, .. } = said;
        let previous = self.last.and_then(|last| last.role);
        self.last = Some(Last { n, role, is_prefix: said.is_prefix() });
        let (Some(previous), Some(current)) = (previous, role) else { return };
        let breach = || {
            let breach = Breach::at(format!("/messages/{n}/role")).code(MESSAGE_ORDER);
            breach.with("cur", current.name()).with("prev", previous.name())
        };
        match (previous, current) {
            (Role::System | Role::User, Role::Tool) | (Role::Assistant | Role::Tool, Role::System) => {
                out.add(&ROLE_ORDER, breach);
            }
            (Role::Tool, Role::User) => match self.user_after_tool {
                UserAfterTool::Refused => out.add(&ROLE_ORDER, breach),
                UserAfterTool::Contested => out.warn(&ROLE_ORDER, breach),
                UserAfterTool::Taken => {}
            },
            _ => {}
        }
    }

    /// No message comes any more.
    pub(super) fn finish(&self, n_messages: Option<usize>, out: &mut Breaches) {
        match self.last {
            None if n_messages == Some(0) => {
                out.add(&CONVERSATION_START, || Breach::at("/messages").form(EMPTY).code(MESSAGE_ORDER));
            }
            Some(Last { n: 0, role: Some(Role::Assistant | Role::Tool), .. }) => {
                out.add(&CONVERSATION_START, || Breach::at("/messages/0/role").code(MESSAGE_ORDER));
            }
            Some(Last { n, role: Some(Role::Assistant), is_prefix: false }) if n > 0 => {
                out.add(&LAST_MESSAGE_ASSISTANT, || {
                    let breach = Breach::at(format!("/messages/{n}/role")).code(MESSAGE_ORDER);
                    breach.with("role", Role::Assistant.name())
                });
            }
            _ => {}
        }
    }
}

/// The second sentence of the rule about the beginning.
const EMPTY: usize = 1;
