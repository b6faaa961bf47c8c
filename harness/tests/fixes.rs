//! The edits of `check --fix` over every refused history of `corpora/histories`.

use std::fs;
use std::path::Path;

use brickbat_rules::lint::{Expectation, VectorFile};
use brickbat_rules::{Dialect, Profile};
use brickbat_sessions::{RepairOptions, fix_body};
use serde_json::Value;

/// The texts of users in a body.
fn said_by_users(body: &Value) -> Vec<String> {
    let mut said = Vec::new();
    for name in ["messages", "input", "contents"] {
        for message in body.get(name).and_then(Value::as_array).into_iter().flatten() {
            if message.get("role").and_then(Value::as_str) != Some("user") {
                continue;
            }
            let blocks = message.get("content").or_else(|| message.get("parts"));
            match blocks {
                Some(Value::String(text)) => said.push(text.trim().to_owned()),
                Some(Value::Array(blocks)) => {
                    let texts = blocks.iter().filter_map(|block| block.get("text")?.as_str());
                    said.extend(texts.map(|text| text.trim().to_owned()));
                }
                _ => {}
            }
        }
    }
    said
}

#[test]
fn every_refused_history_is_fixed_without_loss_or_the_reason_is_given() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpora/histories");
    let (mut n_refused, mut n_fixed, mut failures) = (0, 0, Vec::new());
    for dialect in Dialect::ALL {
        let Ok(files) = fs::read_dir(root.join(dialect.name())) else { continue };
        for file in files {
            let file = VectorFile::read(&fs::read_to_string(file.unwrap().path()).unwrap()).unwrap();
            for vector in file.vectors.iter().filter(|vector| vector.result == Expectation::Invalid) {
                let named = vector.profile.as_deref().and_then(Profile::named);
                let profile = named.unwrap_or_else(|| Profile::newest(dialect));
                // The body does not show what a provider remembers of earlier exchanges, nor its full size.
                let is_whole = vector.earlier.is_none() && vector.padded.is_none();
                let Some(body) = vector.request.as_ref().filter(|_| is_whole) else {
                    continue;
                };
                let options = RepairOptions { tail: true, ..RepairOptions::default() };
                let text = format!("{body:#}");
                let fixed = fix_body(text.as_bytes(), &options, profile);
                let name = format!("{:?} {}", file.rule, vector.name);
                n_refused += 1;
                match fixed {
                    Ok(Some(Ok(fixed))) => {
                        n_fixed += 1;
                        let after: Value = serde_json::from_slice(&fixed.body).unwrap();
                        let after = after.to_string();
                        let is_kept = |text: &String| {
                            after.contains(Value::from(text.as_str()).to_string().trim_matches('"'))
                        };
                        if !said_by_users(body).iter().all(is_kept) {
                            failures.push(format!("{name}: a user's words are lost"));
                        }
                    }
                    Ok(Some(Err(unfixed))) if unfixed.why.contains("because ") => {}
                    Ok(Some(Err(unfixed))) => failures.push(format!("{name}: {}", unfixed.why)),
                    Ok(None) => {}
                    Err(error) => failures.push(format!("{name}: {error}")),
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}\n{}", failures.len(), failures.join("\n"));
    assert!(3 * n_fixed >= 2 * n_refused, "{n_fixed} of {n_refused} are fixed");
}
