//! Inputs for filters: valid vectors, generated conversations, broken ones that can be repaired, and long
//! ones.

use brickbat_rules::histories::generate::{Choices, Fault, Outline, Seeded};
use brickbat_rules::histories::{Message, Role, render};
use brickbat_rules::lint::{Expectation, VectorFile};
use brickbat_rules::{Dialect, list_of};
use serde_json::Value;

use crate::{Budget, Kind, Route};

/// A history for a filter.
#[derive(Debug, Clone, PartialEq)]
pub struct Input {
    /// Its origin, such as `seed:7/12` or the name of a vector.
    pub id: String,
    /// The dialect of the body.
    pub dialect: Dialect,
    /// The request body.
    pub body: Value,
    /// Valid, or with a known fault.
    pub state: State,
    /// The share that a budget leaves.
    pub share: Share,
}

/// The validity of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Its provider accepts it.
    Valid,
    /// Its provider rejects it because of this fault, and it can be repaired.
    Mendable(Fault),
}

/// The share of a history that a budget leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Share {
    /// More than the history needs.
    Ample,
    /// Half.
    Half,
    /// A third.
    Third,
}

impl Share {
    fn numbered(n: u64) -> Share {
        [Share::Ample, Share::Half, Share::Third][(n % 3) as usize]
    }
}

/// The file of vectors with undocumented forms that providers accept.
const BEYOND_DOCUMENTS: &str = "accepted-shapes";

/// The flag for vectors with invented part types. The rules let them pass, but no SDK needs to support them.
const UNHEARD_OF: &str = "unheard-of";

/// Minimum and maximum number of turns in a long history.
const LONG: (usize, usize) = (4, 9);

impl Input {
    /// Returns the valid vectors for a route. Vectors that need an earlier reply, or a profile different from
    /// the route's, are left out.
    pub fn of_vectors<'f>(
        files: impl IntoIterator<Item = (&'f str, &'f VectorFile)>,
        route: &Route<'_>,
    ) -> Vec<Input> {
        let dialect = route.from;
        let mut inputs = Vec::new();
        // SDKs need not support undocumented forms that a provider accepts.
        for (name, file) in files.into_iter().filter(|(name, _)| *name != BEYOND_DOCUMENTS) {
            for vector in &file.vectors {
                let names = [route.profile.name, route.profile.undated()];
                let is_ours = vector.profile.as_deref().is_none_or(|profile| names.contains(&profile));
                let is_plain = is_ours && vector.earlier.is_none() && !vector.flags.contains(UNHEARD_OF);
                if let (Some(body), Expectation::Valid, true) = (&vector.request, vector.result, is_plain) {
                    let share = Share::numbered(inputs.len() as u64);
                    let id = format!("{name}/{}", vector.name);
                    inputs.push(Input { id, dialect, body: body.clone(), state: State::Valid, share });
                }
            }
        }
        inputs
    }

    /// Returns valid conversation number `n`.
    pub fn valid(dialect: Dialect, seed: u64, n: u64) -> Input {
        let outline = Outline::valid(dialect, &mut choices(seed, n));
        let body = outline.history().request().body;
        Input {
            id: format!("seed:{seed}/{n}"),
            dialect,
            body,
            state: State::Valid,
            share: Share::numbered(n),
        }
    }

    /// Returns conversation number `n` with this fault.
    pub fn mendable(dialect: Dialect, fault: Fault, seed: u64, n: u64) -> Input {
        let outline = Outline::with_fault(dialect, fault, &mut choices(seed, n));
        let body = outline.history().request().body;
        let id = format!("seed:{seed}/{}/{n}", fault.name());
        Input { id, dialect, body, state: State::Mendable(fault), share: Share::Ample }
    }

    /// Returns conversation number `n` that cannot be repaired.
    pub fn broken(dialect: Dialect, seed: u64, n: u64) -> Value {
        Outline::broken(dialect, &mut choices(seed, n)).history().request().body
    }

    /// Returns long conversation number `n`.
    pub fn long(dialect: Dialect, seed: u64, n: u64) -> Input {
        let mut choices = choices(seed ^ LONG_SALT, n);
        let n_parts = LONG.0 + choices.below(LONG.1 - LONG.0 + 1);
        let mut messages: Vec<Message> = Vec::new();
        let mut model = "";
        for part in 0..n_parts {
            let history = Outline::valid(dialect, &mut choices).history();
            model = history.model;
            let is_later = |message: &Message| part == 0 || message.role != Role::System;
            messages.extend(history.messages.into_iter().filter(is_later));
            // An interrupted turn gets a reply, so that the next turn may begin.
            if messages.last().is_some_and(|last| last.role != Role::Assistant) {
                messages.push(Message::text(Role::Assistant, format!("That was part {part}.")));
            }
        }
        messages.push(Message::text(Role::User, "Go on."));
        let body = render(dialect, Some(model), &messages).body;
        let id = format!("seed:{seed}/long/{n}");
        Input { id, dialect, body, state: State::Valid, share: Share::numbered(n + 1) }
    }

    /// Returns all inputs for a route: the vectors, and `n` histories of each kind that the route can use.
    pub fn for_route(
        route: &Route<'_>,
        vectors: Vec<Input>,
        seed: u64,
        n: u64,
    ) -> impl Iterator<Item = Input> + use<> {
        let from = route.from;
        let faults: Vec<Fault> =
            route.mode.faults().into_iter().filter(|fault| fault.is_refused_by(from)).collect();
        let n_mendable = if faults.is_empty() || route.is_foreign() { 0 } else { n };
        let n_long = if matches!(route.mode.kind, Kind::Trimmer | Kind::Compactor) { n / 2 } else { 0 };
        let valid = (0..n).map(move |n| Input::valid(from, seed, n));
        let mendable = (0..n_mendable).map(move |n| {
            let fault = faults[(n % faults.len() as u64) as usize];
            Input::mendable(from, fault, seed, n)
        });
        let long = (0..n_long).map(move |n| Input::long(from, seed, n));
        vectors.into_iter().chain(valid).chain(mendable).chain(long)
    }

    /// Returns the entries of the body's list.
    pub fn entries(&self) -> &[Value] {
        entries(&self.body, self.dialect)
    }

    /// Returns whether there is a user message, and so a turn to keep.
    pub(crate) fn has_turn(&self) -> bool {
        let is_of_user = |entry: &Value| match role(entry) {
            "" => self.dialect.codec().may_lack_role,
            role => role.eq_ignore_ascii_case("user"),
        };
        self.entries().iter().any(|entry| is_of_user(entry) && !answers(entry))
    }

    /// Returns the maximum size of the output. It always leaves room for the instructions and the last
    /// turn.
    pub fn budget(&self, route: &Route<'_>) -> Option<(Budget, u64)> {
        let entries = self.entries();
        let is_system = |entry: &&Value| matches!(role(entry), "system" | "developer");
        let begins = |entry: &Value| role(entry) == "user" && !answers(entry);
        let mut last_turn = entries.iter().rposition(begins).unwrap_or(0);
        // Consecutive messages of the user belong to one turn.
        while last_turn > 0 && begins(&entries[last_turn - 1]) {
            last_turn -= 1;
        }
        let needed = &entries[last_turn..];
        let left = |whole: u64| match self.share {
            Share::Ample => 4 * whole + AMPLE,
            Share::Half => whole / 2,
            Share::Third => whole / 3,
        };
        let size =
            |entries: &[Value]| entries.iter().map(|entry| entry.to_string().len() as u64).sum::<u64>();
        match route.mode.budget {
            Budget::None => None,
            Budget::Messages => {
                let n_system = entries.iter().filter(is_system).count() as u64;
                let whole = entries.len() as u64 - n_system;
                Some((Budget::Messages, left(whole).max(needed.len() as u64) + n_system))
            }
            Budget::Tokens => {
                let system = size(&entries.iter().filter(is_system).cloned().collect::<Vec<_>>());
                let room = (size(needed) + system) / BYTES_OF_TOKEN_AT_LEAST
                    + TOKENS_AROUND * needed.len() as u64
                    + TOKENS_OF_PICTURE * n_pictures(needed);
                Some((Budget::Tokens, left(size(entries) / BYTES_OF_TOKEN).max(room)))
            }
        }
    }
}

