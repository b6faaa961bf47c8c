//! Results of many recordings: how often our verdict and the provider's agree, and where they differ.

use std::collections::BTreeMap;
use std::fmt::Write;

use hashbrown::HashMap;
use serde_json::{Value, json};

use super::{Agreement, Comparison, Exchange};
use crate::explain::{Collection, RuleCounts};
use crate::{Dialect, Profile};

/// The number of agreements for each profile, and all disagreements, by cause.
#[derive(Debug, Clone, Default)]
pub struct Table {
    rows: BTreeMap<&'static str, ProfileRow>,
    disagreements: Causes,
    /// Rejections for reasons other than the history.
    others: Causes,
    n_no_reply: usize,
    not_spoken: BTreeMap<String, usize>,
    n_unclear: usize,
    /// Counts by host and dialect.
    no_profile: BTreeMap<NoProfile, usize>,
    /// Each rule's counts, by rule id.
    rules: BTreeMap<&'static str, RuleCounts>,
    n_unlisted: usize,
    keeps_requests: bool,
}

/// A host without a profile, and the dialect of the request.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct NoProfile {
    host: String,
    dialect: Dialect,
}

#[derive(Debug, Clone, Default)]
struct ProfileRow {
    n_exchanges: usize,
    n_accepted: usize,
    n_refused: usize,
    n_too_strict: usize,
    n_too_lax: usize,
    n_something_else: usize,
}

/// Disagreements of one kind, each cause once.
#[derive(Debug, Clone, Default)]
struct Causes {
    list: Vec<Disagreement>,
    /// The index of each cause in the list.
    found: HashMap<String, usize>,
}

/// A cause: the first exchange that shows it, and the places of all.
#[derive(Debug, Clone)]
pub(super) struct Disagreement {
    places: Vec<String>,
    /// The number of exchanges.
    pub(super) n: usize,
    pub(super) profile: &'static str,
    /// The first, without its request unless the table keeps requests.
    pub(super) exchange: Exchange,
    pub(super) agreement: Agreement,
}

/// The cause of a disagreement: the profile with the rule, or with the provider's words without the parts that vary.
fn key(profile: &str, agreement: &Agreement, error: &str) -> String {
    match agreement {
        Agreement::TooStrict { rule, .. } | Agreement::Refused { rule } => format!("{profile} {rule}"),
        Agreement::Accepted | Agreement::TooLax | Agreement::SomethingElse => {
            format!("{profile} {}", without_values(error))
        }
    }
}

/// A text without quoted parts, and without words that have a digit, such as ids and places.
fn without_values(error: &str) -> String {
    let mut kept = String::new();
    for (n, part) in error.split(['`', '"', '\'']).enumerate() {
        // Every second part is quoted. An apostrophe only makes the text coarser.
        let words = part.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        for word in words.filter(|word| n % 2 == 0 && !word.contains(|c: char| c.is_ascii_digit())) {
            kept.push_str(word);
            kept.push(' ');
        }
    }
    kept.chars().take(MAX_KEY).collect()
}

/// Maximum number of listed causes. Others are only counted.
const MAX_LISTED: usize = 2_000;

/// Maximum number of listed places of one cause. The others are part of its count.
const MAX_PLACES: usize = 10_000;

/// Number of places of a cause that the text shows after the first.
const N_SHOWN: usize = 5;

/// Maximum number of characters of an error that tell causes apart.
const MAX_KEY: usize = 160;

/// Maximum size in bytes of a request that a table keeps.
const MAX_KEPT: usize = 256 << 10;

impl Table {
    /// Creates a table that keeps the first request of each cause; see [`Table::promoted`].
    pub fn keeping_requests() -> Table {
        Table { keeps_requests: true, ..Table::default() }
    }

