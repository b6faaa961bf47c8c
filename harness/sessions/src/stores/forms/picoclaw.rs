//! PicoClaw: `<key>.jsonl` with a message of Chat Completions on each line, and `<key>.meta.json` next to it.
//!
//! The messages before the line number in `skip` are never sent again; their summary is in the other file. Before it sends,
//! PicoClaw leaves out results that follow no reply with calls, and calls that follow neither the user nor a result. Calls
//! without a result are sent. Source: `pkg/memory/jsonl.go` and `sanitizeHistoryForProvider` in `pkg/agent/context.go` of
//! <https://github.com/sipeed/picoclaw>.

use brickbat_rules::Dialect;
use brickbat_rules::histories::Role;
use brickbat_rules::json::Document;

use super::{BASE, Form, Framing, Mark, Shape};
use crate::json::lines;
use crate::stores::{Edit, Look, ReadError, Store, WriteError};
use crate::{Files, Message, Place, Product, Sent, Session};

const FORM: Form = Form {
    product: Product::Picoclaw,
    generation: "JSONL",
    file: Framing::Lines,
    marks: &[Mark::Every(&["/content"]), Mark::EveryIs("/role", &["system", "user", "assistant", "tool"])],
    shape: Shape::Speakers(super::CHAT),
    dialect: Some(Dialect::OpenaiChat),
    answer: Some(super::chat_answer),
    ..BASE
};

/// The end of the name of the file with the state of the session.
const META: &str = ".meta.json";

pub(crate) struct Picoclaw;

impl Store for Picoclaw {
    fn owns(&self, look: &Look<'_>) -> bool {
        skipped(look.files).is_some() && FORM.owns(look)
    }

    fn read(&self, files: &Files) -> Result<Vec<Session>, ReadError> {
        let mut sessions = FORM.read(files)?;
        let n_skipped = skipped(files).unwrap_or_default();
        // PicoClaw counts the lines that are not blank. It never reads the skipped ones, and a line that is removed
        // there would make it skip another one.
        let last = usize::try_from(n_skipped).unwrap_or(usize::MAX).checked_sub(1);
        let last = last.map_or(0, |last| lines(files.main()).nth(last).map_or(u64::MAX, |line| line.n));
        let is_sent = |place: &Place| place.line.unwrap_or_default() > last;
        for session in &mut sessions {
            session.branch = "the lines behind those that it skips";
            let all = std::mem::take(&mut session.messages).into_iter();
            let (sent, before) = all.partition(|message: &Message| is_sent(&message.place));
            (session.messages, session.off_branch) = (sent, before);
            session.troubles.retain(|trouble| is_sent(&trouble.place));
            session.n_compactions = usize::from(n_skipped > 0);
        }
        Ok(sessions)
    }

    fn send(&self, session: &Session) -> Sent {
        let mut sent = Sent::as_stored(session);
        let n_before = sent.messages.len();
        let mut kept: Vec<Message> = Vec::new();
        for message in std::mem::take(&mut sent.messages) {
            let calls = |message: &Message| message.calls().next().is_some();
            let is_sent = match message.role {
                Role::System => false,
                Role::Tool => kept.iter().rev().find(|own| own.role != Role::Tool).is_some_and(calls),
                Role::Assistant if calls(&message) => {
                    kept.last().is_some_and(|last| matches!(last.role, Role::User | Role::Tool))
                }
                Role::Assistant | Role::User => true,
            };
            if is_sent {
                kept.push(message);
            }
        }
        let n = n_before - kept.len();
        sent.messages = kept;
        sent.mended
            .extend((n > 0).then_some(("leaves out results and calls without the turn before them", n)));
        sent
    }

    fn write(&self, files: &Files, session: &Session, edits: &[Edit]) -> Result<Files, WriteError> {
        // A line that is added or removed behind the skipped ones changes no number of a skipped line.
        FORM.write(files, session, edits)
    }
}

/// The number of lines that are skipped, from the file next to the lines.
fn skipped(files: &Files) -> Option<u64> {
    let stem = files.name().strip_suffix(".jsonl")?.replace(".repaired", "");
    let (_, meta) = files.files.iter().enumerate().find(|(_, file)| file.name == format!("{stem}{META}"))?;
    let document = Document::parse(&meta.bytes).ok()?;
    let [key, skip, count] = document.root().pick(["key", "skip", "count"]);
    (key.is_some() && count.is_some()).then_some(skip?.as_u64()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{File, Verdict, judge, read};

    const LINES: &str = r#"{"role":"user","content":"Look."}
{"role":"tool","content":"Late.","tool_call_id":"call_0"}
{"role":"user","content":"Again."}
{"role":"assistant","content":"","tool_calls":[{"id":"call_1","type":"function","function":{"name":"look","arguments":"{}"}}]}
{"role":"tool","content":"Seen.","tool_call_id":"call_1"}
{"role":"tool","content":"Late.","tool_call_id":"call_0"}
{"role":"user","content":"And?"}
"#;

    fn files(skip: u64) -> Files {
        let meta = format!(r#"{{"key":"a:b","summary":"","skip":{skip},"count":7}}"#);
        let mut files = Files::one("a_b.jsonl", LINES);
        files.files.push(File { name: "a_b.meta.json".to_owned(), bytes: meta.into_bytes() });
        files
    }

    #[test]
    fn lines_that_are_skipped_or_left_out_are_not_judged() {
        let session = read(&files(0)).unwrap().remove(0);
        assert_eq!(session.product, Product::Picoclaw);
        let judgement = judge(&session, None);
        assert_eq!(judgement.verdict, Verdict::Refused);
        assert_eq!(judgement.refusals[0].place.as_ref().unwrap().line, Some(6));
        let session = read(&files(6)).unwrap().remove(0);
        assert_eq!((session.messages.len(), session.off_branch.len()), (1, 6));
        assert_eq!(judge(&session, None).verdict, Verdict::Accepted);
    }

    #[test]
    fn lines_without_the_other_file_are_of_any_program() {
        let session = read(&Files::one("a_b.jsonl", LINES)).unwrap().remove(0);
        assert_eq!(session.product, Product::MessageLines);
    }
}
