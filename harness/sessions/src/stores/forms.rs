//! Stores that are a list of messages, described as data.
//!
//! Each file of the folder `forms` describes the store of one product: how to recognise it, where its messages
//! are, and which fields of a message are text, calls and results. Other fields are passed over. The description does
//! not include the product's code, so most of these stores are judged as they are stored.

#[cfg(feature = "sqlite")]
mod adk_rows;
mod agent_framework;
mod agent_framework_dotnet;
mod agentscope;
mod agno;
#[cfg(feature = "sqlite")]
mod agno_rows;
mod aider_desk;
mod amp;
mod assembled;
mod autogen;
mod codewhale;
mod continue_dev;
#[cfg(feature = "sqlite")]
mod crush;
#[cfg(feature = "sqlite")]
mod cursor;
mod deepcode;
mod deepseek_harness;
#[cfg(feature = "sqlite")]
mod docker_agent;
mod droid;
mod durable_agent;
pub(crate) mod found;
mod genkit;
mod google_adk;
mod grok_cli;
mod haystack;
mod hermes;
#[cfg(feature = "sqlite")]
mod hermes_rows;
mod ids;
mod jan;
mod jcode;
mod kimi;
mod kimi_code;
mod kiro;
mod kiro_lines;
mod langchain;
mod langchain4j;
#[cfg(feature = "sqlite")]
mod langchain_rows;
mod langgraph_state;
#[cfg(feature = "sqlite")]
mod laravel_ai;
mod letta;
mod librechat;
mod livekit;
mod llamaindex;
#[cfg(feature = "sqlite")]
mod llamaindex_rows;
#[cfg(feature = "sqlite")]
mod llm;
mod lm_studio;
mod marks;
#[cfg(feature = "sqlite")]
mod mastra;
mod message_lines;
mod mistral_vibe;
mod n8n;
mod nanobot;
mod open_webui;
mod open_webui_output;
mod openhands;
mod openhands_events;
mod output;
mod picoclaw;
mod provider;
mod read;
mod roo_code;
#[cfg(feature = "sqlite")]
mod rows;
#[cfg(feature = "sqlite")]
mod ruby_llm;
mod semantic_kernel;
mod semantic_kernel_dotnet;
mod sends;
mod sharegpt;
mod sillytavern;
#[cfg(feature = "sqlite")]
mod spring_ai;
mod strands;
#[cfg(feature = "sqlite")]
mod superagent_grok;
mod swe_agent;
#[cfg(feature = "sqlite")]
#[cfg(test)]
pub(crate) mod tests;
mod tree;
#[cfg(feature = "sqlite")]
mod ui_rows;
mod vscode_chat;
mod vscode_log;
mod write;
#[cfg(feature = "sqlite")]
mod zed;

use brickbat_rules::histories::{Call, Role};
use brickbat_rules::json::Json;
use brickbat_rules::{Dialect, Rule};
use serde_json::{Value, json};

use assembled::Assembly;
use ids::{has_stored_id, with_ids};
use sends::{Sends, apply};

use super::{Edit, Look, ReadError, Store, WriteError};
use crate::{Files, Place, Product, Sent, Session};

