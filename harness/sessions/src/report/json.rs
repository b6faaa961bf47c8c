//! The JSON report on sessions.

use serde_json::{Value, json as value};

use super::{Examined, Unread, companion, hashed, shown};
use crate::{Place, Refusal};

/// The report of all sessions. Each session is a value from [`json_session`].
pub fn json(sessions: &[Value], unread: &[Unread]) -> Value {
    let unread: Vec<Value> = unread
        .iter()
        .map(|unread| value!({ "file": unread.file, "error": unread.error.to_string() }))
        .collect();
    value!({ "schema": 1, "sessions": sessions, "unread": unread })
}

/// A session with its verdict and its fault locations.
pub fn json_session(examined: &Examined, salt: &str) -> Value {
    let Examined { file, companions, session, judgement, .. } = examined;
    let troubles: Vec<Value> = session
        .troubles
        .iter()
        .map(|trouble| value!({ "place": place(&trouble.place, companions), "words": trouble.words }))
        .collect();
    let refused = |one: &Refusal| refusal(one, companions);
    let mended: Vec<Value> =
        judgement.sent.mended.iter().map(|(words, n)| value!({ "words": words, "times": n })).collect();
    value!({
        "file": file,
        "product": session.product.id(),
        "fork": session.fork,
        "version": shown::version(session),
        "store": session.generation,
        "id": session.id.as_ref().map(|id| hashed(id, salt)),
        "verdict": judgement.verdict.name(),
        "profile": judgement.profile.name,
        "profile_assumed": judgement.is_assumed,
        "records": session.n_records,
        "messages": session.messages.len(),
        "off_branch": session.off_branch.len(),
        "batches": session.n_batches(),
        "compactions": session.n_compactions,
        "forks": session.n_forks,
        "branch": session.branch,
        "cut": session.cut.as_ref().map(|cut| value!({ "place": place(&cut.place, companions), "proven": cut.parent.is_some() })),
        "not_understood": session.foreign.keys,
        "mended_at_send": mended,
        "troubles": troubles,
        "refused_when_sent": judgement.recorded.as_ref().map(|own| value!({ "rule": own.rule.id, "place": place(&own.place, companions) })),
        "refusals": judgement.refusals.iter().map(refused).collect::<Vec<_>>(),
        "warnings": judgement.warnings.iter().map(refused).collect::<Vec<_>>(),
        "refusals_by_later_models": judgement.by_later_models.iter().map(refused).collect::<Vec<_>>(),
    })
}

fn refusal(refusal: &Refusal, companions: &[String]) -> Value {
    value!({
        "rule": refusal.rule.map(|rule| rule.id),
        "place": refusal.place.as_ref().map(|at| place(at, companions)),
        "pointer": refusal.pointer,
    })
}

/// A place. If it is in a companion file, `companion` contains the file name.
pub(super) fn place(place: &Place, companions: &[String]) -> Value {
    value!({
        "companion": companion(place, companions),
        "line": place.line,
        "table": place.row.as_ref().map(|row| &row.table),
        "row": place.row.as_ref().map(|row| row.id),
        "start": place.start,
        "end": place.end,
        "pointer": place.pointer,
    })
}
