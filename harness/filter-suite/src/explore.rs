//! Searches for histories that cause new behaviour in a filter, and varies those that do.
//!
//! Behaviour is identified by the failed checks and their causes, or by the answer's shape if no check
//! failed. Varied histories must still be accepted by the provider, so that findings are valid.

use std::collections::BTreeSet;

use brickbat_rules::histories::generate::{Choices, Seeded};
use serde_json::{Value, json};

use crate::inputs::entries;
use crate::yardstick::refusals;
use crate::{Facts, Input, Judged, Outcome, Part, Route, Said, Share, State};

/// The maximum number of histories to vary. The oldest is dropped first.
const MAX_KEPT: usize = 2000;

/// The maximum number of attempts to find a change that the provider accepts.
const MAX_TRIES: usize = 8;

/// The maximum number of entries in a history. A finding in a longer history also occurs in a shorter one.
const MAX_ENTRIES: usize = 40;

/// The state of a search on one route.
#[derive(Debug)]
pub struct Explorer {
    choices: Seeded,
    seed: u64,
    n_made: u64,
    kept: Vec<Input>,
    seen: BTreeSet<String>,
}

impl Explorer {
    /// Creates a search that begins with these histories.
    pub fn new(seed: u64, first: Vec<Input>) -> Explorer {
        Explorer { choices: Seeded::new(seed), seed, n_made: 0, kept: first, seen: BTreeSet::new() }
    }

    /// Returns the next histories to try.
    pub fn next(&mut self, route: &Route<'_>, n: usize) -> Vec<Input> {
        (0..n).map(|_| self.one(route)).collect()
    }

    fn one(&mut self, route: &Route<'_>) -> Input {
        self.n_made += 1;
        let (seed, n) = (self.seed, self.n_made);
        let is_fresh = self.kept.is_empty() || self.choices.below(4) == 0;
        if is_fresh {
            return Input::valid(route.from, seed, n);
        }
        for _ in 0..MAX_TRIES {
            let parent = self.kept[self.choices.below(self.kept.len())].clone();
            let Some(body) = self.changed(&parent) else { continue };
            let accepts =
                Route { profile: brickbat_rules::Profile::newest(route.from), model: None, ..route.clone() };
            if refusals(&accepts, &body).is_empty() {
                let share = [Share::Ample, Share::Half, Share::Third][self.choices.below(3)];
                return Input { id: format!("fuzz:{seed}/{n}"), body, state: State::Valid, share, ..parent };
            }
        }
        Input::valid(route.from, seed, n)
    }

    /// Returns a history with one change.
    fn changed(&mut self, parent: &Input) -> Option<Value> {
        let list = brickbat_rules::list_of(parent.dialect);
        let mut all = parent.entries().to_vec();
        if all.is_empty() {
            return None;
        }
        let at = self.choices.below(all.len());
        match self.choices.below(7) {
            0 => _ = all.remove(at),
            1 => all.insert(at, all[at].clone()),
            2 => {
                let other = self.choices.below(all.len());
                all.swap(at, other);
            }
            3 => {
                // Copies a range of another history.
                let other = self.kept[self.choices.below(self.kept.len())].entries().to_vec();
                let from = self.choices.below(other.len());
                let n = 1 + self.choices.below(other.len() - from);
                let stretch = other.into_iter().skip(from).take(n);
                all.splice(at..at, stretch);
            }
            4 => all.truncate(at + 1),
            5 => self.change_blocks(&mut all[at])?,
            _ => self.change_text(&mut all[at])?,
        }
        all.truncate(MAX_ENTRIES);
        let mut body = parent.body.clone();
        body[list] = Value::Array(all);
        (body != parent.body).then_some(body)
    }

    fn change_blocks(&mut self, entry: &mut Value) -> Option<()> {
        let key = ["content", "parts", "tool_calls"].into_iter().find(|key| entry[*key].is_array())?;
        let blocks = entry[key].as_array_mut()?;
        let at = self.choices.below(blocks.len());
        let block = blocks.get(at)?.clone();
        match self.choices.below(3) {
            0 => _ = blocks.remove(at),
            1 => blocks.insert(at, block),
            _ => {
                let other = self.choices.below(blocks.len());
                blocks.swap(at, other);
            }
        }
        Some(())
    }

    fn change_text(&mut self, value: &mut Value) -> Option<()> {
        let odd = ODD[self.choices.below(ODD.len())];
        let mut places = Vec::new();
        texts(value, String::new(), &mut places);
        let place = places.get(self.choices.below(places.len()))?;
        *value.pointer_mut(place)? = json!(odd);
        Some(())
    }