pub(crate) use agent_framework::FORM as AGENT_FRAMEWORK;
pub(crate) use agentscope::FORM as AGENTSCOPE;
pub(crate) use agno::FORM as AGNO;
pub(crate) use aider_desk::FORM as AIDER_DESK;
pub(crate) use amp::FORM as AMP;
pub(crate) use autogen::FORM as AUTOGEN;
pub(crate) use codewhale::FORM as CODEWHALE;
pub(crate) use continue_dev::FORM as CONTINUE;
#[cfg(feature = "sqlite")]
pub(crate) use crush::FORM as CRUSH;
#[cfg(feature = "sqlite")]
pub(crate) use cursor::FORM as CURSOR;
pub(crate) use deepcode::FORM as DEEPCODE;
pub(crate) use deepseek_harness::FORM as DEEPSEEK_HARNESS;
#[cfg(feature = "sqlite")]
pub(crate) use docker_agent::FORM as DOCKER_AGENT;
pub(crate) use droid::FORM as DROID;
pub(crate) use durable_agent::FORM as DURABLE_AGENT;
pub(crate) use genkit::FORM as GENKIT;
pub(crate) use google_adk::FORM as GOOGLE_ADK;
pub(crate) use grok_cli::FORM as GROK_CLI;
pub(crate) use haystack::FORM as HAYSTACK;
pub(crate) use hermes::FORM as HERMES;
pub(crate) use jan::FORM as JAN;
pub(crate) use jcode::FORM as JCODE;
pub(crate) use kimi::FORM as KIMI;
pub(crate) use kimi_code::FORM as KIMI_CODE;
pub(crate) use kiro::FORM as KIRO;
pub(crate) use langchain::FORM as LANGCHAIN;
pub(crate) use langchain4j::FORM as LANGCHAIN4J;
pub(crate) use langgraph_state::FORM as LANGGRAPH_STATE;
#[cfg(feature = "sqlite")]
pub(crate) use laravel_ai::FORM as LARAVEL_AI;
pub(crate) use letta::FORM as LETTA;
pub(crate) use librechat::FORM as LIBRECHAT;
pub(crate) use livekit::FORM as LIVEKIT;
pub(crate) use llamaindex::FORM as LLAMAINDEX;
#[cfg(feature = "sqlite")]
pub(crate) use llm::FORM as LLM;
pub(crate) use lm_studio::FORM as LM_STUDIO;
#[cfg(feature = "sqlite")]
pub(crate) use mastra::FORM as MASTRA;
pub(crate) use message_lines::FORM as MESSAGE_LINES;
pub(crate) use mistral_vibe::FORM as MISTRAL_VIBE;
pub(crate) use n8n::FORM as N8N;
pub(crate) use nanobot::FORM as NANOBOT;
pub(crate) use open_webui::FORM as OPEN_WEBUI;
pub(crate) use openhands::FORM as OPENHANDS;
pub(crate) use picoclaw::Picoclaw;
pub(crate) use roo_code::FORM as ROO_CODE;
#[cfg(feature = "sqlite")]
pub(crate) use ruby_llm::FORM as RUBY_LLM;
pub(crate) use semantic_kernel::FORM as SEMANTIC_KERNEL;
pub(crate) use sharegpt::FORM as SHAREGPT;
pub(crate) use sillytavern::FORM as SILLYTAVERN;
#[cfg(feature = "sqlite")]
pub(crate) use spring_ai::FORM as SPRING_AI;
pub(crate) use strands::FORM as STRANDS;
#[cfg(feature = "sqlite")]
pub(crate) use superagent_grok::FORM as SUPERAGENT_GROK;
pub(crate) use swe_agent::FORM as SWE_AGENT;
#[cfg(feature = "sqlite")]
pub(crate) use ui_rows::{CLOUDFLARE_AGENTS, VOLTAGENT};
pub(crate) use vscode_chat::FORM as VSCODE_CHAT;
#[cfg(feature = "sqlite")]
pub(crate) use zed::FORM as ZED;

