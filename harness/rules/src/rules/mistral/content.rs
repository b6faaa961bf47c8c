//! Each message for itself: ids, names, and what an assistant message says.

use super::super::is_plain_name;
use super::super::profile::{CallIds, MistralSwitches};
use super::super::violation::{Breach, Breaches};
use super::table::*;
use super::{FUNCTION_CALL, Role, Said};
use crate::json::Json;

/// What is remembered from message to message.
#[derive(Debug)]
pub(super) struct Content {
    call_ids: CallIds,
    /// The last message, if a reply was to go on in it.
    prefix: Option<usize>,
}

impl Content {
    pub(super) fn new(switches: &MistralSwitches) -> Content {
        Content { call_ids: switches.call_ids, prefix: None }
    }

    /// Takes the next message.
    pub(super) fn message(&mut self, said: Said<'_, '_>, out: &mut Breaches) {
        if let Some(prefix) = self.prefix.take() {
            out.add(&PREFIX_NOT_LAST, || Breach::at(format!("/messages/{prefix}/prefix")));
        }
        match said.role {
            Some(Role::Assistant) => {
                self.check_assistant(said, out);
                self.prefix = said.is_prefix().then_some(said.n);
            }
            Some(Role::Tool) => self.check_result(said, out),
            _ => {}
        }
    }

    fn check_assistant(&self, said: Said<'_, '_>, out: &mut Breaches) {
        let n = said.n;
        let is_nothing = |content: Json| {
            content.is_null() || content.is_empty_str() || (content.is_array() && content.is_empty())
        };
        let is_silent = said.content.is_none_or(is_nothing);
        let has_calls = said.calls().next().is_some();
        let breach = || Breach::at(format!("/messages/{n}"));
        if is_silent != has_calls {
            out.add(&CONTENT_AND_CALLS, breach);
        }
        if is_silent && !has_calls {
            out.add(&ASSISTANT_MESSAGE_EMPTY, breach);
        }
        for (k, call) in said.calls().enumerate() {
            let at =
                |field: &str| Breach::at(format!("/messages/{n}/tool_calls/{k}{field}")).code(FUNCTION_CALL);
            let id = call.called();
            if let Some(form) = self.complaint(&id) {
                let place = if call.id.is_some() { "/id" } else { "" };
                out.add(&CALL_ID_FORM, || at(place).form(form).with("id", &id));
            }
            let name = call.function.and_then(|function| function.get("name")?.as_str());
            if let Some(name) = name.filter(|name| !is_function_name(name)) {
                out.add(&FUNCTION_NAME, || at("/function/name").with("name", name));
            }
        }
    }

    fn check_result(&self, said: Said<'_, '_>, out: &mut Breaches) {
        let n = said.n;
        if let Some(name) = said.name.and_then(Json::as_str).filter(|name| !is_function_name(name)) {
            out.add(&FUNCTION_NAME, || Breach::at(format!("/messages/{n}/name")).with("name", name));
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
                let breach = Breach::at(format!("/messages/{n}{place}")).form(form);
                breach.with("id", id.as_deref().unwrap_or_default())
            });
        }
    }

    /// The sentence with which the id of a call is refused.
    fn complaint(&self, id: &str) -> Option<usize> {
        match self.call_ids {
            CallIds::NineAlphanumerics if id == "null" => Some(CALL_WITHOUT_ID),
            CallIds::NineAlphanumerics => (!is_nine_alphanumerics(id)).then_some(ILL_FORMED),
            CallIds::AnyButNull => (id.is_empty() || id == "null").then_some(NULL_OR_EMPTY),
        }
    }
}

// The sentences of the rule about ids.
const ILL_FORMED: usize = 0;
const CALL_WITHOUT_ID: usize = 1;
const RESULT_WITHOUT_ID: usize = 2;
const NULL_OR_EMPTY: usize = 3;

/// Checks the names of the declared tools.
pub(super) fn check_tools(body: Json, out: &mut Breaches) {
    for (k, tool) in body.field("tools").items().enumerate() {
        let name = tool.field("function").field("name");
        if let Some(name) = name.as_str().filter(|name| !is_function_name(name)) {
            out.add(&FUNCTION_NAME, || Breach::at(format!("/tools/{k}/function/name")).with("name", name));
        }
    }
}

/// The longest name of a function.
const MAX_NAME_CHARS: usize = 64;

fn is_function_name(name: &str) -> bool {
    let name = without_line_end(name);
    is_plain_name(name) && name.len() <= MAX_NAME_CHARS
}

fn is_nine_alphanumerics(id: &str) -> bool {
    let id = without_line_end(id);
    id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// The `$` of the validator's patterns also matches before a line feed at the end.
fn without_line_end(text: &str) -> &str {
    text.strip_suffix('\n').unwrap_or(text)
}
