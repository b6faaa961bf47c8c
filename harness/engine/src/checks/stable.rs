//! Compares the history from request to request: it must stay the same.
//!
//! A provider caches the beginning of a request, and a request with a cached beginning costs a tenth of the
//! price. So a request must begin with the complete content of the accepted request before it, item by item.
//!
//! The faults in a turn may be repaired once: everything that the turn had added may change in the first
//! request after each break in it (the user's stop, the death of the process, a reply that was cut off, a
//! turn that was given up, a write of the store that failed). After that it must stay: a repair with a different result each time is neither
//! idempotent nor deterministic. A late result may replace the invented one. A history that is cut,
//! summarised or rewound on purpose counts as new from then on. So is a history that the system compacts
//! because its context is full.
//!
//! Changes without a cost are ignored: the model's thinking, which providers themselves remove from earlier
//! turns; the boundaries between messages; cache markers; additional text after the user's last message; the
//! system's own last word in a request that would otherwise end with the model's. Everything before that word
//! stays, and so does its place in the cache. The order of the keys in a call's arguments counts.

use std::borrow::Cow;

use super::changed::reports_full;
use super::*;
use brickbat_scenario::history::{Item, result_word};

/// Turns with a break in them.
pub(super) fn broken_turns(evidence: &Evidence<'_>) -> Vec<usize> {
    Story::of(evidence).breaks.into_iter().map(|(turn, _)| turn).collect()
}

/// The accepted requests in the thread. Requests that a run sends after its stop are left out.
pub(super) fn accepted<'a>(evidence: &'a Evidence<'_>) -> impl Iterator<Item = &'a RequestView> {
    let is_taken =
        |request: &&RequestView| matches!(request.kind, RequestKind::Scripted { .. } | RequestKind::Surplus);
    evidence.requests.iter().filter(is_taken).filter(|request| !evidence.came_after_stop(request))
}

/// A position at which a request differs from the one before it.
pub(super) struct StableChange<'a> {
    earlier: &'a RequestView,
    request: &'a RequestView,
    before: &'a Item,
    after: Option<&'a Item>,
    /// True if it is in a part that was repaired before.
    pub(super) is_repaired: bool,
}

/// The first unexcused change between each pair of requests.
pub(super) fn changes<'a>(evidence: &'a Evidence<'_>) -> Vec<StableChange<'a>> {
    let story = Story::of(evidence);
    let requests: Vec<&RequestView> = accepted(evidence).collect();
    let pairs = requests.windows(2).map(|pair| (pair[0], pair[1]));
    pairs.filter_map(|(earlier, later)| change(evidence, &story, earlier, later)).collect()
}

fn change<'a>(
    evidence: &Evidence<'_>,
    story: &Story,
    earlier: &'a RequestView,
    later: &'a RequestView,
) -> Option<StableChange<'a>> {
    let items: Vec<&Item> = compared(evidence, earlier).collect();
    let mut sent = compared(evidence, later);
    let (index, before, after) = items.iter().enumerate().find_map(|(index, before)| {
        let after = sent.next();
        let is_last = index + 1 == items.len();
        let stays = after.is_some_and(|after| is_same(before, after) || (is_last && goes_on(before, after)));
        (!stays).then_some((index, *before, after))
    })?;
    if index + 1 == items.len() && is_passing_word(evidence, &items, later) {
        return None;
    }
    let (from, to) = (story.sent(earlier), story.sent(later));
    let turns = [turn_of(evidence.plan, &items[..=index]), turn_ahead(evidence.plan, &items, index)];
    let is_repairing =
        story.breaks.iter().any(|(broken, at)| turns.contains(&Some(*broken)) && (from..to).contains(at));
    let is_late = match &before.content {
        Content::Result { id, .. } => evidence
            .answered(earlier, id)
            .is_some_and(|key| story.late.iter().any(|(late, at)| *late == key && (from..to).contains(at))),
        _ => false,
    };
    let is_changed = story.changes.iter().any(|(at, until)| *at < to && from <= *until);
    if is_repairing || is_late || is_changed {
        return None;
    }
    // Content from before the break, and a result from after it, are not part of a repair.
    let is_older = |at: usize| {
        let told = evidence.requests.iter().filter(|request| request.kind != RequestKind::Auxiliary);
        told.take_while(|request| story.sent(request) < at)
            .any(|request| compared(evidence, request).nth(index).is_some_and(|item| is_same(item, before)))
    };
    let is_newer = |at: usize| match &before.content {
        Content::Result { id, .. } => evidence
            .answered(earlier, id)
            .is_some_and(|key| story.settled.iter().any(|(settled, then)| *settled == key && *then > at)),
        _ => false,
    };
    let is_repaired = story
        .breaks
        .iter()
        .any(|(broken, at)| turns.contains(&Some(*broken)) && *at < from && !is_older(*at) && !is_newer(*at));
    Some(StableChange { earlier, request: later, before, after, is_repaired })
}

