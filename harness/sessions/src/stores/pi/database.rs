//! OpenClaw's SQLite since July 2026: a line of the JSONL form in each row of `transcript_events`, by session and number.
//!
//! Source: `src/state/openclaw-agent-schema.sql` of <https://github.com/openclaw/openclaw>. Brickbat only reads it.

use std::collections::BTreeMap;

use super::{Log, session};
use crate::sqlite::{Database, MAX_ROWS};
use crate::stores::ReadError;
use crate::stores::rows::bytes_of;
use crate::{Files, FormError, Place, Product, Session};

/// See [`Session::generation`].
pub(super) const GENERATION: &str = "SQLite rows";

const TABLE: &str = "transcript_events";

pub(super) fn is_one(database: &Database) -> bool {
    database.has(TABLE, &["session_id", "seq", "event_json"])
}

/// The sessions of a database. Events that begin in the middle of a session are none.
pub(super) fn read(files: &Files) -> Result<Vec<Session>, ReadError> {
    let error = |error: FormError| error.of(Product::Pi);
    let sessions = lines(files).map_err(error)?;
    let sessions = sessions.into_values().map(|(rows, text)| {
        let mut session = session(&Log::read(&text)?, &text)?;
        session.generation = GENERATION;
        session.fork = Some("OpenClaw");
        each_place(&mut session, |place| {
            let row =
                place.line.take().and_then(|line| rows.get(usize::try_from(line).ok()?.checked_sub(1)?));
            let whole = std::mem::take(&mut place.pointer);
            *place = Place::in_row(TABLE, row.copied().unwrap_or_default(), whole);
        });
        Ok(session)
    });
    let found: Vec<Session> = sessions.collect::<Result<_, ReadError>>()?;
    match found.is_empty() {
        true => Err(error(FormError::NoSession("it has no events"))),
        false => Ok(found),
    }
}

/// The rows of a session, and its lines.
type Lines = (Vec<i64>, Vec<u8>);

/// The lines of each session.
fn lines(files: &Files) -> Result<BTreeMap<Vec<u8>, Lines>, FormError> {
    let database = Database::open(files)?;
    let query = format!(
        "SELECT rowid, session_id, event_json FROM {TABLE} ORDER BY session_id, seq LIMIT {MAX_ROWS}"
    );
    let mut statement = database.connection().prepare(&query)?;
    let mut rows = statement.query([])?;
    let mut sessions: BTreeMap<Vec<u8>, Lines> = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let bytes = |n: usize| row.get_ref(n).map(|cell| bytes_of(cell).unwrap_or_default());
        let (ids, text) = sessions.entry(bytes(1)?).or_default();
        ids.push(row.get(0)?);
        // A line feed inside a value is white space between its parts.
        text.extend(bytes(2)?.into_iter().map(|byte| if byte == b'\n' { b' ' } else { byte }));
        text.push(b'\n');
    }
    Ok(sessions)
}

fn each_place(session: &mut Session, change: impl Fn(&mut Place)) {
    for message in session.messages.iter_mut().chain(&mut session.off_branch) {
        change(&mut message.place);
        message.blocks.iter_mut().for_each(|block| change(&mut block.place));
    }
    session.troubles.iter_mut().for_each(|trouble| change(&mut trouble.place));
    session.cut.iter_mut().for_each(|cut| change(&mut cut.place));
    session.refused.iter_mut().for_each(|refused| change(&mut refused.place));
}
