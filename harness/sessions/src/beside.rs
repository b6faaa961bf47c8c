//! Files of known products without a session: lists of prompts, exported texts, parts of a session in a folder.
//!
//! People take them for the session, since they are next to it or have its words. Each gets a description of what it is, and
//! of where the sessions are.

use brickbat_rules::json::{Document, Json};

use crate::json::lines;
use crate::{Files, Product};

/// The number of lines that are examined.
const MAX_LINES: usize = 16;

/// The number of bytes of a text in which the banner of an export is searched.
const MAX_BANNER: usize = 4_096;

const PROMPTS_OF_CLAUDE: &str = "the history of prompts, without replies; the sessions are \
    `~/.claude/projects/<folder>/<session>.jsonl`, and `sessionId` is the name";
const PROMPTS_OF_CODEX: &str = "the history of prompts, without replies; the sessions are \
    `~/.codex/sessions/<year>/<month>/<day>/rollout-*.jsonl`, and `session_id` is the end of the name";
const PROMPTS_OF_GEMINI: &str = "the log of prompts, without replies; the sessions are `session-*.json` or `session-*.jsonl` in \
    the folder `chats` next to it";
const EXPORT_OF_CLAUDE: &str = "a text of `/export`, without the records of the session; the sessions are \
    `~/.claude/projects/<folder>/<session>.jsonl`, and `brickbat explain` takes an error in the text";
const EXCERPT_OF_CLAUDE: &str = "an excerpt in which something is left out (`...`), so it is not JSON; give the whole file, \
    `~/.claude/projects/<folder>/<session>.jsonl`";
const MESSAGE_OF_OPENCODE: &str = "one message or part of a session; give `storage/session/<project>/<session>.json`, with \
    `storage/message` and `storage/part` where they were";
const PART_OF_STRANDS: &str =
    "one file of a session; give `agents/agent_<id>/agent.json`, with `messages` next to it";
const PART_OF_OPENHANDS: &str =
    "one event of a conversation; give its `base_state.json`, with `events` next to it";
const PART_OF_JAN: &str = "the description of a thread; give the `messages.jsonl` next to it";

const CHAT_OF_CLINE: &str = "the chat as it is shown, without the calls; the conversation is in `api_conversation_history.json` \
    next to it";

/// The product of a file without a session, and the description of the file.
pub(crate) fn of(files: &Files) -> Option<(Product, &'static str)> {
    let bytes = files.main();
    if let Ok(document) = Document::parse(bytes) {
        return of_json(document.root()).or_else(|| of_lines(bytes));
    }
    of_lines(bytes).or_else(|| of_text(bytes))
}

fn of_json(root: Json<'_, '_>) -> Option<(Product, &'static str)> {
    let begins =
        |name: &str, with: &str| root.field(name).as_str().is_some_and(|text| text.starts_with(with));
    let has = |names: &[&str]| names.iter().all(|name| root.get(name).is_some());
    if root.is_array() {
        let is_prompt = |item: Json<'_, '_>| {
            let [session, message, id] = item.pick(["sessionId", "message", "messageId"]);
            session.is_some_and(Json::is_str)
                && message.is_some_and(Json::is_str)
                && id.is_some_and(|id| id.as_u64().is_some())
        };
        let mut items = root.items().peekable();
        let is_log = items.peek().is_some() && items.take(MAX_LINES).all(is_prompt);
        // `ClineMessage` in `src/shared/ExtensionMessage.ts` of Cline and in `packages/types/src/message.ts` of Roo Code.
        let is_shown = |item: Json<'_, '_>| {
            let kind = item.field("type").as_str().unwrap_or_default();
            matches!(&*kind, "ask" | "say") && item.field(&kind).is_str() && item.get("ts").is_some()
        };
        let is_chat = root.items().next().is_some() && root.items().take(MAX_LINES).all(is_shown);
        return match (is_log, is_chat) {
            (true, _) => Some((Product::GeminiCli, PROMPTS_OF_GEMINI)),
            (_, true) => Some((Product::Cline, CHAT_OF_CLINE)),
            _ => None,
        };
    }
    match () {
        () if begins("sessionID", "ses_") && (begins("id", "msg_") || begins("id", "prt_")) => {
            Some((Product::Opencode, MESSAGE_OF_OPENCODE))
        }
        () if has(&["session_id", "session_type", "created_at"]) => Some((Product::Strands, PART_OF_STRANDS)),
        () if has(&["message", "message_id", "redact_message"]) => Some((Product::Strands, PART_OF_STRANDS)),
        () if has(&["id", "timestamp", "source", "kind"])
            && root.field("kind").as_str().is_some_and(|kind| kind.ends_with("Event")) =>
        {
            Some((Product::Openhands, PART_OF_OPENHANDS))
        }
        () if root.field("object").is("thread") && has(&["assistants"]) => Some((Product::Jan, PART_OF_JAN)),
        () => None,
    }
}

