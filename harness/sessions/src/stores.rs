//! The stores of all products: how to recognise, read, send and write them.
//!
//! Each product is a module with a [`Store`].

pub(crate) mod ag_ui_events;
pub(crate) mod ag_ui_messages;
mod ai_sdk;
pub(crate) mod ai_sdk_chunks;
pub(crate) mod ai_sdk_model;
pub(crate) mod ai_sdk_ui;
pub(crate) mod claude_code;
pub(crate) mod cline;
pub(crate) mod codex;
pub(crate) mod copilot_cli;
mod enveloped;
#[cfg(feature = "sqlite")]
mod exported;
pub(crate) mod forms;
pub(crate) mod gemini_cli;
mod gemini_parts;
#[cfg(feature = "sqlite")]
pub(crate) mod goose;
mod json_changes;
mod json_text;
#[cfg(feature = "sqlite")]
pub(crate) mod langgraph;
mod list;
mod list_reader;
#[cfg(test)]
mod list_tests;
mod list_writer;
mod look;
#[cfg(feature = "sqlite")]
pub(crate) mod openai_agents;
#[cfg(feature = "sqlite")]
pub(crate) mod opencode;
mod pairs;
pub(crate) mod pi;
pub(crate) mod pydantic_ai;
pub(crate) mod qwen_code;
mod records;
pub(crate) mod request;
#[cfg(feature = "sqlite")]
mod rows;
pub(crate) mod tanstack;
#[cfg(test)]
mod testing;
mod tinyagent;
mod tree;
pub(crate) mod tunacode;
pub(crate) mod twenty;

use brickbat_rules::{Dialect, Rule};

pub(crate) use crate::errors::{ReadError, WriteError};
use crate::halves::Halves;
use crate::strays::{self, Parted};
use crate::{Edit, EditError, Files, FormError, Place, Planned, Product, Sent, Session, beside, foreign};
use enveloped::{INSIDE, OrInside};
pub use look::Look;

/// Everything that is specific to the store of one product.
pub trait Store: Sync {
    /// Returns whether the files were written by this product. The check must be certain: a file that two stores
    /// could have written belongs to neither.
    fn owns(&self, look: &Look<'_>) -> bool;

    /// [`Store::owns`] for files that no other store has examined yet.
    fn recognises(&self, files: &Files) -> bool {
        self.owns(&Look::of(files))
    }

    /// The sessions in these files. A file has one session, a database many.
    ///
    /// # Errors
    ///
    /// The files are of this product, but their version or form is unknown, or they are completely
    /// unreadable. If only parts are unreadable, the rest is read, and each unreadable part becomes a
    /// [`Trouble`](crate::Trouble) of the session.
    fn read(&self, files: &Files) -> Result<Vec<Session>, ReadError>;

    /// The send model of the product: the messages that it sends when the user writes the next message.
    ///
    /// The last message is the last stored one. If the conversation would end with the model, the judge
    /// appends a user message.
    fn send(&self, session: &Session) -> Sent;

    /// Describes how the product fills a trailing call that has no result. `None` if it sends the call
    /// unchanged.
    ///
    /// If the product fills such calls itself on resume, an open tail is not a defect.
    fn fills_open_tail(&self, _session: &Session) -> Option<&'static str> {
        None
    }

    /// The files after these edits. All other bytes stay unchanged. Brickbat only reads a store without this function.
    ///
    /// # Errors
    ///
    /// The store has no form for an edit.
    fn write(&self, _: &Files, session: &Session, edits: &[Edit]) -> Result<Files, WriteError> {
        Err(read_only(session, edits))
    }

    /// Returns whether the store of this session takes more edits than a cut of its end. Brickbat only reads the others.
    fn is_written(&self, _: &Session) -> bool {
        true
    }

    /// Returns whether each record of this session must stay where it is, since other files refer to it by its offset.
    fn keeps_offsets(&self, _session: &Session) -> bool {
        false
    }

    /// Returns whether lines with more than one record are split before reading. A store that handles such
    /// lines itself returns false.
    fn is_parted(&self) -> bool {
        true
    }

    /// The number of marks of this store that hold for a file, the number of all, and descriptions of the others.
    /// `None` if the store has no list of marks.
    fn nearness(&self, _: &Look<'_>) -> Option<(usize, usize, Vec<String>)> {
        None
    }

    /// The pointer to a list that names the record at this place too, so that a deletion of the record has to remove its
    /// name there. `None` if no list does.
    fn referrer(&self, _: &Place) -> Option<String> {
        None
    }

