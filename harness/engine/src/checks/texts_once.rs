//! A request contains each text of the model, and each message of the user, as often as it was said.
//!
//! Scenarios may say the same text several times, so occurrences are counted. A text of the model counts only in
//! the model's role, and a message of the user only on lines of its own: a reminder or a quotation that
//! the system adds is not a repetition. Requests after a summary are left out, because a summary may quote
//! anything, and so are conversations in which agents hand over to each other and retell the history.

use super::healthy_untouched::squeezed;
use super::*;
use brickbat_scenario::plan::{GivenBlock, GivenMessage, ScriptBlock, Shortening};

pub(super) const CHECK: Check = Check {
    summary: "no text of the model and no message of the user is repeated in a request",
    invariants: &[9, 26],
    applies: |evidence| judged(evidence).next().is_some(),
    find,
    ..Check::new("texts-once", Level::L1, Severity::Reordered)
};

fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let first = |repeated: fn(&Evidence<'_>, &RequestView) -> Option<Repeated>| {
        judged(evidence).find_map(|request| Some((request, repeated(evidence, request)?)))
    };
    let found = [first(repeated_text), first(repeated_prompt)].into_iter().flatten();
    found
        .map(|(request, Repeated { message, text, turn })| Finding {
            message,
            expected: format!("{} as often as it was said", quoted(&text)),
            got: evidence.shape(request),
            ..CHECK.finding(request.place("")).of_turn(turn)
        })
        .collect()
}

/// A text that is in a request too often.
struct Repeated {
    message: String,
    text: String,
    /// The turn in which it was said.
    turn: usize,
}

/// The requests in the thread before the first summary.
fn judged<'a>(evidence: &'a Evidence<'_>) -> impl Iterator<Item = &'a RequestView> {
    let is_summary = |event: &Event| match event {
        Event::Changed { change } => change.shortening() == Some(Shortening::Summary),
        Event::Requested { compacted, .. } => *compacted,
        _ => false,
    };
    let before = evidence.run.trace.events().iter().take_while(|event| !is_summary(event));
    let n_before = before.filter(|event| matches!(event, Event::Requested { .. })).count();
    let hands_over = evidence.plan.tools.iter().any(|tool| tool.hands_over);
    let of_thread = move |request: &&RequestView| request.kind.is_of_thread() && request.is_read;
    let judged = evidence.requests.iter().filter(move |_| !hands_over).filter(of_thread);
    judged.filter(move |request| (request.exchange.0 as usize) < n_before)
}

/// A text of the model that is in a request more often than the model said it.
fn repeated_text(evidence: &Evidence<'_>, request: &RequestView) -> Option<Repeated> {
    let said = said_before(evidence, request);
    let given = given_texts(evidence.plan);
    let bare: Vec<String> = said.iter().map(|(_, text)| squeezed(text)).collect();
    let sent: Vec<String> = texts_of(request, Role::Assistant).map(squeezed).collect();
    let count = |text: &str, others: &mut dyn Iterator<Item = &String>| -> usize {
        others.map(|other| other.matches(text).count()).sum()
    };
    said.iter().zip(&bare).filter(|(_, bare)| is_long(bare)).find_map(|((turn, text), own)| {
        let n_said = count(own, &mut bare.iter().chain(&given));
        let n_sent = count(own, &mut sent.iter());
        let message = || repeated(&format!("the model's text of turn {}", turn + 1), n_sent, n_said);
        (n_sent > n_said).then(|| Repeated { message: message(), text: text.clone(), turn: *turn })
    })
}

/// The texts of the replies to earlier requests, each with its turn. Requests outside the thread count as well.
fn said_before(evidence: &Evidence<'_>, request: &RequestView) -> Vec<(usize, String)> {
    let turns = &evidence.plan.turns;
    let replies = evidence.run.trace.events().iter().filter_map(|event| match *event {
        Event::Requested { exchange, kind: RequestKind::Scripted { turn, reply, attempt }, .. }
            if exchange < request.exchange =>
        {
            Some((turn, turns.get(turn)?.replies.get(reply)?.attempts.get(attempt)?))
        }
        _ => None,
    });
    let texts = replies.flat_map(|(turn, script)| script.blocks.iter().map(move |block| (turn, block)));
    let texts = texts.filter_map(|(turn, block)| match block {
        ScriptBlock::Text(fragments) => Some((turn, fragments.concat())),
        ScriptBlock::Think(_) | ScriptBlock::Call(_) | ScriptBlock::Server(_) => None,
    });
    texts.collect()
}

