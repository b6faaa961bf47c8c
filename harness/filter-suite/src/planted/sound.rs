//! Correct filters: one that changes nothing, our own repair, and one of each other kind.

use std::collections::BTreeMap;

use brickbat_rules::histories::generate::DIALECTS;
use brickbat_rules::{Dialect, Profile};
use brickbat_sessions::{Files, Repair, RepairOptions, is_healthy, repair};
use serde_json::Value;

use super::Own;
use super::edits::{text, turns, with_entries};
use crate::{Asked, Budget, Function, Kind, Loss, Mode, Said, translated};

/// Returns the input unchanged.
pub(super) const IDENTITY: Own = Own {
    name: "identity",
    modes: || vec![mode("identity", Kind::Repairer, "It changes nothing.")],
    filter: || Box::new(Function(|asked: &Asked| Said::request(asked.request.clone()))),
};

/// `brickbat repair` on a body.
pub(super) const REPAIR: Own =
    Own { name: "repair", modes: || vec![repair_mode()], filter: || Box::new(Function(repaired)) };

/// Returns the mode of our repair.
pub fn repair_mode() -> Mode {
    let repairs = mode("repair", Kind::Repairer, "What `brickbat repair` makes of a request body.");
    Mode { repairs: true, ..repairs }
}

/// A trimmer that keeps the newest complete turns.
pub(super) const WHOLE_TURNS: Own = Own {
    name: "whole-turns",
    modes: || vec![trimmer("whole-turns")],
    filter: || {
        Box::new(Function(|asked: &Asked| Said::request(newest_turns(asked, |n, budget| n <= budget))))
    },
};

/// A compactor that replaces all turns except the last with a sentence.
pub(super) const SUMMARY: Own = Own {
    name: "summary",
    modes: || vec![compactor("summary")],
    filter: || Box::new(Function(|asked: &Asked| Said::request(summarised(&asked.request, asked.from)))),
};

/// A converter from Anthropic Messages to Chat Completions and back.
pub(super) const CAREFUL: Own = Own {
    name: "careful",
    modes: || {
        let there = converter("there", Dialect::AnthropicMessages, Dialect::OpenaiChat);
        let back = converter("back", Dialect::OpenaiChat, Dialect::AnthropicMessages);
        vec![Mode { back: Some("back".to_owned()), ..there }, back]
    },
    filter: || Box::new(Function(carried)),
};

/// Returns a mode that declares nothing, in every dialect.
pub(super) fn mode(name: &str, kind: Kind, description: &str) -> Mode {
    Mode::new(name, kind, description, &DIALECTS)
}

/// The dialects with lists of turns that begin with the user.
const TURN_BY_TURN: [Dialect; 3] =
    [Dialect::AnthropicMessages, Dialect::BedrockConverse, Dialect::OpenaiChat];

/// Returns a mode of a trimmer with a budget in messages.
pub(super) fn trimmer(name: &str) -> Mode {
    let trims = mode(name, Kind::Trimmer, "It keeps the newest turns.");
    Mode { from: TURN_BY_TURN.to_vec(), budget: Budget::Messages, ..trims }
}

pub(super) fn compactor(name: &str) -> Mode {
    let summarises =
        mode(name, Kind::Compactor, "It puts a sentence in the place of all turns but the last.");
    let declares = BTreeMap::from([(Loss::ChangesText, "that is what a summary is".to_owned())]);
    Mode { from: TURN_BY_TURN.to_vec(), declares, ..summarises }
}

pub(super) fn converter(name: &str, from: Dialect, to: Dialect) -> Mode {
    let carries = mode(name, Kind::Converter, "It carries a history into another dialect.");
    Mode { from: vec![from], to: Some(to), ..carries }
}