fn of_lines(bytes: &[u8]) -> Option<(Product, &'static str)> {
    const KINDS: [(Product, &[&str], &str); 2] = [
        (Product::ClaudeCode, &["display", "pastedContents", "project"], PROMPTS_OF_CLAUDE),
        (Product::Codex, &["session_id", "ts", "text"], PROMPTS_OF_CODEX),
    ];
    let (mut n, mut kinds) = (0, KINDS.to_vec());
    for line in lines(bytes).take(MAX_LINES) {
        let document = Document::parse(line.bytes).ok()?;
        n += 1;
        kinds.retain(|(_, names, _)| names.iter().all(|name| document.root().get(name).is_some()));
    }
    let (product, _, words) = kinds.first().filter(|_| n > 0)?;
    Some((*product, words))
}

fn of_text(bytes: &[u8]) -> Option<(Product, &'static str)> {
    let text = std::str::from_utf8(bytes).ok()?;
    let end = (0..=text.len().min(MAX_BANNER)).rev().find(|at| text.is_char_boundary(*at))?;
    let has_marks = ['❯', '⏺', '⎿'].iter().any(|mark| text.contains(*mark));
    if text[..end].contains("Claude Code v") && has_marks {
        return Some((Product::ClaudeCode, EXPORT_OF_CLAUDE));
    }
    let has_all = |parts: &[&str]| parts.iter().all(|part| text[..end].contains(part));
    let is_record = text.trim_start().starts_with('{') && has_all(&["\"type\"", "\"message\"", "\"role\""]);
    let is_own =
        ["\"parentUuid\"", "\"stop_reason\"", "\"isSidechain\""].iter().any(|own| text[..end].contains(own));
    let is_elided = text.contains("...") || text.contains('…');
    (is_record && is_own && is_elided).then_some((Product::ClaudeCode, EXCERPT_OF_CLAUDE))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FormError, ReadError, read};

    #[test]
    fn files_that_are_taken_for_sessions_are_described() {
        let cases = [
            (
                Product::ClaudeCode,
                r#"{"display":"Look.","pastedContents":{},"timestamp":1,"project":"/p","sessionId":"s"}"#,
                "projects",
            ),
            (Product::Codex, r#"{"session_id":"s","ts":1,"text":"Look."}"#, "rollout"),
            (
                Product::GeminiCli,
                r#"[{"sessionId":"s","messageId":0,"type":"user","message":"Look.","timestamp":"t"}]"#,
                "chats",
            ),
            (
                Product::ClaudeCode,
                "╭ Claude Code v2.1.40\n❯ Look.\n⏺ I look.\n  ⎿ API Error: 400 {\"type\":\"error\"}",
                "/export",
            ),
            (
                Product::ClaudeCode,
                r#"{"type":"assistant","message":{"role":"assistant", ... "stop_reason":"stop_sequence"}}"#,
                "excerpt",
            ),
            (
                Product::Opencode,
                r#"{"id":"msg_1","sessionID":"ses_1","role":"user","time":{"created":1}}"#,
                "storage",
            ),
            (
                Product::Opencode,
                r#"{"id":"prt_1","sessionID":"ses_1","messageID":"msg_1","type":"text","text":"Look."}"#,
                "storage",
            ),
            (
                Product::Strands,
                r#"{"session_id":"s","session_type":"AGENT","created_at":"t","updated_at":"t"}"#,
                "agent.json",
            ),
            (
                Product::Openhands,
                r#"{"id":"e","timestamp":"t","source":"user","llm_message":{"role":"user","content":[]},"kind":"MessageEvent"}"#,
                "base_state",
            ),
            (Product::Cline, r#"[{"ts":1,"type":"say","say":"text","text":"Look."}]"#, "api_conversation"),
            (Product::Jan, r#"{"id":"t","object":"thread","assistants":[]}"#, "messages.jsonl"),
        ];
        for (product, text, part) in cases {
            match read(&Files::one("x.json", text)) {
                Err(ReadError::Form { product: own, cause: FormError::NoSession(words) }) => {
                    assert!(own == product && words.contains(part), "{text}: {own} {words}");
                }
                other => panic!("{text}: {other:?}"),
            }
        }
    }

    #[test]
    fn other_files_are_not_described() {
        for text in ["", "{}", "[]", "[1]", "{\"text\":\"a\"}", "Claude Code v1", "{\"a\": ...}", "\u{0}"] {
            assert_eq!(of(&Files::one("x", text)), None, "{text}");
        }
    }
}
