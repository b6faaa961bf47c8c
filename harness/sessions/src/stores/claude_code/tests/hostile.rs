//! Hostile files, and files that are only large.

use super::*;
use crate::Edit;
use proptest::prelude::*;

#[test]
fn a_chain_of_five_thousand_turns_is_read() {
    let mut lines = vec![user("u0", "", "0")];
    for n in 0..5_000 {
        lines.push(said(&format!("a{n}"), &format!("u{n}"), &format!("m{n}"), "Yes."));
        lines.push(user(&format!("u{}", n + 1), &format!("a{n}"), "On."));
    }
    let session = read_lines(&lines);
    assert_eq!(session.messages.len(), 10_001);
    assert!(session.troubles.is_empty());
}

#[test]
fn a_hundred_thousand_forks_of_a_long_chain_are_read() {
    let mut text = String::new();
    let mut push = |uuid: String, parent: &str| {
        let line = json!({
            "type": "user", "uuid": uuid, "parentUuid": parent, "sessionId": "s",
            "message": { "role": "user", "content": "x" },
        });
        text.push_str(&line.to_string());
        text.push('\n');
    };
    push("p0".to_owned(), "");
    // A long chain of connecting lines that forks at its end. If each fork walked it again, this test would
    // not finish.
    for n in 1..9_000 {
        push(format!("p{n}"), &format!("p{}", n - 1));
    }
    for n in 0..100_000 {
        push(format!("f{n}"), "p8999");
    }
    let text = text.replace(r#""type":"user","uuid":"p"#, r#""type":"progress","uuid":"p"#);
    let session = read(&Files::one("s.jsonl", text));
    assert_eq!((session.messages.len(), session.off_branch.len(), session.n_forks), (1, 99_999, 1));
}

#[test]
fn a_cycle_of_parents_ends_the_walk() {
    let mut lines = batch();
    lines[0]["parentUuid"] = json!("b1");
    let session = read_lines(&lines);
    assert_eq!(words_of_troubles(&session), ["the parents of this line form a circle"]);
    assert_eq!(session.messages.len(), 6);
    // If all lines are in the cycle, there is no end to start from.
    let session = read_lines(&[user("u1", "u2", "a"), user("u2", "u1", "b"), user("u3", "u3", "c")]);
    assert!(session.messages.is_empty());
}

#[test]
fn three_thousand_answers_are_written_at_once() {
    let mut lines = vec![user("u0", "", "0")];
    for n in 0..3_000 {
        lines.push(call(&format!("a{n}"), &format!("u{n}"), &format!("m{n}"), &format!("toolu_{n}")));
        lines.push(user(&format!("u{}", n + 1), &format!("a{n}"), "On."));
    }
    let files = file(&lines);
    let session = read(&files);
    let blocks = session.messages.iter().flat_map(|message| &message.blocks);
    let calls = blocks.filter(|block| block.place.line.is_some_and(|line| line % 2 == 0));
    let edits: Vec<Edit> = calls
        .enumerate()
        .map(|(n, block)| Edit::Synthesise { call: block.place.clone(), id: format!("toolu_{n}") })
        .collect();
    assert_eq!(edits.len(), 3_000);
    let written = ClaudeCode.write(&files, &session, &edits).unwrap();
    assert_eq!(read(&written).messages.len(), 9_001);
}

#[test]
fn a_line_of_twelve_megabytes_is_read() {
    let mut lines = batch();
    lines[5]["message"]["content"][0]["content"] = json!("x".repeat(12_000_000));
    let session = read_lines(&lines);
    assert_eq!(session.messages[2].results().next().unwrap().text().len(), 12_000_000);
}

#[test]
fn deeply_nested_content_is_read() {
    let mut deep = call("a1", "u1", "m1", "toolu_1").to_string();
    let nested = format!("{}{}", "[".repeat(5_000), "]".repeat(5_000));
    deep = deep.replace(r#"{"n":1}"#, &format!(r#"{{"n":{nested}}}"#));
    let text = format!("{}\n{deep}\n{}\n", user("u1", "", "Look."), result("r1", "a1", "toolu_1"));
    assert_eq!(shape(&read(&Files::one("s.jsonl", text))).len(), 3);
}

#[test]
fn wrong_types_are_skipped() {
    let odd = [json!(null), json!(7), json!([]), json!({}), json!("x"), json!(true)];
    for name in
        ["type", "uuid", "parentUuid", "sessionId", "message", "isSidechain", "isMeta", "version", "teamName"]
    {
        for value in &odd {
            let mut lines = batch();
            for line in &mut lines[1..] {
                line[name] = value.clone();
            }
            let _ = ClaudeCode.read(&file(&lines));
        }
    }
    for value in &odd {
        for key in ["content", "id", "role", "model"] {
            let mut lines = batch();
            for line in &mut lines[1..] {
                line["message"][key] = value.clone();
            }
            let _ = ClaudeCode.read(&file(&lines));
        }
        let mut lines = batch();
        for line in &mut lines[1..] {
            line["message"]["content"] = json!([value]);
        }
        let _ = ClaudeCode.read(&file(&lines));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_tree_is_read_and_written_without_a_panic(
        parents in proptest::collection::vec(0_usize..14, 12),
        kinds in proptest::collection::vec(0_usize..6, 12),
        flips in proptest::collection::vec((0_usize..3_000, any::<u8>()), 0..4),
    ) {
        let mut lines = Vec::new();
        for (n, (parent, kind)) in parents.iter().zip(&kinds).enumerate() {
            let (uuid, parent) = (format!("l{n}"), format!("l{parent}"));
            let id = format!("m{}", n / 3);
            lines.push(match kind {
                0 => user(&uuid, &parent, "x"),
                1 => call(&uuid, &parent, &id, &format!("t{}", n / 2)),
                2 => result(&uuid, &parent, &format!("t{}", n / 2)),
                3 => said(&uuid, &parent, &id, " "),
                4 => boundary(&uuid, &parent),
                _ => line(&uuid, &parent, json!({ "type": "progress" })),
            });
        }
        let mut files = file(&lines);
        for (at, byte) in flips {
            let length = files.main().len();
            files.files[0].bytes[at % length] = byte;
        }
        let Ok(sessions) = ClaudeCode.read(&files) else { return Ok(()) };
        for session in sessions {
            judge(&session, None);
            for block in session.messages.iter().flat_map(|message| &message.blocks) {
                let place = block.place.clone();
                let edits = [
                    Edit::Drop { block: place.clone() },
                    Edit::Truncate { last: place.clone() },
                    Edit::Discard { place: place.clone() },
                    Edit::Synthesise { call: place.clone(), id: "t1".to_owned() },
                    Edit::Move { result: place.clone(), call: place, id: "t1".to_owned() },
                ];
                for edit in &edits {
                    let _ = ClaudeCode.write(&files, &session, std::slice::from_ref(edit));
                }
                let _ = ClaudeCode.write(&files, &session, &edits);
            }
        }
    }
}
