//! `session`.

use brickbat_rules::Profile;
use brickbat_sessions::report::{self, Examined, Survey, Unread};
use brickbat_sessions::{Files, ReadError, judge_for, nearest, next_step};
use serde_json::{Value, json};

use crate::question::OfSession;
use crate::text_of;

/// The first bytes of a database of SQLite (<https://www.sqlite.org/fileformat2.html#magic_header_string>).
const DATABASE: &[u8] = b"SQLite format 3\0";

/// The largest session in bytes.
const MAX_SESSION: usize = 64 << 20;

/// Reads and judges the sessions in a file like `brickbat session`.
pub(crate) fn session(of: &OfSession, bytes: &[u8]) -> Result<Vec<u8>, String> {
    let file = if of.name.is_empty() { "session" } else { &of.name };
    if bytes.starts_with(DATABASE) {
        return Err(format!(
            "{file} is a database, which needs a library written in C; `brickbat session {file}` of the command line reads it"
        ));
    }
    if bytes.len() > MAX_SESSION {
        let words =
            format!("more than {} MiB; `brickbat session FILE` reads larger files", MAX_SESSION >> 20);
        return Err(words);
    }
    let profile =
        of.profile.as_deref().map(|name| Profile::named(name).ok_or(format!("no profile `{name}`")));
    let profile = profile.transpose()?;
    let files = Files::one(file, bytes);
    let sessions = match brickbat_sessions::read_named(&files) {
        Ok(sessions) => sessions,
        Err(error) => return Ok(text_of(&unread(file, &files, error))),
    };
    let examined = sessions.into_iter().enumerate().map(|(n, mut session)| {
        session.fork = session.product.fork_at(file).or(session.fork);
        let judgement = judge_for(&session, profile, of.model.as_deref());
        Examined { file: file.to_owned(), companions: Vec::new(), n, session, judgement }
    });
    let examined: Vec<Examined> = examined.collect();
    let salt = report::hashed(&String::from_utf8_lossy(bytes), "");
    let shown: Vec<Value> = examined.iter().map(|one| report::json_session(one, &salt)).collect();
    Ok(text_of(&json!({ "sessions": shown, "unread": [], "text": text(&examined) })))
}

fn text(examined: &[Examined]) -> String {
    if let [one] = examined {
        return report::detail(one);
    }
    let mut survey = Survey::default();
    examined.iter().for_each(|one| survey.add(one));
    survey.text()
}

fn unread(file: &str, files: &Files, error: ReadError) -> Value {
    let (near, next) = match error {
        ReadError::Unknown => (nearest(files), next_step(files, file)),
        ReadError::Form { .. } => (Vec::new(), String::new()),
    };
    let unread = Unread { file: file.to_owned(), error, near, next };
    let text = format!("{file}: {}{}\n", unread.error, unread.hint());
    let report = report::json(&[], &[unread]);
    json!({ "sessions": report["sessions"], "unread": report["unread"], "text": text })
}
