//! The text report on sessions.

use std::collections::BTreeMap;
use std::fmt::Write;

use brickbat_rules::Profile;

use super::{Examined, at, companion, shown};
use crate::product::PerFile;
use crate::{Edit, Foreign, Message, Product, Refusal, Trouble, Verdict, plan, store_of};

/// Maximum number of refusals listed per session. The provider reports only the first; the others help to
/// find the cause.
const MAX_LISTED: usize = 20;

/// A survey of sessions: one line for each product and version, and one for each session that needs
/// attention.
#[derive(Debug, Clone, Default)]
pub struct Survey {
    by_product: BTreeMap<String, Tally>,
    lines: Vec<String>,
}

#[derive(Debug, Clone, Default)]
struct Tally {
    versions: Vec<String>,
    verdicts: BTreeMap<Verdict, usize>,
    n_troubles: usize,
}

impl Survey {
    /// Adds a session.
    pub fn add(&mut self, examined: &Examined) {
        let tally = self.by_product.entry(examined.session.writer()).or_default();
        if let Some(version) = shown::version(&examined.session)
            && !tally.versions.iter().any(|known| known == version)
        {
            tally.versions.push(version.to_owned());
        }
        *tally.verdicts.entry(examined.judgement.verdict).or_default() += 1;
        let is_unread = |trouble: &&Trouble| trouble.loses.is_some();
        tally.n_troubles += examined.session.troubles.iter().filter(is_unread).count();
        if matches!(
            examined.judgement.verdict,
            Verdict::Refused | Verdict::Unreadable | Verdict::Cut | Verdict::Undecided | Verdict::Incomplete
        ) {
            let name = name(examined);
            let why = reasons(examined).first().map(|refusal| format!("  {}", rule_of(refusal)));
            let why = why.or_else(|| cut(examined));
            let shown = examined.judgement.verdict.shown();
            self.lines.push(format!("  {shown}  {name}{}", why.unwrap_or_default()));
        }
    }

    /// The text of the survey.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (product, tally) in &self.by_product {
            let n: usize = tally.verdicts.values().sum();
            let mut versions = tally.versions.clone();
            versions.sort_by_key(|version| numbers(version));
            let versions = match (versions.first(), versions.last()) {
                (Some(first), Some(last)) if first != last => format!(" {first}–{last}"),
                (Some(one), _) => format!(" {one}"),
                _ => String::new(),
            };
            let verdicts: Vec<String> =
                tally.verdicts.iter().map(|(verdict, n)| format!("{n} {}", verdict.shown())).collect();
            let _ = write!(text, "{} of {product}{versions}: {}.", sessions(n), verdicts.join(", "));
            if tally.n_troubles > 0 {
                let _ = write!(text, " {} cannot be read.", lines(tally.n_troubles));
            }
            text.push('\n');
        }
        for line in &self.lines {
            text.push_str(line);
            text.push('\n');
        }
        text
    }
}

/// One session as one line: name, size and verdict.
pub fn line(examined: &Examined) -> String {
    let verdict = examined.judgement.verdict.shown();
    let why = reasons(examined).first();
    let why = why.map(|refusal| {
        let place = refusal.place.as_ref().map(|place| format!(" at {}", at(place, &examined.companions)));
        let place = place.unwrap_or_default();
        format!("  {}{place}", rule_of(refusal))
    });
    let is_changed = !examined.judgement.sent.mended.is_empty();
    let changed = is_changed.then(|| "  after changes by the product".to_owned());
    let why = why.or_else(|| cut(examined)).or(changed).unwrap_or_default();
    format!("{}  {} messages  {verdict}{why}\n", name(examined), examined.session.messages.len())
}

