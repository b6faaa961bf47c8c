//! tunacode: a session file with pydantic-ai messages, and since 0.2 with tinyagent messages.
//!
//! Source: `StateManager.save_session` in tunacode-cli 0.1.30 and 0.1.60
//! (<https://pypi.org/project/tunacode-cli/0.1.60/>), which require pydantic-ai 1.x. Some versions clean up
//! the list after an abort or before a request. The file does not record the version that wrote it, so the
//! send model assumes no cleanup.

use brickbat_rules::json::{Document, Json};

use super::enveloped::Enveloped;
use super::pydantic_ai::{dialect_of, history, is_history, send, session, write};
use super::{Edit, Look, ReadError, Store, WriteError, tinyagent};
use crate::json::word;
use crate::{Files, FormError, Product, Sent, Session};

pub(crate) struct Tunacode;

/// The pointer to the message list.
const MESSAGES: &str = "/messages";

/// The known version of the file. The oldest files have none.
const VERSION: u64 = 1;

impl Store for Tunacode {
    fn owns(&self, look: &Look<'_>) -> bool {
        look.is_object(is_session)
    }

    fn read(&self, files: &Files) -> Result<Vec<Session>, ReadError> {
        let Ok(document) = Document::parse(files.main()) else { return Err(ReadError::Unknown) };
        let root = document.root();
        let [version, id, model, messages] =
            root.pick(["version", "session_id", "current_model", "messages"]);
        if let Some(version) = version
            && version.as_u64() != Some(VERSION)
        {
            return Err(FormError::Version(word(version.raw())).of(Product::Tunacode));
        }
        let Some(messages) = messages else { return Err(ReadError::Unknown) };
        let text = |value: Option<Json<'_, '_>>| value.and_then(Json::as_str).map(|text| text.into_owned());
        let mut session = match Enveloped::of(files).filter(|_| tinyagent::is_list(messages)) {
            Some(list) => list.outer(tinyagent::read(Product::Tunacode, &list.files)?),
            None => {
                let history = history(messages, MESSAGES).map_err(|error| error.of(Product::Tunacode))?;
                session(Product::Tunacode, "JSON file", history)
            }
        };
        session.id = text(id);
        // `provider:model`, as the user selected it.
        let model = text(model).unwrap_or_default();
        if let Some((provider, model)) = model.split_once(':') {
            session.dialect = session.dialect.or(dialect_of(provider));
            session.model.get_or_insert_with(|| model.to_owned());
        }
        Ok(vec![session])
    }

    fn send(&self, session: &Session) -> Sent {
        match is_of_tinyagent(session) {
            true => Sent::as_stored(session),
            false => send(session),
        }
    }

    fn write(&self, files: &Files, session: &Session, edits: &[Edit]) -> Result<Files, WriteError> {
        match Enveloped::of(files).filter(|_| is_of_tinyagent(session)) {
            Some(list) => list.write(files, session, edits, tinyagent::write),
            None => write(files, session, MESSAGES, edits),
        }
    }
}

fn is_of_tinyagent(session: &Session) -> bool {
    session.generation == tinyagent::GENERATION
}