    /// Records the result of a history. Returns whether its behaviour is new.
    pub fn learn(&mut self, route: &Route<'_>, input: &Input, judged: &Judged) -> bool {
        let is_new = self.seen.insert(signature(route, judged));
        if is_new && input.state == State::Valid {
            if self.kept.len() >= MAX_KEPT {
                self.kept.remove(0);
            }
            self.kept.push(input.clone());
        }
        is_new
    }

    /// Returns the number of different behaviours.
    pub fn n_seen(&self) -> usize {
        self.seen.len()
    }
}

/// Legal texts that often cause errors.
const ODD: [&str; 8] = ["", " ", "\n", "{}", "null", "\u{0}", "é😀", "Error: none"];

/// Collects the pointers of texts without a fixed format.
fn texts(value: &Value, at: String, found: &mut Vec<String>) {
    match value {
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(n, item)| texts(item, format!("{at}/{n}"), found));
        }
        Value::Object(fields) => {
            for (key, value) in fields {
                let is_words = ["content", "text", "output", "thinking", "arguments"].contains(&key.as_str());
                match value {
                    Value::String(_) if is_words => found.push(format!("{at}/{key}")),
                    value => texts(value, format!("{at}/{key}"), found),
                }
            }
        }
        _ => {}
    }
}

/// Identifies a behaviour by its findings, or by the shape of the answer.
fn signature(route: &Route<'_>, judged: &Judged) -> String {
    let causes: BTreeSet<String> =
        judged.outcome.findings().iter().map(|found| format!("{} {}", found.check, found.cause)).collect();
    if !causes.is_empty() {
        return causes.into_iter().collect::<Vec<_>>().join(";");
    }
    match (&judged.outcome, &judged.said) {
        (Outcome::NotPut(why), _) => format!("not put {why}"),
        (Outcome::Unsupported(why), _) => format!("unsupported {why}"),
        (_, Some(Said::Request { body, .. })) => shape(body, route),
        _ => "no answer".to_owned(),
    }
}

/// Describes the part kinds as pairs of neighbours.
fn shape(body: &Value, route: &Route<'_>) -> String {
    let facts = Facts::of(body, route.to);
    let kind = |part: &Part| match part {
        Part::User(text) if text.trim().is_empty() => "user-blank",
        Part::User(_) => "user",
        Part::Reply(text) if text.trim().is_empty() => "reply-blank",
        Part::Reply(_) => "reply",
        Part::Thought { signature: Some(_), .. } => "thought-signed",
        Part::Thought { .. } => "thought",
        Part::Call(_) => "call",
        Part::Result(result) if result.is_error => "error",
        Part::Result(result) if result.text.is_empty() => "result-empty",
        Part::Result(_) => "result",
        Part::Picture(_) => "picture",
        Part::Other(_) => "other",
    };
    let kinds: Vec<&str> = facts.parts.iter().map(kind).collect();
    let pairs: BTreeSet<String> = kinds.windows(2).map(|pair| pair.join(">")).collect();
    format!("{} {}", entries(body, route.to).len().min(3), pairs.into_iter().collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{judge, planted};

    /// The number of rounds in a search, and the number of histories in each.
    const ROUNDS: usize = 6;
    const AT_ONCE: usize = 25;

    #[test]
    fn a_search_finds_bugs_that_need_an_odd_text_and_is_reproducible() {
        let own = planted::named("planted/null-for-nothing").unwrap();
        let modes = (own.modes)();
        let routes = modes[0].routes();
        let search = || {
            let mut filter = (own.filter)();
            let mut explorer = Explorer::new(3, Vec::new());
            let mut found = BTreeSet::new();
            for _ in 0..ROUNDS {
                let inputs = explorer.next(&routes[0], AT_ONCE);
                let judged = judge(filter.as_mut(), &routes[0], None, &inputs).unwrap();
                for (input, judged) in inputs.iter().zip(&judged) {
                    explorer.learn(&routes[0], input, judged);
                    found.extend(judged.outcome.findings().iter().map(|found| found.cause.clone()));
                }
            }
            (found, explorer.n_seen())
        };
        let (found, n_seen) = search();
        assert_eq!(found.iter().map(String::as_str).collect::<Vec<_>>(), ["openai-chat/content-null"]);
        assert!(n_seen > 10, "{n_seen}");
        assert_eq!(search(), (found, n_seen));
    }
}