/// True if the last of these items is the system's own word in the user's role, directly after the model's, and
/// the later request does not contain it. Mastra adds "Continue." so that a request does not end with a model
/// turn (mastra-ai/mastra#12800), and does not store it.
fn is_passing_word(evidence: &Evidence<'_>, items: &[&Item], later: &RequestView) -> bool {
    let [.., before, last] = items else { return false };
    let Content::Text { text } = &last.content else { return false };
    let said = evidence.run.trace.events().iter().filter_map(|event| match event {
        Event::Said { text, .. } => Some(text.as_str()),
        _ => None,
    });
    let mut of_user = evidence.plan.turns.iter().map(|turn| turn.user.as_str()).chain(said);
    let is_own = last.role == Role::User && !of_user.any(|words| text.contains(words.trim()));
    is_own && before.role == Role::Assistant && !later.history.items.iter().any(|item| is_same(item, last))
}

/// The events that excuse a change, each with its index in the trace.
pub(super) struct Story {
    /// Breaks: turn and index.
    pub(super) breaks: Vec<(usize, usize)>,
    /// Deliberate changes to the history: the index, and the index up to which a running turn may postpone
    /// the change.
    changes: Vec<(usize, usize)>,
    /// Results: call and index.
    settled: Vec<(CallKey, usize)>,
    /// Results that came after the end of their turn: call and index.
    late: Vec<(CallKey, usize)>,
    sent: Vec<(ExchangeId, usize)>,
}

impl Story {
    pub(super) fn of(evidence: &Evidence<'_>) -> Story {
        let mut story = Story {
            breaks: Vec::new(),
            changes: Vec::new(),
            settled: Vec::new(),
            late: Vec::new(),
            sent: Vec::new(),
        };
        let (mut is_running, mut is_full) = (false, false);
        // The turn in which the store has lost something.
        let mut lost = None;
        for (at, (turn, event)) in evidence.run.trace.by_turn().enumerate() {
            match event {
                Event::Requested { exchange, kind, compacted, .. } => {
                    story.sent.push((*exchange, at));
                    // While the context is full, until something disappears, the system may change its
                    // history before each request, even in ways that do not show.
                    if is_full || *compacted {
                        story.changes.push((at.saturating_sub(1), at));
                    }
                    is_full = (is_full && !compacted) || reports_full(evidence.plan, *kind);
                }
                Event::ToolSettled { call, .. } => {
                    story.settled.push((*call, at));
                    let account = evidence.ledger.calls.get(call.0 as usize);
                    if account.is_some_and(|account| account.settled_late) {
                        story.late.push((*call, at));
                    }
                }
                Event::Prompted { .. } => {
                    is_running = true;
                    // A system that continues in memory may load the thread from its store when the next turn begins.
                    story.breaks.extend(lost.take().map(|turn| (turn, at)));
                }
                Event::Saving { failed: true, .. } => {
                    lost = Some(turn);
                    story.breaks.push((turn, at));
                }
                Event::TurnEnded { outcome } => {
                    is_running = false;
                    story.changes_end(at);
                    if *outcome != TurnOutcome::Returned {
                        story.breaks.push((turn, at));
                    }
                }
                Event::Changed { .. } => story.changes.push((at, if is_running { usize::MAX } else { at })),
                Event::Killed => {
                    is_running = false;
                    story.changes_end(at);
                    // Between two turns nothing is in progress that could break.
                    if evidence.died_in(turn) {
                        story.breaks.push((turn, at));
                    }
                }
                // The end of a connection may be observed after the next turn has begun.
                event if is_break(event) => {
                    let of_request = exchange_of(event).and_then(|exchange| evidence.turn_of(exchange));
                    story.breaks.push((of_request.unwrap_or(turn), at));
                }
                _ => {}
            }
        }
        story
    }