/// The description of a store.
pub(crate) struct Form {
    product: Product,
    /// See [`Session::generation`].
    generation: &'static str,
    /// Where the records are.
    file: Framing,
    /// A store of the product that is not one JSON text. It is read only.
    other: Option<Assembly>,
    /// All of these hold for a file of this store, and not for a file of another one.
    marks: &'static [Mark],
    /// Values of a field that show that a record is not a message.
    skips: Option<(&'static str, &'static [&'static str])>,
    /// How a record becomes messages.
    shape: Shape,
    /// The dialect, if the product speaks only one.
    dialect: Option<Dialect>,
    /// Pointers to the model, in the file or in a record; the last one found counts.
    model: &'static [&'static str],
    /// The pointer to the ids of the records that are sent, from the session, and to the id of a record.
    among: Option<(&'static str, &'static str)>,
    /// How the records of a tree name each other.
    tree: Option<Tree>,
    /// The pointer, in the file or its first line, to the number of messages at the beginning that are not sent.
    sent_from: Option<&'static str>,
    /// The product's changes to calls without a result when it sends.
    sends: Sends,
    /// The record of a result. `None` if Brickbat does not write this store.
    answer: Option<fn(&Call, &str) -> Value>,
    /// Completes what the fields alone do not show.
    finish: Option<fn(&mut Session)>,
}

/// A list that is judged as it is stored, and not written. Each description changes some of it.
const BASE: Form = Form {
    product: Product::Request,
    generation: "JSON list",
    file: Framing::None,
    other: None,
    marks: &[],
    skips: None,
    shape: Shape::Speakers(&[]),
    dialect: None,
    model: &[],
    among: None,
    tree: None,
    sent_from: None,
    sends: Sends::AsStored,
    answer: None,
    finish: None,
};

/// The places of the records in a file.
enum Framing {
    /// The items of the list at the first pointer that leads to one.
    List(&'static [&'static str]),
    /// The lines.
    Lines,
    /// A session in each item, or field, of the value at the first pointer that leads to one, or in each line. Its
    /// records are in the list at the first of the second pointers that leads to one.
    Each(&'static [&'static str], &'static [&'static str]),
    /// Lists in the items of a list, which form one session.
    Nested(&'static str, &'static str),
    /// Nowhere: code collects the records.
    None,
}