/// Returns the body after our repair. A body that is healthy or cannot be repaired stays unchanged.
pub fn repaired(asked: &Asked) -> Said {
    let options = RepairOptions {
        profile: Some(Profile::newest(asked.from)),
        model: asked.model.clone(),
        body: Some(asked.from),
        ..RepairOptions::default()
    };
    let body = asked.request.to_string();
    if is_healthy(body.as_bytes(), asked.from, &options) {
        return Said::request(asked.request.clone());
    }
    let files = Files::one("body.json", body);
    match repair(&files, 0, &options) {
        Ok(Repair::Mended(mended)) => match serde_json::from_slice::<Value>(mended.files.main()) {
            Ok(body) => Said::request(body),
            Err(error) => Said::Raised { kind: "NotJson".to_owned(), message: error.to_string() },
        },
        Ok(Repair::Healthy(_) | Repair::Beyond(_)) => Said::request(asked.request.clone()),
        Err(error) => Said::Raised { kind: "RepairError".to_owned(), message: error.to_string() },
    }
}

/// Returns the newest turns that fit, and at least the last one.
pub(super) fn newest_turns(asked: &Asked, fits: fn(u64, u64) -> bool) -> Value {
    let Some((_, budget)) = asked.budget else { return asked.request.clone() };
    with_entries(&asked.request, asked.from, |entries| {
        let (mut before, all) = turns(entries);
        if fits(entries.len() as u64, budget) {
            return;
        }
        before.retain(|entry| matches!(text(entry, "role"), "system" | "developer"));
        let mut n = 0;
        let is_kept = |turn: &&Vec<Value>| {
            n += turn.len() as u64;
            n == turn.len() as u64 || fits(n, budget)
        };
        let kept: Vec<&Vec<Value>> = all.iter().rev().take_while(is_kept).collect();
        let kept = kept.into_iter().rev().flatten().cloned();
        *entries = before.into_iter().chain(kept).collect();
    })
}

/// The beginning of a summary.
pub(super) const SUMMED_UP: &str = "Summary of what was said before.";

/// Returns a body with a summary and the last turn.
pub(super) fn summarised(body: &Value, dialect: Dialect) -> Value {
    with_entries(body, dialect, |entries| {
        let (before, mut all) = turns(entries);
        let Some(last) = all.pop().filter(|_| !all.is_empty()) else { return };
        let summary = [(dialect.codec().prompt)(SUMMED_UP)];
        // Where roles must alternate, the last turn's prompt cannot follow it.
        let summary = summary.into_iter().filter(|_| !dialect.codec().alternates);
        *entries = before.into_iter().chain(summary).chain(last).collect();
    })
}

/// Applies our own translation.
pub(super) fn carried(asked: &Asked) -> Said {
    let mode = converter(&asked.mode, asked.from, asked.to);
    let routes = mode.routes();
    let carried = routes.first().map(|route| translated(route, &asked.request));
    match carried {
        Some(Ok(body)) => Said::request(body),
        Some(Err(why)) => Said::Unsupported(why.to_string()),
        None => Said::Unsupported("no such way".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Input;
    use brickbat_rules::histories::generate::Fault;

    /// The number of histories of each kind in each dialect.
    const N: u64 = 30;

    #[test]
    fn a_history_is_healthy_if_a_repair_changes_nothing() {
        let (mut n_healthy, mut n_other) = (0, 0);
        for from in DIALECTS {
            let faults: Vec<Fault> =
                repair_mode().faults().into_iter().filter(|fault| fault.is_refused_by(from)).collect();
            for n in 0..N {
                let fault = faults[n as usize % faults.len()];
                let bodies = [
                    Input::valid(from, 9, n).body,
                    Input::mendable(from, fault, 9, n).body,
                    Input::broken(from, 9, n),
                ];
                for body in bodies {
                    let list = body[brickbat_rules::list_of(from)].to_string();
                    for text in [body.to_string(), list, format!("{body} {{")] {
                        let options = RepairOptions { body: Some(from), ..RepairOptions::default() };
                        let repair = repair(&Files::one("body.json", text.clone()), 0, &options);
                        let is_left_alone = matches!(repair, Ok(Repair::Healthy(_)));
                        assert_eq!(is_healthy(text.as_bytes(), from, &options), is_left_alone, "{text}");
                        *(if is_left_alone { &mut n_healthy } else { &mut n_other }) += 1;
                    }
                }
            }
        }
        assert!(n_healthy > 300 && n_other > 600, "{n_healthy} {n_other}");
    }
}