    /// Adds an exchange from a file.
    pub fn add(&mut self, file: &str, exchange: &Exchange, compared: Comparison) {
        let (profile, agreement) = match compared {
            Comparison::Judged(profile, agreement) => (profile, agreement),
            Comparison::NoReply => return self.n_no_reply += 1,
            Comparison::NotSpoken(name) => return *self.not_spoken.entry(name).or_default() += 1,
            Comparison::Unclear => return self.n_unclear += 1,
            Comparison::NoProfile(dialect) => return self.add_unknown(exchange, dialect),
        };
        let row = self.rows.entry(profile).or_default();
        row.n_exchanges += 1;
        let list = match agreement {
            Agreement::Accepted => return row.n_accepted += 1,
            Agreement::Refused { rule } => {
                row.n_refused += 1;
                return self.rules.entry(rule).or_default().agreed += 1;
            }
            Agreement::TooStrict { rule, .. } => {
                row.n_too_strict += 1;
                self.rules.entry(rule).or_default().contradicted += 1;
                &mut self.disagreements
            }
            Agreement::TooLax => {
                row.n_too_lax += 1;
                &mut self.disagreements
            }
            Agreement::SomethingElse => {
                row.n_something_else += 1;
                &mut self.others
            }
        };
        let place = format!("{file}:{}", exchange.line);
        let key = key(profile, &agreement, &exchange.error);
        if let Some(known) = list.found.get(&key).and_then(|at| list.list.get_mut(*at)) {
            return known.add(place);
        }
        if list.list.len() >= MAX_LISTED {
            return self.n_unlisted += 1;
        }
        let is_kept = self.keeps_requests && exchange.request.len() <= MAX_KEPT;
        let request = if is_kept { exchange.request.clone() } else { Vec::new() };
        let exchange = Exchange { request, ..exchange.clone() };
        list.found.insert(key, list.list.len());
        list.list.push(Disagreement { places: vec![place], n: 1, profile, exchange, agreement });
    }

    /// Hosts come from the file, so their number is limited.
    fn add_unknown(&mut self, exchange: &Exchange, dialect: Dialect) {
        let is_full = self.no_profile.len() >= MAX_LISTED;
        let host = if is_full { "others".to_owned() } else { exchange.host.clone() };
        *self.no_profile.entry(NoProfile { host, dialect }).or_default() += 1;
    }

    /// Returns the causes of disagreements, in the order in which they were found.
    pub(super) fn disagreements(&self) -> &[Disagreement] {
        &self.disagreements.list
    }

    /// Returns the number of judged exchanges.
    pub fn n_judged(&self) -> usize {
        self.rows.values().map(|row| row.n_exchanges).sum()
    }

    /// Returns the number of all exchanges.
    pub fn n_seen(&self) -> usize {
        self.n_judged()
            + self.n_no_reply
            + self.n_unclear
            + self.not_spoken.values().sum::<usize>()
            + self.no_profile.values().sum::<usize>()
    }

    /// Returns the number of requests that we reject and a provider accepted.
    pub fn n_too_strict(&self) -> usize {
        self.rows.values().map(|row| row.n_too_strict).sum()
    }

    /// Returns the counts of the rules, for storage.
    pub fn counts(&self, source: &str, date: &str) -> Collection {
        let taken = |row: &ProfileRow| row.n_accepted + row.n_too_strict;
        let of_profile = |(name, row): (&&str, &ProfileRow)| ((*name).to_owned(), taken(row));
        let of_rule = |(rule, counts): (&&str, &RuleCounts)| ((*rule).to_owned(), *counts);
        Collection {
            source: source.to_owned(),
            date: date.to_owned(),
            taken: self.rows.iter().map(of_profile).collect(),
            rules: self.rules.iter().map(of_rule).collect(),
        }
    }

    /// Returns the profiles with their dialects, grouped by dialect.
    fn sorted(&self) -> impl Iterator<Item = (&'static Profile, &ProfileRow)> {
        Profile::all().filter_map(|profile| Some((profile, self.rows.get(profile.name)?)))
    }