/// A condition on a file.
enum Mark {
    /// The name of the file ends with one of these.
    Name(&'static [&'static str]),
    /// The file, or its first line, has values at all these pointers.
    Root(&'static [&'static str]),
    /// The file, or its first line, has this text at the pointer.
    RootIs(&'static str, &'static [&'static str]),
    /// Each record at the beginning has a value at all these pointers.
    Every(&'static [&'static str]),
    /// Each record at the beginning has one of these texts at the pointer.
    EveryIs(&'static str, &'static [&'static str]),
    /// One of the records at the beginning has a value at one of these pointers.
    Some(&'static [&'static str]),
    /// One of the records at the beginning has one of these texts at the pointer.
    SomeIs(&'static str, &'static [&'static str]),
}

impl Mark {
    /// The pointers of the mark, as they are shown, and their number.
    fn fields(&self) -> Vec<String> {
        let shown = |at: &&str| format!("`{}`", at.trim_start_matches('/'));
        match self {
            Mark::Name(ends) => vec![format!("the name `{}`", ends.join("` or `"))],
            Mark::Root(at) | Mark::Every(at) => at.iter().map(shown).collect(),
            Mark::Some(at) => at.iter().take(1).map(shown).collect(),
            Mark::RootIs(at, texts) | Mark::EveryIs(at, texts) | Mark::SomeIs(at, texts) => {
                let text = texts.first().copied().unwrap_or_default();
                vec![format!("`{}` such as `{text}`", at.trim_start_matches('/'))]
            }
        }
    }
}

/// The form of the messages.
enum Shape {
    /// The value at a pointer is a message in the format of a provider.
    Native(&'static str, Dialect),
    /// Speakers, in order.
    Speakers(&'static [Speaker]),
}

/// A part of a record that somebody said.
#[derive(Clone, Copy)]
struct Speaker {
    /// The pointer to it; each item of a list if it ends with `/*`.
    at: &'static str,
    role: Saying,
    pieces: &'static [Piece],
}

/// The speaker of a message.
#[derive(Clone, Copy)]
enum Saying {
    /// Always the same.
    Is(Role),
    /// The first role if the boolean at the pointer is true, otherwise the second.
    Flag(&'static str, Role, Role),
    /// The role, if the text at the first pointer is this, and there is a value at the second pointer.
    When(&'static str, &'static str, &'static str, Role),
    /// Named by the text at a pointer.
    Named(&'static str, &'static [(&'static str, Role)]),
    /// Named by the number at a pointer.
    #[cfg(feature = "sqlite")]
    Numbered(&'static str, &'static [(&'static str, Role)]),
}

/// The role with the names of the Chat Completions API.
const BY_ROLE: Saying = Saying::Named(
    "/role",
    &[("system", Role::System), ("user", Role::User), ("assistant", Role::Assistant), ("tool", Role::Tool)],
);

/// The pointers to the parts of a call.
struct CallAt {
    id: &'static str,
    name: &'static str,
    arguments: &'static str,
}

/// The pointers to the parts of a result.
struct ResultAt {
    call: &'static str,
    name: &'static str,
    output: &'static str,
    /// A pointer, and the text or boolean there that marks an error.
    failed: Option<(&'static str, &'static str)>,
}

/// A part of what was said.
enum Piece {
    /// A text, or the texts of a list.
    Text(&'static str),
    /// A text that is sent even if it is empty.
    Whole(&'static str),
    /// Thinking, with the pointer to its signature.
    Thinking(&'static str, &'static str),
    /// An image in base64, with the pointer to its media type. Other media are passed over.
    Image(&'static str, &'static str),
    /// Content that is not sent, or not modelled.
    Skip,
    /// A call, if its id or name is there.
    Call(CallAt),
    /// A call with its result, if the output is there.
    Both(CallAt, ResultAt),
    /// A call without an id as JSON text: `{name, arguments}`, or a list of these.
    CallInText(&'static str),
    /// The calls of a list.
    Calls(&'static str, CallAt),
    /// A result, if the id of its call is there.
    Result(ResultAt),
    /// A result without an id.
    ResultInText(&'static str),
    /// The results of a list.
    Results(&'static str, ResultAt),
    /// The results of the calls of a list, by id in an object of the record: the list, the id, the object, and
    /// the output.
    ResultsOf(&'static str, &'static str, &'static str, &'static str),
    /// Parts in a list. The kind of a part is the text at the pointer, or the name of a field that it has.
    Parts(&'static str, &'static str, &'static [(&'static str, Piece)]),
}

/// How the records of a tree name each other.
struct Tree {
    id: &'static str,
    parent: &'static str,
    /// The pointers to the last record of the active branch, from the session; the first that leads to one counts.
    /// Without it, the last record of the list is the end.
    current: &'static [&'static str],
}

/// The first pointer that leads to something in the value, or else the first.
fn list_in(value: Json<'_, '_>, pointers: &[&'static str]) -> &'static str {
    let leads = |at: &&&'static str| !value.pointer(at).span().is_empty();
    pointers.iter().find(leads).or(pointers.first()).copied().unwrap_or_default()
}

impl Form {
    /// The product of this store.
    #[cfg(all(test, feature = "sqlite"))]
    pub(crate) fn product(&self) -> Product {
        self.product
    }

    /// Returns whether a record is not a message.
    fn is_skipped(&self, record: Json<'_, '_>) -> bool {
        self.skips.is_some_and(|(at, values)| {
            let found = record.pointer(at);
            let flag = found.as_bool().map(|is| is.to_string());
            values.iter().any(|value| found.is(value) || flag.as_deref() == Some(*value))
        })
    }
}

impl Store for Form {
    fn owns(&self, look: &Look<'_>) -> bool {
        marks::owns(self, look)
    }

    fn read(&self, files: &Files) -> Result<Vec<Session>, ReadError> {
        read::read(self, files)
    }

    fn is_written(&self, session: &Session) -> bool {
        let is_text = self.other.is_none() || session.generation == self.generation;
        self.answer.is_some() && is_text && session.generation != found::GENERATION
    }

    fn nearness(&self, look: &Look<'_>) -> Option<(usize, usize, Vec<String>)> {
        Some(marks::nearness(self, look))
    }

    fn send(&self, session: &Session) -> Sent {
        let mut sent = Sent::as_stored(session);
        apply(&self.sends, session, &mut sent);
        let stop = session.troubles.iter().find(|trouble| STOPS.contains(&trouble.words.as_str()));
        sent.gives_up = stop.map(|trouble| (trouble.words.clone(), trouble.place.clone()));
        sent
    }

    fn fills_open_tail(&self, session: &Session) -> Option<&'static str> {
        match (&self.sends, session.generation) {
            #[cfg(feature = "sqlite")]
            (_, laravel_ai::WAITING) => Some("the product continues when the user has answered it"),
            (Sends::AsStored, _) => None,
            (Sends::Fills(_) | Sends::Restores(_) | Sends::Pairs(_) | Sends::In(..), _) => {
                Some("the product answers it when it sends")
            }
            (Sends::LeavesOut | Sends::LeavesOutBlanksAndHalves, _) => {
                Some("the product leaves it out when it sends")
            }
            #[cfg(feature = "sqlite")]
            (Sends::LeavesOutCalls, _) => Some("the product leaves it out when it sends"),
            #[cfg(feature = "sqlite")]
            (Sends::LeavesOutIn(own), generation) => {
                (generation == *own).then_some("the product leaves it out when it sends")
            }
        }
    }

    fn may_obey(&self, rule: &Rule) -> bool {
        provider::may_obey(self.product, rule)
    }

    fn referrer(&self, place: &Place) -> Option<String> {
        let (list, _) = self.among?;
        let Framing::Each(_, lists) = self.file else { return None };
        let owner = lists.iter().find_map(|list| place.pointer.rsplit_once(&format!("{list}/")))?.0;
        Some(format!("{owner}{list}"))
    }

    fn write(&self, files: &Files, session: &Session, edits: &[Edit]) -> Result<Files, WriteError> {
        write::write(self, files, session, edits)
    }
}

/// The descriptions of troubles for which the product does not show a conversation.
const STOPS: [&str; 6] = [
    agent_framework_dotnet::NO_RESPONSE,
    jan::NO_PARENT,
    letta::NOT_THERE,
    lm_studio::NO_COUNT,
    open_webui::NO_ROLE,
    vscode_log::NO_BEGINNING,
];

/// Messages of the Chat Completions API, and what programs add to them.
const CHAT: &[Speaker] = &[chat_at("")];

/// A message of the Chat Completions API at a pointer.
const fn chat_at(at: &'static str) -> Speaker {
    Speaker {
        at,
        role: Saying::Named(
            "/role",
            &[
                ("system", Role::System),
                ("developer", Role::System),
                ("user", Role::User),
                ("assistant", Role::Assistant),
                ("tool", Role::Tool),
            ],
        ),
        pieces: CHAT_PIECES,
    }
}

const CHAT_PIECES: &[Piece] = &[
    Piece::Result(ResultAt { call: "/tool_call_id", name: "/name", output: "/content", failed: None }),
    Piece::Thinking("/reasoning_content", "/none"),
    Piece::Parts(
        "/content",
        "/type",
        &[
            ("text", Piece::Text("/text")),
            ("think", Piece::Thinking("/think", "/none")),
            ("image_url", Piece::Skip),
        ],
    ),
    Piece::Parts("/multi_content", "/type", &[("text", Piece::Text("/text")), ("image_url", Piece::Skip)]),
    Piece::Calls(
        "/tool_calls",
        CallAt { id: "/id", name: "/function/name", arguments: "/function/arguments" },
    ),
    Piece::Calls(
        "/additional_kwargs/tool_calls",
        CallAt { id: "/id", name: "/function/name", arguments: "/function/arguments" },
    ),
    Piece::Result(ResultAt {
        call: "/additional_kwargs/tool_call_id",
        name: "/additional_kwargs/name",
        output: "/blocks",
        failed: None,
    }),
    Piece::Parts(
        "/blocks",
        "/block_type",
        &[
            ("text", Piece::Text("/text")),
            ("thinking", Piece::Thinking("/content", "/none")),
            (
                "tool_call",
                Piece::Call(CallAt { id: "/tool_call_id", name: "/tool_name", arguments: "/tool_kwargs" }),
            ),
            ("image", Piece::Skip),
        ],
    ),
];

/// A result as the Chat Completions API has it.
fn chat_answer(call: &Call, words: &str) -> Value {
    json!({ "role": "tool", "content": words, "tool_call_id": call.id })
}
