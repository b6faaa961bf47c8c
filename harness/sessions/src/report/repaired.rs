//! Reports on repairs: human-readable text, machine-readable JSON. They contain no content of the session.

use std::fmt::Write;

use serde_json::{Value, json as value};

use super::at;
use super::json::place;
use crate::{FixedBody, Mended, Planned, Product, Relapse, Repair, Reshaped};

/// The number of edits that the text report lists.
const MAX_SHOWN: usize = 1_000;

/// The text report of a repair: its edits, and whether it lasts.
pub fn repaired(mended: &Mended) -> String {
    let Mended { edits, reattached, reshaped, companions, .. } = mended;
    let n_lost = edits.iter().filter(|planned| planned.reason.loses()).count()
        + reshaped.iter().filter(|reshaped| reshaped.loses).count();
    let n_edits = edits.len() + reattached.len() + reshaped.len();
    let lost = match (n_lost, n_edits) {
        (0, _) => "nothing lost".to_owned(),
        (1, 1) => "which removes something that is stored nowhere else".to_owned(),
        (1, _) => "and 1 of them removes something that is stored nowhere else".to_owned(),
        (n, _) => format!("and {n} of them remove something that is stored nowhere else"),
    };
    let count = match n_edits {
        1 => "1 edit".to_owned(),
        n => format!("{n} edits"),
    };
    let mut text = format!("{count}, {lost}.\n");
    for place in reattached {
        let _ = writeln!(text, "  {}: the line is attached to the line before it", at(place, companions));
    }
    for reshaped in reshaped.iter().take(MAX_SHOWN) {
        let _ = writeln!(text, "  {}: {}", at(&reshaped.place, companions), reshaped.words);
    }
    for planned in edits.iter().take(MAX_SHOWN) {
        let _ = writeln!(text, "  {}: {}", at(&planned.place, companions), planned.reason.words());
    }
    if let n @ 1.. = edits.len().max(reshaped.len()).saturating_sub(MAX_SHOWN) {
        let _ = writeln!(text, "  … and {n} more; `--format json` lists them all");
    }
    let (from, of) = mended.changed_from;
    let _ = writeln!(
        text,
        "The request changes from byte {from} of {of}. Accepted; a second repair changes nothing."
    );
    if let Some(Relapse { words, way_out, source }) = mended.relapse {
        let _ = writeln!(text, "{words}\n{way_out} See {source}.");
    }
    text
}

/// The text report of the edits to a request body.
pub fn fixed_body(fixed: &FixedBody) -> String {
    let mut text = String::new();
    if !fixed.form.is_empty() {
        let n_lost = fixed.form.iter().filter(|edit| edit.loses).count();
        let lost = if n_lost == 0 { "nothing" } else { "something" };
        let count =
            if fixed.form.len() == 1 { "1 edit".to_owned() } else { format!("{} edits", fixed.form.len()) };
        let _ = writeln!(text, "{count} of the form, {lost} lost.");
        for edit in fixed.form.iter().take(MAX_SHOWN) {
            let _ = writeln!(text, "  {}: {} ({})", edit.pointer, edit.words, edit.rule);
        }
    }
    fixed.repair.iter().for_each(|edited| text.push_str(&repaired(edited)));
    text
}

/// The JSON report of a repair.
pub fn repair_json(file: &str, product: Product, repair: &Repair) -> Value {
    let (outcome, before) = match repair {
        Repair::Healthy(judgement) => ("healthy", judgement.as_ref()),
        Repair::Mended(mended) => ("mended", &mended.before),
        Repair::Beyond(beyond) => ("beyond", &beyond.before),
    };
    let mut report = value!({
        "schema": 1,
        "file": file,
        "product": product.id(),
        "profile": before.profile.name,
        "outcome": outcome,
        "before": before.verdict.name(),
    });
    match repair {
        Repair::Healthy(_) => {}
        Repair::Mended(mended) => {
            let relapse = mended.relapse.map(
                |Relapse { words, way_out, source }| value!({ "words": words, "way_out": way_out, "source": source }),
            );
            let companions = &mended.companions;
            let (from, of) = mended.changed_from;
            report["after"] = value!(mended.after.verdict.name());
            report["reattached"] = mended.reattached.iter().map(|at| place(at, companions)).collect();
            report["reshaped"] = mended
                .reshaped
                .iter()
                .map(|Reshaped { rule, place: at, words, loses }| {
                    value!({ "rule": rule, "words": words, "loses": loses, "place": place(at, companions) })
                })
                .collect();
            report["edits"] = mended.edits.iter().map(|planned| edit(planned, companions)).collect();
            report["request"] = value!({ "changes_from": from, "bytes": of });
            report["lasts"] = value!(relapse.is_none());
            report["relapse"] = value!(relapse);
        }
        Repair::Beyond(beyond) => {
            report["why"] = value!(beyond.why);
            report["can_truncate"] = value!(beyond.can_truncate);
            report["way_out"] = value!(beyond.way_out());
        }
    }
    report
}

fn edit(planned: &Planned, companions: &[String]) -> Value {
    let Planned { reason, place: at, .. } = planned;
    value!({ "edit": reason.id(), "words": reason.words(), "loses": reason.loses(), "place": place(at, companions) })
}
