//! What only some providers of the dialect ask for: the optional rules.
//!
//! Several of them bind only for some models or while the model thinks. Both are told by fields that may stand after
//! the conversation, so what a message lacks is remembered, bounded, and judged at the end.

mod model;
mod reasoning;
mod table;

use hashbrown::HashMap;

use super::super::Profile;
use super::super::profile::{Alternation, Arguments, MessageFields, OpenaiChatSwitches};
use super::super::violation::{Breach, Breaches, MAX_VIOLATIONS};
use super::super::waiting::Waiting;
use super::{Role, Said};
use crate::json::{Document, Json};
use model::Certainty;
use reasoning::Reasoning;

pub(in crate::rules) use table::*;

/// The optional rules at work on one request.
pub(super) struct Relatives {
    switches: &'static OpenaiChatSwitches,
    reasoning: Reasoning,
    /// Who spoke in the message before, if it was the user or the assistant.
    speaker: Option<Speaker>,
    /// The messages that follow one of the same speaker.
    successive: Vec<usize>,
    /// The calls whose arguments this provider may not be able to read, by whether they are JSON, but no object.
    arguments: Waiting<bool, UnreadArguments>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Speaker {
    User,
    Assistant,
}

/// A call with arguments that are not a JSON object in a string.
struct UnreadArguments {
    pointer: String,
    id: String,
}

impl Relatives {
    /// The optional rules of a profile; nothing if it has none, so that the others lose no time.
    pub(super) fn of(profile: &Profile, switches: &'static OpenaiChatSwitches) -> Option<Relatives> {
        (!profile.added.is_empty()).then(|| Relatives {
            switches,
            reasoning: Reasoning::new(switches.reasoning),
            speaker: None,
            successive: Vec::new(),
            arguments: Waiting::new(),
        })
    }

    /// Takes the next message.
    pub(super) fn message(&mut self, said: Said<'_, '_>, out: &mut Breaches) {
        let speaker = match said.role {
            Some(Role::Assistant) => Some(Speaker::Assistant),
            Some(Role::User) => Some(Speaker::User),
            _ => None,
        };
        let n = said.n;
        check_fields(self.switches.message_fields, said, out);
        check_content(said, out);
        for (k, call) in said.calls().enumerate() {
            check_kind(n, k, call, out);
            self.note_arguments(n, k, call);
        }
        if speaker.is_some() && speaker == self.speaker && self.successive.len() < MAX_VIOLATIONS {
            self.successive.push(n);
        }
        self.speaker = speaker;
        self.reasoning.message(said, speaker);
    }

    /// Judges what was remembered by the fields of the body.
    pub(super) fn finish(&mut self, body: Json, out: &mut Breaches) {
        let model = body.field("model").as_str();
        let model = model.as_deref();
        let alternates = match self.switches.alternation {
            Alternation::Free => Certainty::No,
            Alternation::DeepseekReasoner => model::is_deepseek_reasoner(model),
            Alternation::Template => model::has_strict_template(model),
        };
        for n in self.successive.drain(..) {
            alternates.note(out, &SUCCESSIVE_ROLES, || {
                Breach::at(format!("/messages/{n}")).with("first", n - 1).with("n", n)
            });
        }
        let reads = match self.switches.arguments {
            Arguments::Any => Certainty::No,
            Arguments::Json => Certainty::Yes,
            Arguments::Object => model::reads_arguments_at_dashscope(model),
        };
        for (is_json, UnreadArguments { pointer, id }) in self.arguments.take() {
            // MiniMax's sentence speaks of the JSON text alone.
            let is_contested = is_json && self.switches.arguments == Arguments::Json;
            let certainty = if is_contested { reads.min(Certainty::Perhaps) } else { reads };
            certainty.note(out, &ARGUMENTS_NOT_JSON, || Breach::at(pointer).with("id", id));
        }
        self.reasoning.finish(model, body, out);
    }