/// One session in detail: its facts, its verdict, and each rejected place.
pub fn detail(examined: &Examined) -> String {
    let Examined { companions, session, judgement, .. } = examined;
    let version = shown::version(session).map(|version| format!(" {version}")).unwrap_or_default();
    let mut text = format!(
        "{}{version}, {}: {} records, {} messages on the branch ({})",
        session.writer(),
        session.generation,
        session.n_records,
        session.messages.len(),
        session.branch
    );
    for (n, what) in [
        (session.n_compactions, "compactions"),
        (session.n_forks, "forks"),
        (session.off_branch.len(), "messages off it"),
    ] {
        if n > 0 {
            let _ = write!(text, ", {n} {what}");
        }
    }
    text.push_str(".\n");
    let assumed = if judgement.is_assumed { " (assumed: the store does not show the provider)" } else { "" };
    let _ = writeln!(text, "Judged by {}{assumed}.", judgement.profile.name);
    for (words, n) in &judgement.sent.mended {
        let name = session.fork.map_or_else(|| session.product.to_string(), str::to_owned);
        let _ = writeln!(text, "{name} {words} when it sends ({n}).");
    }
    text.push_str(&modelled(examined));
    let mut troubles: Vec<(String, usize)> = Vec::new();
    let stop = judgement.sent.gives_up.as_ref();
    // The refusal below reports the trouble that stops the product.
    let is_listed = |trouble: &&Trouble| stop.is_none_or(|(words, _)| *words != trouble.words);
    for trouble in session.troubles.iter().filter(is_listed) {
        let line = format!("{}: {}", at(&trouble.place, companions), trouble.words);
        match troubles.last_mut().filter(|(before, _)| *before == line) {
            Some((_, n)) => *n += 1,
            None => troubles.push((line, 1)),
        }
    }
    for (line, n) in troubles {
        let times = if n > 1 { format!(" ({n} times)") } else { String::new() };
        let _ = writeln!(text, "{line}{times}");
    }
    if let Some(recorded) = &judgement.recorded {
        let at = at(&recorded.place, companions);
        let _ = writeln!(text, "{at}: the last request was refused: {}", recorded.rule.id);
    }
    if !session.unknown.is_empty() {
        let _ = writeln!(text, "Skipped, unknown: {}.", session.unknown.join(", "));
    }
    match judgement.verdict {
        Verdict::Refused => {}
        Verdict::OpenTail => {
            for place in session.open_calls() {
                let _ = writeln!(
                    text,
                    "{}  {}  this call has no result; {} deals with it when it continues",
                    judgement.verdict.shown(),
                    at(place, companions),
                    session.product
                );
            }
        }
        verdict => {
            let _ = writeln!(text, "{}", verdict.shown());
        }
    }
    text.push_str(&not_understood(&session.foreign));
    text.push_str(&warnings(examined));
    for place in judgement.unparsable_arguments().into_iter().take(MAX_LISTED) {
        let _ = writeln!(
            text,
            "warning  {}  openai-chat/arguments-not-json\n  The arguments of this call are not JSON. {} accepts them; vLLM, \
             SGLang, llama.cpp and others that parse them refuse the request.",
            at(place, companions),
            judgement.profile.name
        );
    }
    for refusal in judgement.refusals.iter().take(MAX_LISTED) {
        let place = placed(refusal, companions);
        let _ = writeln!(text, "{}  {place}  {}", Verdict::Refused.shown(), rule_of(refusal));
        let _ = writeln!(text, "  {}", shown::reason(refusal, session));
    }
    for refusal in judgement.by_later_models.iter().take(MAX_LISTED) {
        let place = placed(refusal, companions);
        let models = refusal.rule.and_then(|rule| rule.models()).unwrap_or("later models");
        let _ = writeln!(text, "  {place}  {} applies to: {models}", rule_of(refusal));
        let _ = writeln!(text, "  {}", shown::reason(refusal, session));
    }
    if judgement.verdict == Verdict::Undecided {
        let _ = writeln!(text, "  The store does not show which model is asked: name it with --model.");
    }
    if judgement.refusals.len() > MAX_LISTED {
        let _ = writeln!(text, "… and {} more.", judgement.refusals.len() - MAX_LISTED);
    }
    let is_mendable = session.cut.as_ref().is_some_and(|cut| cut.parent.is_some());
    if judgement.verdict == Verdict::Refused || judgement.verdict == Verdict::Cut && is_mendable {
        text.push_str(&advice(examined));
    }
    text
}

/// The fields that were not understood, and the products with stores like the file.
fn not_understood(foreign: &Foreign) -> String {
    if foreign.keys.is_empty() {
        return String::new();
    }
    let keys: Vec<String> = foreign.keys.iter().map(|key| format!("`{key}`")).collect();
    let mut text =
        format!("Not understood: {}. Calls and results in these fields are not judged.\n", keys.join(", "));
    if !foreign.near.is_empty() {
        let near: Vec<String> = foreign.near.iter().map(ToString::to_string).collect();
        let _ = writeln!(text, "Products with similar stores: {}.", near.join("; "));
    }
    text
}