/// Returns whether a value is a session: it has tunacode's own keys, and messages in one of their known
/// forms.
fn is_session(root: Json<'_, '_>) -> bool {
    let own = root.pick(["session_id", "current_model", "created_at", "last_modified"]);
    let has_own = own.into_iter().all(|value| value.is_some_and(Json::is_str));
    let Some(messages) = root.get("messages").filter(|messages| messages.is_array()) else { return false };
    let [tokens, usage] = root.pick(["total_tokens", "session_total_usage"]);
    let is_message = |message: Json<'_, '_>| {
        let [kind, role, thought] = message.pick(["kind", "role", "thought"]);
        kind.or(role).or(thought).is_some_and(Json::is_str)
    };
    has_own
        && (is_history(messages)
            || ((tokens.is_some() || usage.is_some()) && messages.items().all(is_message)))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::{Edit, Files, Product, Verdict, judge, read, store_of};

    fn files(messages: Value) -> Files {
        let session = json!({
            "version": 1,
            "session_id": "s1",
            "created_at": "2026-02-01T08:00:00Z",
            "last_modified": "2026-02-01T08:00:00Z",
            "current_model": "anthropic:claude-sonnet-4-5",
            "total_tokens": 7,
            "messages": messages,
        });
        Files::one("p_s1.json", serde_json::to_vec_pretty(&session).unwrap())
    }

    fn prompt() -> Value {
        json!({ "kind": "request", "parts": [{ "content": "look", "part_kind": "user-prompt" }] })
    }

    fn open_call() -> Value {
        let call = json!({ "tool_name": "look", "args": {}, "tool_call_id": "c1", "part_kind": "tool-call" });
        json!({ "kind": "response", "parts": [call] })
    }

    #[test]
    fn a_rolled_back_session_is_accepted_in_the_dialect_of_its_model() {
        let sessions = read(&files(json!([prompt()]))).unwrap();
        assert_eq!((sessions[0].product, sessions[0].id.as_deref()), (Product::Tunacode, Some("s1")));
        let judgement = judge(&sessions[0], None);
        assert_eq!((judgement.verdict, judgement.is_assumed), (Verdict::Accepted, false));
    }

    #[test]
    fn its_own_notes_are_skipped() {
        let sessions = read(&files(json!([prompt(), { "thought": "x" }]))).unwrap();
        assert_eq!(
            (sessions[0].unknown.as_slice(), sessions[0].messages.len()),
            (&["thought".to_owned()][..], 1)
        );
    }

    #[test]
    fn a_trailing_open_call_bricks_it_and_an_answer_repairs_it() {
        let files = files(json!([prompt(), open_call()]));
        let sessions = read(&files).unwrap();
        assert_eq!(judge(&sessions[0], None).verdict, Verdict::Refused);
        let call = sessions[0].messages[1].blocks[0].place.clone();
        let edit = Edit::Synthesise { call, id: "c1".to_owned() };
        let written = store_of(Product::Tunacode).unwrap().write(&files, &sessions[0], &[edit]).unwrap();
        assert_eq!(judge(&read(&written).unwrap()[0], None).verdict, Verdict::Accepted);
        assert!(written.main().starts_with(&files.main()[..200]));
    }

    /// A tinyagent conversation with a batch of two calls and `n_results` results.
    fn of_tinyagent(n_results: usize) -> Files {
        let said = |text: &str| json!([{ "type": "text", "text": text }]);
        let call =
            |id: &str| json!({ "type": "tool_call", "id": id, "name": "look", "arguments": { "key": id } });
        let result = |id: &str| {
            json!({ "role": "tool_result", "tool_call_id": id, "tool_name": "look", "content": said("found"),
                "details": {}, "is_error": false })
        };
        let reply =
            json!({ "role": "assistant", "content": [call("a"), call("b")], "stop_reason": "tool_calls" });
        let mut messages = vec![json!({ "role": "user", "content": said("look") }), reply];
        messages.extend(["a", "b"].into_iter().take(n_results).map(result));
        messages.push(json!({ "role": "user", "content": said("well?") }));
        files(Value::Array(messages))
    }

    #[test]
    fn a_complete_tinyagent_batch_is_accepted_and_an_incomplete_one_repaired() {
        let whole = of_tinyagent(2);
        let sessions = read(&whole).unwrap();
        assert_eq!(sessions[0].product, Product::Tunacode);
        assert_eq!(judge(&sessions[0], None).verdict, Verdict::Accepted);
        for n_results in [0, 1] {
            let files = of_tinyagent(n_results);
            assert_eq!(judge(&read(&files).unwrap()[0], None).verdict, Verdict::Refused);
            let Ok(crate::Repair::Mended(mended)) =
                crate::repair(&files, 0, &crate::RepairOptions::default())
            else {
                panic!("{n_results} results: not mended")
            };
            assert_eq!(mended.edits.len(), 2 - n_results);
            assert_eq!(judge(&read(&mended.files).unwrap()[0], None).verdict, Verdict::Accepted);
            assert!(mended.files.main().starts_with(&files.main()[..200]));
        }
    }

    #[test]
    fn newer_versions_and_unknown_forms_are_not_judged() {
        let error = read(&files(json!([{ "role": "oracle", "content": [] }]))).unwrap_err();
        assert_eq!(error.to_string(), "tunacode: the role oracle at /0 is not known");
        let mut newer: Value = serde_json::from_slice(files(json!([prompt()])).main()).unwrap();
        newer["version"] = json!(2);
        let error = read(&Files::one("s.json", newer.to_string())).unwrap_err();
        assert_eq!(error.to_string(), "tunacode: version 2 of the file is not known");
    }
}