    /// Returns whether the product may obey this rule when it sends, in a way that the send model does not show.
    fn may_obey(&self, _: &Rule) -> bool {
        false
    }

    /// A way to continue a refused session without a repair, as a sentence. `None` if the product has none.
    fn another_way(&self, _: &Session) -> Option<&'static str> {
        None
    }

    /// Describes how the product later undoes a repair made of these edits to a session. `None` if the repair lasts.
    fn relapse(&self, _: &Session, _: &[Planned]) -> Option<&'static Relapse> {
        None
    }

    /// The files with the cut branch attached to the line that it provably follows; see [`Session::cut`].
    ///
    /// # Errors
    ///
    /// The lines of this store do not name the line before them, or nothing proves which line it was.
    fn reattach(&self, _: &Files, session: &Session) -> Result<Files, WriteError> {
        let place = session.cut.as_ref().map(|cut| cut.place.to_string()).unwrap_or_default();
        let cause = EditError::Missing("nothing proves what came before it");
        Err(WriteError { product: session.product, place, cause })
    }
}

/// The error for edits to a store that Brickbat does not write.
pub(crate) fn read_only(session: &Session, edits: &[Edit]) -> WriteError {
    let place = edits.first().map(Edit::place).unwrap_or_default();
    EditError::NoForm(READ_ONLY).at(session.product, &place)
}

/// The cause of an error for every edit of a store that is only read.
const READ_ONLY: &str = "Brickbat reads this store and does not write it";

/// The way in which a product undoes a repair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Relapse {
    /// A sentence that states how long the repair lasts and what undoes it.
    pub words: &'static str,
    /// The fix, as a sentence.
    pub way_out: &'static str,
    /// The source of this knowledge.
    pub source: &'static str,
}