/// A line for each rule that other servers apply and this provider does not, at its first place.
fn warnings(examined: &Examined) -> String {
    let Examined { companions, session, judgement, .. } = examined;
    let mut text = String::new();
    for (n, warning) in judgement.warnings.iter().enumerate() {
        let same = |other: &&Refusal| rule_of(other) == rule_of(warning);
        if judgement.warnings[..n].iter().any(|other| same(&other)) {
            continue;
        }
        let times = judgement.warnings.iter().filter(same).count();
        let times = if times > 1 { format!(" ({times} times)") } else { String::new() };
        let _ = writeln!(
            text,
            "warning  {}  {}{times}\n  {}\n  {} accepts it; older or stricter servers do not.",
            placed(warning, companions),
            rule_of(warning),
            warning.rule.map_or_else(|| shown::reason(warning, session), |rule| rule.why.to_owned()),
            judgement.profile.name
        );
    }
    text
}

/// The versions that the send models follow; empty if the source that was read shows none. The stores of these products show
/// no version, or an older one.
const MODELLED: [(Product, &str); 11] = [
    (Product::Cline, "0.0.86 of @cline/core"),
    (Product::Hermes, "0.19.0"),
    (Product::KimiCode, ""),
    (Product::OpenWebui, "0.11.1"),
    (Product::OpenaiAgents, "0.24.0"),
    (Product::Opencode, "1.18.33"),
    (Product::Pi, "0.74.2"),
    (Product::PydanticAi, "1.44.0"),
    (Product::QwenCode, "0.15.10"),
    (Product::Strands, "1.62.0"),
    (Product::Tanstack, "0.58.0"),
];

/// The versions of forks that have a send model of their own.
const MODELLED_FORKS: [(&str, &str); 1] = [("oh-my-pi", "18.3.4")];

/// Says which version makes the changes, if an older one may have written the store.
fn modelled(examined: &Examined) -> String {
    let Examined { session, judgement, .. } = examined;
    let Some((_, version)) = MODELLED.iter().find(|(product, _)| *product == session.product) else {
        return String::new();
    };
    let of_fork = session.fork.and_then(|fork| MODELLED_FORKS.iter().find(|(name, _)| *name == fork));
    let version = of_fork.map_or(version, |(_, version)| version);
    let of_digits = version.split(' ').next().unwrap_or_default();
    let is_older = session.version.as_deref().is_none_or(|own| numbers(own) < numbers(of_digits));
    match (session.fork, is_older) {
        _ if judgement.sent.mended.is_empty() => String::new(),
        // A fork counts its own versions.
        (Some(fork), _) if of_fork.is_none() => format!(
            "That is what {} {version} does; {fork} may send the session as it is stored if it is based on an older one.\n",
            session.product
        ),
        (_, false) => String::new(),
        (_, true) if version.is_empty() => {
            "That is what a recent version does; an older one may send the session as it is stored.\n"
                .to_owned()
        }
        (_, true) => format!(
            "That is what version {version} does; an older one may send the session as it is stored.\n"
        ),
    }
}

/// The command that repairs a session, or the reason why none does.
fn advice(examined: &Examined) -> String {
    let (name, product) = (name(examined), examined.session.product);
    let other = store_of(product).and_then(|store| store.another_way(&examined.session));
    let other = other.map(|words| format!("  {words}\n")).unwrap_or_default();
    other
        + &match store_of(product).is_none_or(|store| store.is_written(&examined.session)) {
            // A request does not help if the product sends none.
            false if examined.judgement.sent.gives_up.is_some() => {
                format!("  Brickbat reads the sessions of {product} and does not write them.\n")
            }
            true => format!("  brickbat repair {name}\n"),
            false => format!(
                "{}  Brickbat reads the sessions of {product} and does not write them. It can repair the next request:\n  \
             brickbat session {name} --request > body.json\n  brickbat check --fix{} body.json\n",
                by_hand(examined),
                as_judged(examined.judgement.profile)
            ),
        }
}

