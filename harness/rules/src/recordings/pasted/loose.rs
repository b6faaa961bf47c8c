//! Messages by themselves in a text: one after another in the output of a program, or an excerpt of a conversation.

use std::borrow::Cow;
use std::ops::Range;

use serde_json::Value;

use super::{Context, Search, excerpt, is_request};
use crate::recordings::Exchange;
use crate::recordings::left_out::LeftOut;
use crate::{Dialect, detect, list_of};

/// A message by itself in a text.
pub(super) struct Loose {
    pub(super) line: u64,
    /// The bytes in the text.
    pub(super) span: Range<usize>,
    pub(super) message: Value,
}

impl Search {
    /// Takes messages that a program printed one after another, and single messages, if the text has no request.
    pub(super) fn take_loose(&mut self, text: &str) {
        let loose = std::mem::take(&mut self.loose);
        if !self.found.is_empty() {
            return;
        }
        let groups: Vec<&[Loose]> =
            loose.chunk_by(|before, after| follows(text, &before.span, &after.span)).collect();
        self.taken.extend(loose.iter().map(|loose| loose.span.clone()));
        for group in &groups {
            let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
            let context = Context { line: Some(first.line), ..Context::default() };
            let list: Value = group.iter().map(|loose| loose.message.clone()).collect();
            let has_comma =
                |pair: &[Loose]| text[pair[0].span.end..pair[1].span.start].trim_start().starts_with(',');
            let is_told = excerpt::after_calls(&list).is_some()
                && group.windows(2).any(|pair| has_line(&text[pair[0].span.end..pair[1].span.start]));
            if groups.len() > 1 || group.len() < MIN_LOOSE || group.windows(2).all(has_comma) || is_told {
                self.take_excerpt(&list, group.len(), &context);
                continue;
            }
            let place = format!("lines {} to {}, where messages follow one another", first.line, last.line);
            match self.written_again(&list, &context) {
                Some((request, how)) => self.take_at(&request, format!("{place}{how}"), &context),
                None if is_request(&list) => self.take_at(&list, place, &context),
                None => {}
            }
        }
    }

    /// Takes messages from the middle of a conversation, if they show their dialect.
    pub(super) fn take_excerpt(&mut self, list: &Value, n_messages: usize, context: &Context) {
        let chosen = self.recipient.dialect(&context.address, "", "");
        let written = self.written_again(list, context);
        if written.is_none() && !is_sent(list) {
            return;
        }
        let (request, how) = written.unwrap_or_else(|| (list.clone(), String::new()));
        let shown = detect(request.to_string().as_bytes());
        let named = Some(chosen.dialect).filter(|_| chosen.is_named);
        let is_alike = |dialect: &Dialect| shown.is_none_or(|shown| list_of(shown) == list_of(*dialect));
        let Some(dialect) = named.filter(is_alike).or(shown) else { return };
        let Some(completed) = excerpt::completed(dialect, &request) else { return };
        let (n_before, n_after) = (completed.own.start, completed.n_after());
        let messages = if n_messages == 1 { "message" } else { "messages" };
        let place = format!(
            "line {}, an excerpt of {n_messages} {messages}{how}; {n_before} before it and {n_after} after it were added, so \
             that nothing is reported about what it does not show",
            context.line.unwrap_or(1)
        );
        let left_out = LeftOut::around(completed.own);
        let exchange = Exchange {
            line: context.line.unwrap_or(1),
            request: completed.list.to_string().into_bytes(),
            left_out,
            ..Exchange::default()
        };
        self.take(exchange, place);
    }
}

/// Returns whether a line of words is between two messages: somebody tells what happened, and shows a part of it.
fn has_line(between: &str) -> bool {
    let mut inner = between.split('\n').skip(1).peekable();
    while let Some(line) = inner.next() {
        if inner.peek().is_some() && !line.trim().is_empty() {
            return true;
        }
    }
    false
}

/// Returns whether the messages of a list have only fields that providers know. Products store others beside them.
fn is_sent(list: &Value) -> bool {
    const FIELDS: [&str; 24] = [
        "role",
        "content",
        "name",
        "tool_calls",
        "tool_call_id",
        "function_call",
        "refusal",
        "audio",
        "annotations",
        "reasoning",
        "reasoning_content",
        "reasoning_details",
        "parts",
        "type",
        "id",
        "call_id",
        "arguments",
        "output",
        "status",
        "summary",
        "encrypted_content",
        "phase",
        "prefix",
        "images",
    ];
    let is_known = |name: &String| FIELDS.contains(&name.as_str());
    let mut messages = list.as_array().into_iter().flatten();
    messages.all(|message| message.as_object().is_some_and(|fields| fields.keys().all(is_known)))
}

/// Returns whether one message follows another in a text: directly, after a label, or in the next line of a log, which
/// begins with a time and other words.
fn follows(text: &str, before: &Range<usize>, after: &Range<usize>) -> bool {
    let between = &text[before.end..after.start];
    if between.contains("...") || between.contains('…') {
        return false;
    }
    let ends_line = || text[after.end..].lines().next().is_none_or(|rest| rest.trim().is_empty());
    let is_next_line = || {
        let (rest, start) = between.split_once('\n').unwrap_or(("-", ""));
        rest.trim().is_empty() && !start.contains('\n') && start.len() <= MAX_PREFIX
    };
    between.len() <= MAX_BETWEEN || is_next_line() && ends_line()
}

/// The text without the numbers before the lines of a program in a traceback of IPython, and its arrow.
pub(super) fn without_gutters(text: &str) -> Cow<'_, str> {
    if !text.contains("---> ") {
        return Cow::Borrowed(text);
    }
    let number = |line: &str| {
        let rest = line.trim_start();
        let end = rest.find(|c: char| !c.is_ascii_digit())?;
        (end > 0).then(|| rest[end..].to_owned())
    };
    let lines = text.split('\n').map(|line| {
        let rest = line.trim_start_matches([' ', '-']);
        let Some(rest) = rest.strip_prefix("> ").filter(|_| line.contains("---> ")) else {
            return number(line).unwrap_or_else(|| line.to_owned());
        };
        // An editor makes the number a link.
        let linked = rest.strip_prefix('[').and_then(|rest| Some(rest.split_once(')')?.1.to_owned()));
        linked.or_else(|| number(rest)).unwrap_or_else(|| rest.to_owned())
    });
    Cow::Owned(lines.collect::<Vec<String>>().join("\n"))
}

/// The minimum number of messages that follow one another in a text. One is often an example.
const MIN_LOOSE: usize = 2;

/// The maximum number of bytes between two such messages: a label or a time, and not a sentence.
const MAX_BETWEEN: usize = 80;

/// The maximum number of bytes before a message in a line of a log.
const MAX_PREFIX: usize = 400;