/// The model's texts in the given history, without white space.
fn given_texts(plan: &Plan) -> Vec<String> {
    let blocks = plan.given.iter().flat_map(GivenMessage::blocks);
    let texts = blocks.filter_map(|block| match block {
        GivenBlock::Text(text) => Some(squeezed(text)),
        GivenBlock::Thinking { .. } | GivenBlock::Call { .. } => None,
    });
    texts.collect()
}

/// A message of the user that is in a request more often than the user sent it.
fn repeated_prompt(evidence: &Evidence<'_>, request: &RequestView) -> Option<Repeated> {
    let mut said: Vec<(usize, &str)> = Vec::new();
    said.extend(given::user_messages(evidence.plan).map(|text| (0, text.trim())));
    for (turn, event) in evidence.run.trace.by_turn() {
        match event {
            Event::Prompted { turn } => said.push((*turn, evidence.plan.turns[*turn].user.trim())),
            Event::Said { text, .. } => said.push((turn, text.trim())),
            Event::Requested { exchange, .. } if *exchange == request.exchange => break,
            _ => {}
        }
    }
    said.iter().filter(|(_, text)| is_long(text)).find_map(|(turn, text)| {
        let n_said = said.iter().map(|(_, other)| n_alone(other, text)).sum();
        let n_sent = texts_of(request, Role::User).map(|other| n_alone(other, text)).sum();
        let message = || repeated(&format!("the user's message of turn {}", turn + 1), n_sent, n_said);
        (n_sent > n_said).then(|| Repeated { message: message(), text: (*text).to_owned(), turn: *turn })
    })
}

/// How often a text contains a message on lines of its own.
fn n_alone(text: &str, message: &str) -> usize {
    let is_alone = |at: usize| {
        let (before, after) = (&text[..at], &text[at + message.len()..]);
        let (before, after) =
            (before.trim_end_matches([' ', '\t']), after.trim_start_matches([' ', '\t', '\r']));
        (before.is_empty() || before.ends_with('\n')) && (after.is_empty() || after.starts_with('\n'))
    };
    text.match_indices(message).filter(|(at, _)| is_alone(*at)).count()
}

fn texts_of(request: &RequestView, role: Role) -> impl Iterator<Item = &str> {
    request.history.items.iter().filter(move |item| item.role == role).filter_map(|item| {
        match &item.content {
            Content::Text { text } => Some(text.as_str()),
            Content::Thought { .. } | Content::Call { .. } | Content::Result { .. } | Content::Raw { .. } => {
                None
            }
        }
    })
}

fn repeated(what: &str, n_sent: usize, n_said: usize) -> String {
    let times = |n: usize| if n == 1 { "once".to_owned() } else { format!("{n} times") };
    format!("{what} is in the request {}, although it was said {}", times(n_sent), times(n_said))
}

/// True if a text is long enough to be recognised. A shorter one may be a text that a system adds itself.
fn is_long(text: &str) -> bool {
    text.chars().filter(|letter| !letter.is_whitespace()).count() >= MIN_LETTERS
}

/// The letters of the shortest text that is counted.
const MIN_LETTERS: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_counts_only_on_lines_of_its_own() {
        for (text, expected) in [
            ("Look up the order.", 1),
            ("Look up the order.\n\nLook up the order.", 2),
            ("<context>\nLook up the order. \n</context>", 1),
            ("The user said: Look up the order.", 0),
            ("Look up the order. Please.", 0),
        ] {
            assert_eq!(n_alone(text, "Look up the order."), expected, "{text}");
        }
    }
}