/// The option with which `check` judges as the session was judged. The body alone does not show its host.
fn as_judged(profile: &Profile) -> String {
    let newest = |known: &Profile| known.name == profile.name;
    match Profile::newest_of_each_name(profile.dialect).any(newest) {
        _ if newest(Profile::newest(profile.dialect)) => String::new(),
        true => format!(" --profile {}", profile.undated()),
        false => format!(" --profile {}", profile.name),
    }
}

/// The deletions in the store after which the provider accepts the session, if deletions are enough, as lines.
fn by_hand(examined: &Examined) -> String {
    let Examined { companions, session, judgement, .. } = examined;
    let sent = &judgement.sent.messages;
    let edits = plan(sent, &[]);
    let lines: Option<Vec<String>> =
        edits.iter().map(|planned| deletion(session.product, &planned.edit, sent, companions)).collect();
    let twice = "tool-result-duplicate";
    let is_twice = |refusal: &Refusal| refusal.rule.is_some_and(|rule| rule.short_name() == twice);
    match lines.unwrap_or_default().as_slice() {
        [] if judgement.refusals.iter().any(is_twice) => {
            "  A call has two results, and only one can stay: delete this one or the one before it in the store.\n".to_owned()
        }
        [] => String::new(),
        lines => format!("  In the store itself, it helps to {}.\n", lines.join(", and to ")),
    }
}

/// The deletion of a whole message. `None` if an edit is another one.
fn deletion(product: Product, edit: &Edit, sent: &[Message], companions: &[String]) -> Option<String> {
    let Edit::Drop { block } = edit else { return None };
    let message =
        sent.iter().find(|message| matches!(message.blocks.as_slice(), [only] if only.place == *block))?;
    let place = &message.place;
    if let Some(row) = &place.row {
        // n8n's rows are in PostgreSQL, which has no `rowid`.
        let id = if product == Product::N8n { "id" } else { "rowid" };
        return Some(format!("run `DELETE FROM {} WHERE {id} = {};`", row.table, row.id));
    }
    if let Some(file) = companion(place, companions) {
        return Some(format!("move the file {file} elsewhere"));
    }
    match place.line {
        Some(line) => Some(format!("delete line {line}")),
        None => {
            let item = place.pointer.strip_suffix("/message").unwrap_or(&place.pointer);
            let list = store_of(product).and_then(|store| store.referrer(place));
            let list = list.map(|list| format!(" and its id in {list}")).unwrap_or_default();
            (!item.is_empty()).then(|| format!("delete {item}{list}"))
        }
    }
}

/// The place of a rejection in the store, or otherwise in the request.
fn placed(refusal: &Refusal, companions: &[String]) -> String {
    refusal.place.as_ref().map_or_else(|| refusal.pointer.clone(), |place| at(place, companions))
}

/// The reasons for which a session is rejected, or may be.
fn reasons(examined: &Examined) -> &[Refusal] {
    match examined.judgement.verdict {
        Verdict::Undecided => &examined.judgement.by_later_models,
        _ => &examined.judgement.refusals,
    }
}

/// Describes what is missing from a cut branch.
fn cut(examined: &Examined) -> Option<String> {
    let is_cut = examined.judgement.verdict == Verdict::Cut;
    let cut = examined.session.cut.as_ref().filter(|_| is_cut)?;
    Some(format!("  at {}: everything before it is not sent", at(&cut.place, &examined.companions)))
}

fn rule_of(refusal: &Refusal) -> &'static str {
    refusal.rule.map_or("the product gives up", |rule| rule.id)
}

fn name(examined: &Examined) -> String {
    let Examined { file, n, session, .. } = examined;
    match session.product.per_file() {
        PerFile::Many => format!("{file}#{}", shown::address(*n, session.id.as_deref())),
        PerFile::One => file.clone(),
    }
}

fn sessions(n: usize) -> String {
    if n == 1 { "1 session".to_owned() } else { format!("{n} sessions") }
}

fn lines(n: usize) -> String {
    if n == 1 { "1 place".to_owned() } else { format!("{n} places") }
}

/// The numbers of a version, so that 1.10 sorts after 1.9.
fn numbers(version: &str) -> Vec<u64> {
    version.split(|c: char| !c.is_ascii_digit()).filter_map(|word| word.parse().ok()).collect()
}