    /// Formats the table as human-readable text.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for (head, list) in [("", &self.disagreements), ("about something else\n", &self.others)] {
            if !list.list.is_empty() {
                text.push_str(head);
                list.list.iter().for_each(|disagreement| disagreement.write(&mut text));
                text.push('\n');
            }
        }
        if self.n_unlisted > 0 {
            let _ = writeln!(text, "… and {} more\n", self.n_unlisted);
        }
        let width = self.sorted().map(|(profile, _)| profile.name.len()).max().unwrap_or(0).max(7);
        let dialects =
            self.sorted().map(|(profile, _)| profile.dialect.name().len()).max().unwrap_or(0).max(7);
        let _ = writeln!(
            text,
            "{:<dialects$}  {:<width$}  {:>8}  {:>8}  {:>7}  {:>10}  {:>7}  {:>14}",
            "dialect",
            "profile",
            "requests",
            "accepted",
            "refused",
            "too strict",
            "too lax",
            "something else"
        );
        for (profile, row) in self.sorted() {
            let _ = writeln!(
                text,
                "{:<dialects$}  {:<width$}  {:>8}  {:>8}  {:>7}  {:>10}  {:>7}  {:>14}",
                profile.dialect.name(),
                profile.name,
                row.n_exchanges,
                row.n_accepted,
                row.n_refused,
                row.n_too_strict,
                row.n_too_lax,
                row.n_something_else
            );
        }
        if self.n_no_reply > 0 {
            let _ = writeln!(text, "{} requests ask for no reply and were not judged", self.n_no_reply);
        }
        for (name, n) in &self.not_spoken {
            let _ = writeln!(text, "{n} requests are in the dialect {name}, which is not supported");
        }
        for (NoProfile { host, dialect }, n) in &self.no_profile {
            let _ = writeln!(text, "{n} requests in {dialect} to {host}: no profile known, not judged");
        }
        if self.n_unclear > 0 {
            let _ =
                writeln!(text, "{} requests do not show their dialect and were not judged", self.n_unclear);
        }
        // Hosts, models and errors come from the file, and must not move the cursor.
        text.replace(|c: char| !crate::plain::is_plain(c) && c != '\n', "\u{fffd}")
    }

    /// Returns the table as JSON.
    pub fn to_json(&self) -> Value {
        let row = |(profile, row): (&'static Profile, &ProfileRow)| {
            json!({
                "dialect": profile.dialect,
                "profile": profile.name,
                "requests": row.n_exchanges,
                "accepted": row.n_accepted,
                "refused": row.n_refused,
                "too_strict": row.n_too_strict,
                "too_lax": row.n_too_lax,
                "something_else": row.n_something_else,
            })
        };
        let rule = |(rule, row): (&&str, &RuleCounts)| json!({ "rule": rule, "agreed": row.agreed, "contradicted": row.contradicted });
        let no_profile = |(NoProfile { host, dialect }, n): (&NoProfile, &usize)| json!({ "host": host, "dialect": dialect, "requests": n });
        json!({
            "schema": 1,
            "profiles": self.sorted().map(row).collect::<Vec<Value>>(),
            "disagreements": self.disagreements.list.iter().map(Disagreement::to_json).collect::<Vec<Value>>(),
            "something_else": self.others.list.iter().map(Disagreement::to_json).collect::<Vec<Value>>(),
            "unlisted": self.n_unlisted,
            "no_reply": self.n_no_reply,
            "not_spoken": self.not_spoken,
            "no_profile": self.no_profile.iter().map(no_profile).collect::<Vec<Value>>(),
            "unclear": self.n_unclear,
            "rules": self.rules.iter().map(rule).collect::<Vec<Value>>(),
        })
    }
}

impl Disagreement {
    fn add(&mut self, place: String) {
        self.n += 1;
        if self.places.len() < MAX_PLACES {
            self.places.push(place);
        }
    }

    /// The place of the first.
    fn place(&self) -> &str {
        self.places.first().map_or("", String::as_str)
    }

    fn write(&self, text: &mut String) {
        let Exchange { host, status, error, .. } = &self.exchange;
        let model = self.exchange.model().unwrap_or("a model that is not named".into());
        let place = self.place();
        let _ = match &self.agreement {
            Agreement::TooStrict { rule, pointer, message } => writeln!(
                text,
                "{place}: too strict: {host} accepted it ({model}, status {status})\n  {} refuses by {rule} at {pointer}\n  {message}",
                self.profile
            ),
            Agreement::TooLax => writeln!(
                text,
                "{place}: too lax: {host} refused it ({model}, status {status})\n  {} accepts it; the provider said: {error}",
                self.profile
            ),
            _ => writeln!(text, "{place}: {host} refused it ({model}, status {status}): {error}"),
        };
        if self.n > 1 {
            let others: Vec<&str> = self.places.iter().skip(1).take(N_SHOWN).map(String::as_str).collect();
            let more = match self.n - 1 - others.len() {
                0 => String::new(),
                n => format!(" and {n} more"),
            };
            let _ = writeln!(text, "  {} with this cause, also {}{more}", self.n, others.join(", "));
        }
    }

    fn to_json(&self) -> Value {
        let Exchange { host, status, error, line, .. } = &self.exchange;
        let mut value = json!({
            "place": self.place(),
            "count": self.n,
            "places": self.places,
            "line": line,
            "host": host,
            "model": self.exchange.model(),
            "profile": self.profile,
            "status": status,
            "error": error,
        });
        if let Agreement::TooStrict { rule, pointer, message } = &self.agreement {
            value["rule"] = json!(rule);
            value["pointer"] = json!(pointer);
            value["message"] = json!(message);
        }
        value
    }
}
