//! No text of people, tools or models reaches a report, an error or a scenario.
//!
//! Every session of the corpus gets secrets in all its texts. Then everything that the commands print or
//! write about it is searched for them. `program` does the same with the program itself.

use std::collections::BTreeSet;

use brickbat_scenario::yaml;
use brickbat_search::import::{Cause, import};
use brickbat_sessions::report::{self, Examined, Sarif, Survey, Unread};
use brickbat_sessions::{Files, Repair, RepairOptions, judge, read, repair};
use serde_json::json;

use super::entry::all;
use super::planted::{MARK, leaked};

/// Everything that the commands print or write about a store, each with its name.
fn said_of(files: &Files) -> Vec<(&'static str, String)> {
    let sessions = match read(files) {
        Ok(sessions) => sessions,
        Err(error) => {
            let unread = Unread { file: "store".to_owned(), error, near: Vec::new(), next: String::new() };
            let error = unread.error.to_string();
            let json = report::json(&[], std::slice::from_ref(&unread)).to_string();
            return vec![
                ("error", error),
                ("json", json),
                ("sarif", Sarif::default().report(&[unread]).to_string()),
            ];
        }
    };
    let mut said = Vec::new();
    for (n, session) in sessions.into_iter().enumerate() {
        let judgement = judge(&session, None);
        match import(&session, &judgement) {
            Ok(imported) => {
                said.push(("scenario", yaml::text(&imported.scenario)));
                let history = imported.scenario.given.map(|given| given.content);
                said.push(("given history", json!(history).to_string()));
                if let Cause::Found(_, cause) = imported.cause {
                    said.push(("scenario of the cause", yaml::text(&cause)));
                }
                said.push(("import", imported.left_out.join(", ")));
            }
            Err(error) => said.push(("import", error.to_string())),
        }
        for options in [(false, false), (true, true)] {
            let options = RepairOptions { tail: options.0, truncate: options.1, ..RepairOptions::default() };
            match repair(files, n, &options) {
                Ok(repair) => {
                    if let Repair::Mended(mended) = &repair {
                        said.push(("repair", report::repaired(mended)));
                    }
                    said.push((
                        "repair json",
                        report::repair_json("store", session.product, &repair).to_string(),
                    ));
                }
                Err(error) => said.push(("repair", error.to_string())),
            }
        }
        let file = "store".to_owned();
        let examined = Examined { file, companions: files.companions(), n, session, judgement };
        let mut survey = Survey::default();
        survey.add(&examined);
        said.push(("survey", survey.text()));
        said.push(("line", report::line(&examined)));
        said.push(("detail", report::detail(&examined)));
        said.push(("json", report::json(&[report::json_session(&examined, "salt")], &[]).to_string()));
        let mut sarif = Sarif::default();
        sarif.add(&examined);
        said.push(("sarif", sarif.report(&[]).to_string()));
    }
    said
}

#[test]
fn no_secret_of_a_session_reaches_a_report_an_error_or_a_scenario() {
    let (mut n_read, mut formats, mut refused) = (0, BTreeSet::new(), BTreeSet::new());
    let mut leaks = Vec::new();
    for case in all() {
        let files = case.with_secrets();
        let holds = files.files.iter().any(|file| String::from_utf8_lossy(&file.bytes).contains(MARK));
        // Secrets can only be planted in the ids of a checkpoint in MessagePack.
        assert!(holds, "{}: nothing was planted", case.id);
        if let Ok(sessions) = read(&files) {
            n_read += sessions.len();
            formats.insert(case.product.clone());
            if sessions.iter().any(|session| !judge(session, None).refusals.is_empty()) {
                refused.insert(case.product.clone());
            }
        }
        for (what, text) in said_of(&files) {
            if let Some(secret) = leaked(&text) {
                leaks.push(format!("{}: {what} holds {secret}: {text}", case.id));
            }
        }
    }
    assert!(leaks.is_empty(), "{} leaks:\n{}", leaks.len(), leaks.join("\n"));
    assert!(n_read >= 100, "{n_read} sessions were read");
    let products: BTreeSet<String> = all().into_iter().map(|case| case.product).collect();
    assert_eq!(formats, products, "each format is read");
    assert!(refused.len() + 14 >= products.len(), "nearly each has a session that is refused: {refused:?}");
}