    /// Drops the changes that were postponed in a turn that has ended.
    fn changes_end(&mut self, at: usize) {
        let open = self.changes.iter_mut().filter(|(_, until)| *until == usize::MAX);
        open.for_each(|(_, until)| *until = at);
    }

    pub(super) fn sent(&self, request: &RequestView) -> usize {
        self.sent.iter().find(|(exchange, _)| *exchange == request.exchange).map_or(0, |(_, at)| *at)
    }
}

/// The request of an event.
fn exchange_of(event: &Event) -> Option<ExchangeId> {
    match event {
        Event::PeerClosed { exchange } | Event::Replied { exchange, .. } => Some(*exchange),
        _ => None,
    }
}

fn is_break(event: &Event) -> bool {
    match event {
        Event::Stopped | Event::GaveUp | Event::PeerClosed { .. } => true,
        Event::Replied { ending, .. } => *ending != Ending::Complete,
        _ => false,
    }
}

/// The last turn that has a user message among these items.
fn turn_of(plan: &Plan, items: &[&Item]) -> Option<usize> {
    let mut from = 0;
    let mut found = None;
    for (turn, planned) in plan.turns.iter().enumerate() {
        let words = planned.user.trim();
        let says = |item: &&Item| match &item.content {
            Content::Text { text } => item.role == Role::User && text.contains(words),
            _ => false,
        };
        if let Some(at) = items[from..].iter().position(says) {
            (from, found) = (from + at, Some(turn));
        }
    }
    found
}

/// The turn with its message in the same run of user texts. Text that a system inserts directly before the
/// user's message belongs to the turn of that message.
fn turn_ahead(plan: &Plan, items: &[&Item], index: usize) -> Option<usize> {
    let is_user_text =
        |item: &&&Item| item.role == Role::User && matches!(item.content, Content::Text { .. });
    let n_texts = items[index..].iter().take_while(is_user_text).count();
    turn_of(plan, &items[..index + n_texts])
}

/// The compared items of a request. Thinking is left out. If agents hand over to each other, so are the
/// instructions at the beginning, because each agent has its own.
fn compared<'a>(evidence: &Evidence<'_>, request: &'a RequestView) -> impl Iterator<Item = &'a Item> {
    let hands_over = evidence.plan.tools.iter().any(|tool| tool.hands_over);
    let is_thought = |item: &&Item| matches!(item.content, Content::Thought { .. });
    let items = request.history.items.iter().skip_while(move |item| hands_over && item.role == Role::Other);
    items.filter(move |item| !is_thought(item))
}

fn is_same(before: &Item, after: &Item) -> bool {
    let in_order = match (&before.content, &after.content) {
        (Content::Call { args, .. }, Content::Call { args: now, .. }) => has_same_keys(args, now),
        _ => true,
    };
    before.role == after.role && before.content == after.content && in_order
}

/// True if the keys of two equal values are in the same order.
fn has_same_keys(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            a.iter().zip(b).all(|((key, a), (other, b))| key == other && has_same_keys(a, b))
        }
        (Value::Array(a), Value::Array(b)) => a.iter().zip(b).all(|(a, b)| has_same_keys(a, b)),
        _ => true,
    }
}

/// True if the user's last text is still there, followed by more text.
fn goes_on(before: &Item, after: &Item) -> bool {
    match (&before.content, &after.content) {
        (Content::Text { text }, Content::Text { text: now }) => {
            before.role == Role::User && after.role == Role::User && now.starts_with(text.as_str())
        }
        _ => false,
    }
}