    fn note_arguments(&mut self, n: usize, k: usize, call: Json) {
        if self.switches.arguments == Arguments::Any {
            return;
        }
        let Some(arguments) = call.field("function").get("arguments") else { return };
        let text = arguments.as_str();
        let read = text.as_deref().and_then(|text| Document::parse(text.as_bytes()).ok());
        if read.as_ref().is_some_and(|read| read.root().is_object()) {
            return;
        }
        self.arguments.push(read.is_some(), || UnreadArguments {
            pointer: format!("/messages/{n}/tool_calls/{k}/function/arguments"),
            id: call.field("id").as_str().unwrap_or_default().into_owned(),
        });
    }
}

/// The fields of a message that every provider of the dialect documents.
const KNOWN_FIELDS: [&str; 6] = ["role", "content", "name", "tool_calls", "tool_call_id", "function_call"];

/// Fields that the dialect's namesake documents for replies of the assistant. Nobody was seen to be refused for them.
const UNTRIED_FIELDS: [&str; 2] = ["refusal", "audio"];

fn check_fields(known: MessageFields, said: Said<'_, '_>, out: &mut Breaches) {
    if known == MessageFields::Any || said.role.is_none() {
        return;
    }
    let (n, message) = (said.n, said.json);
    let role = said.written_role.and_then(|role| role.as_str()).unwrap_or_default();
    // Of a name that is repeated only the last field counts.
    let names =
        || message.fields().enumerate().filter_map(|(index, (name, _))| Some((name.as_str()?, index)));
    let last: HashMap<_, _> = names().collect();
    for (field, index) in names() {
        if last.get(&field) != Some(&index) {
            continue;
        }
        let field = field.as_ref();
        if KNOWN_FIELDS.contains(&field) || UNTRIED_FIELDS.contains(&field) {
            continue;
        }
        let breach = || {
            let pointer = format!("/messages/{n}/{}", field.replace('~', "~0").replace('/', "~1"));
            Breach::at(pointer).with("n", n).with("role", &role).with("field", field)
        };
        match (known, field) {
            // Groq guesses a misspelt name. Which ones it guesses is known of these two:
            // https://github.com/chatboxai/chatbox/issues/2083.
            (MessageFields::Groq, "id") => out.add(&UNKNOWN_MESSAGE_FIELD, || breach().form(GUESSED)),
            // Refused in 2025 according to the captures; Groq's own client documents the field since:
            // https://github.com/groq/groq-python/pull/185.
            (MessageFields::Groq, "reasoning") => {
                out.warn(&UNKNOWN_MESSAGE_FIELD, || breach().form(GUESSED));
            }
            (MessageFields::Groq, _) => out.add(&UNKNOWN_MESSAGE_FIELD, breach),
            // Measured in https://github.com/proxysoul/Empryo/pull/209: the one is accepted, the other refused.
            (MessageFields::Cerebras, "reasoning") => {}
            (MessageFields::Cerebras, "reasoning_content") => out.add(&UNKNOWN_MESSAGE_FIELD, breach),
            // It is said there that any unknown property is refused, but no other one of a message was tried.
            (MessageFields::Cerebras, _) => out.warn(&UNKNOWN_MESSAGE_FIELD, breach),
            (MessageFields::Any, _) => {}
        }
    }
}

/// The sentence that guesses what was meant.
const GUESSED: usize = 1;

/// An empty list is refused everywhere (<https://github.com/AstrBotDevs/AstrBot/pull/6551>). Beside calls, one report
/// says that null is refused and an empty string is not (<https://github.com/langchain-ai/langchain/issues/34140>),
/// the other that null is accepted (the pull request above), so there both are only warnings. An empty tool message
/// was not tried.
fn check_content(said: Said<'_, '_>, out: &mut Breaches) {
    let is_empty_list = said.content.is_some_and(|content| content.is_array() && content.is_empty());
    let is_empty = said.lacks_content() || said.content.is_some_and(Json::is_empty_str) || is_empty_list;
    if said.role.is_none() || !is_empty {
        return;
    }
    let breach = || match said.content {
        Some(_) => Breach::at(format!("/messages/{}/content", said.n)),
        None => Breach::at(format!("/messages/{}", said.n)),
    };
    let is_contested = said.role == Some(Role::Tool) || said.calls().next().is_some();
    match is_contested && !is_empty_list {
        true => out.warn(&CONTENT_EMPTY, breach),
        false => out.add(&CONTENT_EMPTY, breach),
    }
}

fn check_kind(n: usize, k: usize, call: Json, out: &mut Breaches) {
    let at = |name: &str| Breach::at(format!("/messages/{n}/tool_calls/{k}{name}"));
    if !call.is_object() {
        return out.add(&TOOL_CALL_NOT_FUNCTION, || at("").form(NO_OBJECT));
    }
    if call.get("type").is_some_and(|kind| !kind.is("function")) {
        out.add(&TOOL_CALL_NOT_FUNCTION, || at("/type"));
    }
}

/// The sentence about a call that is no object.
const NO_OBJECT: usize = 1;