/// The additional budget that makes it ample even for an empty history.
const AMPLE: u64 = 1_000_000;

/// The approximate number of JSON bytes per token; the next constant is for the strictest counters.
const BYTES_OF_TOKEN: u64 = 4;
const BYTES_OF_TOKEN_AT_LEAST: u64 = 2;

/// The number of tokens that counters add per message.
const TOKENS_AROUND: u64 = 8;

/// The maximum number of tokens that counters assume per image.
const TOKENS_OF_PICTURE: u64 = 2000;

fn n_pictures(entries: &[Value]) -> u64 {
    let kinds = ["\"image\"", "\"image_url\"", "\"input_image\"", "\"inlineData\""];
    let text: String = entries.iter().map(Value::to_string).collect();
    kinds.iter().map(|kind| text.matches(kind).count() as u64).sum()
}

/// The salt for long histories, so that they do not consist of those of [`Input::valid`].
const LONG_SALT: u64 = 0x6c6f_6e67;

/// Numbers from one seed must not be consecutive.
fn choices(seed: u64, n: u64) -> Seeded {
    let first = Seeded::new(seed).number();
    Seeded::new(first ^ n.wrapping_mul(0x2545_f491_4f6c_dd1d))
}

/// Returns the entries of a body's list.
pub(crate) fn entries(body: &Value, dialect: Dialect) -> &[Value] {
    let list = if body.is_array() { Some(body) } else { body.get(list_of(dialect)) };
    list.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn role(entry: &Value) -> &str {
    entry.get("role").and_then(Value::as_str).unwrap_or_default()
}

/// Returns whether an entry has results, so that it does not begin a turn.
pub(crate) fn answers(entry: &Value) -> bool {
    let blocks = ["content", "parts"].iter().find_map(|key| entry.get(key)?.as_array());
    let is_result = |block: &Value| {
        block.get("type").and_then(Value::as_str) == Some("tool_result")
            || block.get("toolResult").is_some()
            || block.get("functionResponse").is_some()
    };
    blocks.is_some_and(|blocks| blocks.iter().any(is_result))
}

/// Returns the number of messages in a body that count towards a budget.
pub(crate) fn counted(body: &Value, dialect: Dialect) -> u64 {
    let counts = |entry: &&Value| !matches!(role(entry), "system" | "developer");
    entries(body, dialect).iter().filter(counts).count() as u64
}