/// A product and its store.
type Known = (Product, &'static dyn Store);

/// Every known store. Databases need the feature `sqlite`.
///
/// The request body comes last, since a message list of a known product is not a request body.
const STORES: &[Known] = &[
    (Product::ClaudeCode, &claude_code::ClaudeCode),
    #[cfg(feature = "sqlite")]
    (Product::Opencode, &opencode::Opencode),
    (Product::Codex, &codex::Codex),
    (Product::GeminiCli, &gemini_cli::GeminiCli),
    (Product::Pi, &pi::Pi),
    (Product::Cline, &cline::Cline),
    (Product::QwenCode, &qwen_code::QwenCode),
    (Product::CopilotCli, &copilot_cli::CopilotCli),
    (Product::Tunacode, &tunacode::Tunacode),
    (Product::PydanticAi, &pydantic_ai::PydanticAi),
    #[cfg(feature = "sqlite")]
    (Product::Goose, &goose::Goose),
    #[cfg(feature = "sqlite")]
    (Product::OpenaiAgents, &openai_agents::OpenaiAgents),
    #[cfg(feature = "sqlite")]
    (Product::Langgraph, &langgraph::Langgraph),
    #[cfg(feature = "sqlite")]
    (Product::LanggraphPostgres, &langgraph::LanggraphPostgres),
    #[cfg(feature = "sqlite")]
    (Product::LanggraphRedis, &langgraph::LanggraphRedis),
    (Product::AiSdkUiMessages, &OrInside(ai_sdk_ui::AiSdkUi, INSIDE)),
    (Product::AiSdkUiChunks, &ai_sdk_chunks::AiSdkChunks),
    (Product::AiSdkModelMessages, &ai_sdk_model::AiSdkModel),
    (Product::Twenty, &twenty::Twenty),
    (Product::Tanstack, &OrInside(tanstack::Tanstack, tanstack::PERSISTED)),
    (Product::AgUiEvents, &ag_ui_events::AgUiEvents),
    (Product::AgUiMessages, &OrInside(ag_ui_messages::AgUiMessages, INSIDE)),
    (Product::Langchain, &forms::LANGCHAIN),
    (Product::LanggraphState, &forms::LANGGRAPH_STATE),
    (Product::N8n, &forms::N8N),
    (Product::Sharegpt, &forms::SHAREGPT),
    (Product::Openhands, &forms::OPENHANDS),
    (Product::SweAgent, &forms::SWE_AGENT),
    (Product::Continue, &forms::CONTINUE),
    (Product::OpenWebui, &forms::OPEN_WEBUI),
    (Product::Librechat, &forms::LIBRECHAT),
    (Product::Letta, &forms::LETTA),
    (Product::Jan, &forms::JAN),
    (Product::MistralVibe, &forms::MISTRAL_VIBE),
    (Product::Kimi, &forms::KIMI),
    (Product::KimiCode, &forms::KIMI_CODE),
    (Product::VscodeChat, &forms::VSCODE_CHAT),
    (Product::Droid, &forms::DROID),
    (Product::Amp, &forms::AMP),
    (Product::Kiro, &forms::KIRO),
    (Product::GoogleAdk, &forms::GOOGLE_ADK),
    (Product::Genkit, &forms::GENKIT),
    (Product::Autogen, &forms::AUTOGEN),
    (Product::Agno, &forms::AGNO),
    (Product::Llamaindex, &forms::LLAMAINDEX),
    (Product::SemanticKernel, &forms::SEMANTIC_KERNEL),
    (Product::Haystack, &forms::HAYSTACK),
    (Product::AgentFramework, &forms::AGENT_FRAMEWORK),
    #[cfg(feature = "sqlite")]
    (Product::Zed, &forms::ZED),
    #[cfg(feature = "sqlite")]
    (Product::Crush, &forms::CRUSH),
    #[cfg(feature = "sqlite")]
    (Product::Cursor, &forms::CURSOR),
    #[cfg(feature = "sqlite")]
    (Product::Mastra, &forms::MASTRA),
    #[cfg(feature = "sqlite")]
    (Product::SuperagentGrok, &forms::SUPERAGENT_GROK),
    #[cfg(feature = "sqlite")]
    (Product::Llm, &forms::LLM),
    #[cfg(feature = "sqlite")]
    (Product::DockerAgent, &forms::DOCKER_AGENT),
    (Product::Hermes, &forms::HERMES),
    (Product::Agentscope, &forms::AGENTSCOPE),
    (Product::Strands, &forms::STRANDS),
    (Product::GrokCli, &forms::GROK_CLI),
    (Product::Deepcode, &forms::DEEPCODE),
    (Product::DeepseekHarness, &forms::DEEPSEEK_HARNESS),
    (Product::Nanobot, &forms::NANOBOT),
    (Product::Jcode, &forms::JCODE),
    (Product::Codewhale, &forms::CODEWHALE),
    (Product::AiderDesk, &forms::AIDER_DESK),
    (Product::RooCode, &forms::ROO_CODE),
    (Product::DurableAgent, &forms::DURABLE_AGENT),
    #[cfg(feature = "sqlite")]
    (Product::LaravelAi, &forms::LARAVEL_AI),
    #[cfg(feature = "sqlite")]
    (Product::SpringAi, &forms::SPRING_AI),
    (Product::Langchain4j, &forms::LANGCHAIN4J),
    (Product::Livekit, &forms::LIVEKIT),
    (Product::Sillytavern, &forms::SILLYTAVERN),
    (Product::LmStudio, &forms::LM_STUDIO),
    #[cfg(feature = "sqlite")]
    (Product::RubyLlm, &forms::RUBY_LLM),
    #[cfg(feature = "sqlite")]
    (Product::CloudflareAgents, &forms::CLOUDFLARE_AGENTS),
    #[cfg(feature = "sqlite")]
    (Product::Voltagent, &forms::VOLTAGENT),
    (Product::Picoclaw, &forms::Picoclaw),
    (Product::MessageLines, &forms::MESSAGE_LINES),
    (Product::Request, &request::Request),
];

/// The store of a product. `None` if the product needs a feature that is not compiled in.
pub fn store_of(product: Product) -> Option<&'static dyn Store> {
    STORES.iter().find(|(writer, _)| *writer == product).map(|(_, store)| *store)
}

/// For each store that is described as data: the marks that hold for a file, all of its marks, and descriptions of
/// those that do not hold.
pub(crate) fn near_forms(files: &Files) -> Vec<(usize, usize, Product, Vec<String>)> {
    let look = Look::of(files);
    STORES
        .iter()
        .filter_map(|(product, store)| {
            store.nearness(&look).map(|(n, of, missing)| (n, of, *product, missing))
        })
        .collect()
}

/// The id of the parent session, if this file is a Codex rollout that forks from another file.
pub fn parent_of(bytes: &[u8]) -> Option<String> {
    codex::parent_of(bytes)
}

