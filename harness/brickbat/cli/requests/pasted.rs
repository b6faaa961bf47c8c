//! Requests that were found inside a text.

use super::{Piece, ReadEvent, beginning, event, quoted};

use brickbat_rules::check::{CheckError, CheckOptions, Start, check_recorded};
use brickbat_rules::recordings::{Pasted, Unreadable};

/// Checks the requests that were found inside a text.
pub(super) fn of_text(
    piece: &Piece,
    inside: Vec<Pasted>,
    around: &str,
    terms: &CheckOptions,
) -> Vec<ReadEvent> {
    let checked = |terms: &CheckOptions| -> Vec<ReadEvent> {
        inside.iter().flat_map(|pasted| of_pasted(piece, pasted.clone(), terms)).collect()
    };
    let mut events = checked(terms);
    if piece.is_line || events.is_empty() {
        return events;
    }
    let is_judged = |event: &ReadEvent| matches!(event, ReadEvent::Judged(_));
    // A text about an error may show a piece of a request that says little.
    let is_unclear = |event: &ReadEvent| {
        matches!(event, ReadEvent::Found(..) | ReadEvent::Unjudged(_, CheckError::NoDialect))
    };
    if events.iter().all(is_unclear) {
        return vec![ReadEvent::NoRequest(CheckError::NoDialect, beginning(&piece.text))];
    }
    if !events.iter().any(is_judged) {
        return events;
    }
    if let Some((profile, of_profile)) = quoted::judged_as_quoted(around, &events, terms, checked) {
        events = of_profile;
        events.push(ReadEvent::Quoted(profile));
    }
    for event in &mut events {
        if let ReadEvent::Unjudged(line, CheckError::NoDialect) = event {
            *event = ReadEvent::Missed(line.unwrap_or(piece.start.line), Unreadable::Plain);
        }
    }
    events.push(ReadEvent::Around(around.to_owned()));
    events
}

/// Checks a request that was found inside a text.
fn of_pasted(piece: &Piece, pasted: Pasted, terms: &CheckOptions) -> Vec<ReadEvent> {
    let Pasted { mut exchange, place } = pasted;
    let line = piece.start.line + exchange.line - 1;
    let start = Start { line, offset: piece.start.offset };
    let mut events = vec![ReadEvent::Found(piece.line(), place)];
    let mut checked = check_recorded(&exchange, start, terms);
    // The address in a text may be that of a proxy of one's own.
    if let Err(CheckError::NoProfile { .. }) = checked
        && terms.address.host.is_empty()
    {
        events.push(ReadEvent::UnknownHost(std::mem::take(&mut exchange.host)));
        checked = check_recorded(&exchange, start, terms);
    }
    events.push(event(Some(line), checked));
    events
}