impl StableChange<'_> {
    /// The calls in a change: in the old item and in the new one.
    fn calls(&self, evidence: &Evidence<'_>) -> Vec<CallKey> {
        let after = self.after.and_then(|item| call_of(evidence, self.request, item));
        call_of(evidence, self.earlier, self.before).into_iter().chain(after).collect()
    }

    pub(super) fn finding(&self, evidence: &Evidence<'_>, check: &Check, message: &str) -> Finding {
        let same = self.counterpart(evidence);
        let (at, (expected, got)) = match (same, self.after) {
            (Some(same), Some(after)) if is_same(self.before, same) => {
                let first = in_words(evidence, self.request, after);
                let expected = in_words(evidence, self.earlier, self.before);
                (self.after, (expected, format!("{first} in its place, and the same further on")))
            }
            (Some(same), _) => (Some(same), self.apart(evidence, same)),
            (None, Some(after)) if is_alike(self.before, after) => (self.after, self.apart(evidence, after)),
            (None, _) => {
                let got = match call_of(evidence, self.earlier, self.before) {
                    Some(_) => format!("no {}", naming(evidence, self.earlier, self.before)),
                    None => "nothing like it".to_owned(),
                };
                (self.after, (in_words(evidence, self.earlier, self.before), got))
            }
        };
        let pointer = at.map_or("", |item| item.pointer.as_str());
        Finding {
            message: message.to_owned(),
            expected,
            got,
            ..check.finding(self.request.place(pointer)).of_calls(self.calls(evidence))
        }
    }

    /// The item of the later request about the same thing: the same call, its result, or the same text.
    fn counterpart(&self, evidence: &Evidence<'_>) -> Option<&Item> {
        let key = call_of(evidence, self.earlier, self.before);
        self.request.history.items.iter().find(|item| {
            is_alike(self.before, item)
                && match key {
                    Some(_) => call_of(evidence, self.request, item) == key,
                    None => is_same(self.before, item),
                }
        })
    }

    /// The old item and a new one, in words that differ.
    fn apart(&self, evidence: &Evidence<'_>, after: &Item) -> (String, String) {
        let (old, new) = (text_of(self.before), text_of(after));
        let (old, new) = quoted_apart(&old, &new, MAX_QUOTED);
        let old = phrase(&naming(evidence, self.earlier, self.before), self.before, &old);
        let new = phrase(&naming(evidence, self.request, after), after, &new);
        match old == new {
            true => (format!("{old} {}", marks(self.before)), format!("{new} {}", marks(after))),
            false => (old, new),
        }
    }
}

/// True if both items are of one kind.
fn is_alike(a: &Item, b: &Item) -> bool {
    std::mem::discriminant(&a.content) == std::mem::discriminant(&b.content)
}

/// The maximum number of characters of an item that a finding quotes.
const MAX_QUOTED: usize = 80;

/// A short description of an item.
fn in_words(evidence: &Evidence<'_>, request: &RequestView, item: &Item) -> String {
    let text: String = text_of(item).chars().take(MAX_QUOTED).collect();
    phrase(&naming(evidence, request, item), item, &format!("`{text}`"))
}

fn phrase(name: &str, item: &Item, quoted: &str) -> String {
    let with = if matches!(item.content, Content::Call { .. }) { " with" } else { "" };
    format!("{name}{with} {quoted}")
}

/// The kind of an item, and the call that it is about.
fn naming(evidence: &Evidence<'_>, request: &RequestView, item: &Item) -> String {
    let name = || {
        let key = call_of(evidence, request, item);
        key.map_or_else(|| "?".to_owned(), |key| evidence.call(key).name.clone())
    };
    match &item.content {
        Content::Thought { .. } | Content::Raw { .. } => "raw".to_owned(),
        Content::Text { .. } => "text".to_owned(),
        Content::Call { .. } => format!("call {}", name()),
        Content::Result { is_error, .. } => format!("{} {}", result_word(*is_error), name()),
    }
}

fn text_of(item: &Item) -> Cow<'_, str> {
    match &item.content {
        Content::Thought { value } | Content::Raw { value } => Cow::Owned(value.to_string()),
        Content::Text { text } | Content::Result { text, .. } => Cow::Borrowed(text),
        Content::Call { args, .. } => Cow::Owned(args.to_string()),
    }
}

/// The rest of an item, for two items with the same words.
fn marks(item: &Item) -> String {
    let rest = match &item.content {
        Content::Call { id, .. } => format!("id {id}"),
        Content::Result { id, is_error, .. } => match is_error {
            Some(is_error) => format!("id {id}, error: {is_error}"),
            None => format!("id {id}"),
        },
        Content::Thought { .. } | Content::Text { .. } | Content::Raw { .. } => {
            format!("role {}", item.role.name())
        }
    };
    format!("({rest})")
}

/// The call of an item: the item is the call, or its result. Several calls may share an id, so calls are
/// identified by their position.
fn call_of(evidence: &Evidence<'_>, request: &RequestView, item: &Item) -> Option<CallKey> {
    match &item.content {
        Content::Call { id, .. } => {
            let there = request.calls().find(|call| call.pointer == item.pointer);
            there.map(|call| call.key).or_else(|| evidence.answered(request, id))
        }
        Content::Result { id, .. } => evidence.answered(request, id),
        Content::Text { .. } | Content::Raw { .. } | Content::Thought { .. } => None,
    }
}