/// The sessions in these files. The product is detected.
///
/// # Errors
///
/// No known product wrote the files, or their form is unknown.
pub fn read(files: &Files) -> Result<Vec<Session>, ReadError> {
    read_by(files, |whole| {
        let look = Look::of(whole);
        STORES.iter().copied().find(|(_, store)| store.owns(&look))
    })
}

/// The sessions in these files, which are known to be of this product.
pub(crate) fn read_as(known: Known, files: &Files) -> Result<Vec<Session>, ReadError> {
    #[cfg(feature = "sqlite")]
    if exported::may_be_of(known.0)
        && let Some(table) = exported::databases(files).iter().find(|table| known.1.recognises(table))
    {
        return known.1.read(table);
    }
    read_by(files, |_| Some(known))
}

/// The conversations in files that no known product wrote, read by the names that most programs use. Only calls, their
/// results and their order are judged. Empty if there is none.
pub fn found(files: &Files) -> Vec<Session> {
    let unmarked = strays::unmarked(files);
    forms::found::sessions(unmarked.as_ref().unwrap_or(files))
}

/// [`read`] for a file that the user names: of a program that is not known, its conversations; see [`found`]. A list with
/// fields that were not understood is read by its names of fields, if they explain all of it.
///
/// # Errors
///
/// As for [`read`], if there is no conversation.
pub fn read_named(files: &Files) -> Result<Vec<Session>, ReadError> {
    match read(files) {
        Err(ReadError::Unknown) => {
            Some(found(files)).filter(|found| !found.is_empty()).ok_or(ReadError::Unknown)
        }
        Ok(sessions) if sessions.iter().any(|session| !session.foreign.keys.is_empty()) => {
            let found = found(files);
            let is_clear =
                found.len() == sessions.len() && found.iter().all(|own| own.foreign.keys.is_empty());
            Ok(if is_clear { found } else { sessions })
        }
        other => other,
    }
}

fn read_by(files: &Files, store: impl Fn(&Files) -> Option<Known>) -> Result<Vec<Session>, ReadError> {
    let unmarked = strays::unmarked(files);
    let whole = unmarked.as_ref().unwrap_or(files);
    let halves = Halves::of(whole);
    let whole = halves.as_ref().map_or(whole, |halves| &halves.files);
    let found = store(whole);
    #[cfg(feature = "sqlite")]
    if found.is_none() {
        let tables = exported::databases(whole);
        let read = |table: &Files| store(table)?.1.read(table).ok();
        let has_messages =
            |sessions: &Vec<Session>| sessions.iter().any(|session| !session.messages.is_empty());
        if let Some(sessions) = tables.iter().filter_map(read).find(has_messages) {
            return Ok(sessions);
        }
    }
    let Some((product, store)) = found else {
        let described = beside::of(whole)
            .or_else(|| beside::of(files))
            .map(|(product, words)| FormError::NoSession(words).of(product));
        return Err(described.unwrap_or(ReadError::Unknown));
    };
    #[cfg(feature = "sqlite")]
    if let Some(cause) = crate::sqlite::refusal(whole) {
        return Err(cause.of(product));
    }
    let mut sessions = store.read(whole)?;
    if store.is_parted()
        && let Some(parted) = Parted::of(whole, &sessions)
    {
        sessions = store.read(&parted.files)?;
        parted.note(&mut sessions);
    }
    foreign::note(product, whole, &mut sessions);
    strays::note_mark(files, &mut sessions);
    if let Some(halves) = halves {
        halves.note(unmarked.as_ref().unwrap_or(files), &mut sessions);
    }
    Ok(sessions)
}

/// Reads a request body or a bare list of messages in a known dialect.
///
/// # Errors
///
/// The body is not JSON.
pub fn read_body(body: &[u8], dialect: Dialect) -> Result<Session, ReadError> {
    let Some(unmarked) = strays::unmarked(&Files::one("", body)) else {
        return request::session(body, dialect);
    };
    let mut session = request::session(unmarked.main(), dialect)?;
    strays::note_mark(&Files::one("", body), std::slice::from_mut(&mut session));
    Ok(session)
}

#[cfg(all(test, feature = "sqlite"))]
mod tests {
    use super::*;

    /// A new product has no store until its line is in `STORES`.
    #[test]
    fn every_product_has_one_store() {
        let mut stored: Vec<Product> = STORES.iter().map(|(product, _)| *product).collect();
        stored.sort_unstable();
        assert_eq!(stored, Product::ALL);
    }
}
