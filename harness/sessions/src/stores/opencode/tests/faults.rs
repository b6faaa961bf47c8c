//! Sessions with a fault, and hostile bytes.

use super::*;
use crate::Lost;

#[test]
fn a_part_that_is_torn_or_all_nul_is_reported() {
    let mut fixture = healthy();
    fixture.info["version"] = json!("1.1.27");
    let mut files = fixture.folder();
    let at = files.files.iter().position(|file| file.name.ends_with("prt_002003.json")).unwrap();
    files.files[at].bytes.truncate(40);
    let session = one(&files);
    assert_eq!(session.troubles.len(), 1);
    assert_eq!(session.troubles[0].words, "a torn line: it ends before its JSON does");
    assert_eq!(session.troubles[0].place.file, at);
    assert_eq!(session.troubles[0].loses, Some(Lost::Data("the part in the file")));
    // opencode does not open the session, and does so when the file is gone.
    let judgement = judged(&files);
    assert_eq!(
        (judgement.verdict, judgement.refusals[0].place.clone()),
        (Verdict::Refused, Some(session.troubles[0].place.clone()))
    );
    let outcome = crate::repair(&files, 0, &crate::RepairOptions::default());
    let fixed = match outcome {
        Ok(crate::Repair::Mended(fixed)) => fixed, // quoted: the name of the variant
        other => panic!("not repaired: {other:?}"),
    };
    assert!(
        crate::report::repaired(&fixed).contains("prt_002003.json"),
        "{}",
        crate::report::repaired(&fixed)
    );
    assert!(fixed.files.files.iter().all(|file| !file.name.ends_with("prt_002003.json")));
    assert_eq!(shape_of(&session.messages), "Ut Ahtc Tr At Ut");
    files.files[at].bytes = vec![0; 64];
    assert_eq!(one(&files).troubles[0].words, "64 NUL bytes");
}

#[test]
fn a_session_file_without_its_messages_is_not_judged() {
    let mut files = healthy().folder();
    files.files.truncate(1);
    let judgement = judged(&files);
    assert_eq!(judgement.verdict, Verdict::Unreadable);
    assert!(one(&files).troubles[0].words.contains("storage/message"), "{:?}", one(&files).troubles);
}

#[test]
fn a_row_that_is_not_json_is_reported() {
    let connection = database();
    healthy().insert_into(&connection);
    connection.execute("UPDATE part SET data = substr(data, 1, 30) WHERE id = 'prt_002004'", []).unwrap();
    connection.execute("UPDATE message SET data = x'0000' WHERE id = 'msg_003'", []).unwrap();
    let session = one(&bytes_of(connection));
    let places: Vec<String> = session.troubles.iter().map(|trouble| trouble.place.to_string()).collect();
    // The parts of the lost message no longer belong to a message.
    assert_eq!(places, ["row 11 of part", "row 3 of message", "row 6 of part"]);
    assert_eq!(session.troubles[0].words, "a part whose message is missing");
    assert_eq!(session.troubles[1].words, "2 NUL bytes");
    assert_eq!(shape_of(&session.messages), "Ut Ahtc Tr At");
}

#[test]
fn a_call_that_is_stored_twice_is_refused() {
    let mut fixture = healthy();
    let twice = fixture.messages[1].1[3].clone();
    fixture.messages[1].1.insert(4, twice);
    fixture.messages[1].1[4]["id"] = json!("prt_0020035");
    for (form, files) in fixture.forms() {
        let judgement = judged(&files);
        assert_eq!(judgement.verdict, Verdict::Refused, "{form}");
        assert!(
            rules(&judgement).contains(&"anthropic-messages/tool-use-id-duplicate"),
            "{:?}",
            rules(&judgement)
        );
    }
}

#[test]
fn a_thought_without_its_signature_is_left_out() {
    let mut fixture = healthy();
    fixture.messages[1].1[1] = json!({ "id": "prt_002001", "type": "reasoning", "text": "" });
    let judgement = judged(&fixture.export());
    assert_eq!(judgement.verdict, Verdict::Accepted);
    assert!(!judgement.request().to_string().contains("\"thinking\""));
}

#[test]
fn a_text_of_white_space_is_refused() {
    let mut fixture = healthy();
    fixture.messages[1].1[7]["text"] = json!("\n\n");
    let judgement = judged(&fixture.rows());
    assert_eq!(rules(&judgement), ["anthropic-messages/text-blank"]);
    assert_eq!(judgement.refusals[0].place.as_ref().unwrap().pointer, "/part/8");
}

#[test]
fn arguments_that_are_not_an_object_are_rejected() {
    let mut fixture = healthy();
    fixture.messages[1].1[3]["state"]["input"] = json!("{\"path\": \"a");
    let judgement = judged(&fixture.export());
    assert_eq!(rules(&judgement), ["anthropic-messages/tool-input-not-object"]);
}

#[test]
fn a_file_that_begins_in_the_middle_is_an_excerpt() {
    let mut fixture = healthy();
    fixture.messages.remove(0);
    assert_eq!(judged(&fixture.rows()).verdict, Verdict::Excerpt);
}

#[test]
fn parts_of_unknown_kinds_are_noted_without_their_content() {
    let mut fixture = healthy();
    let parts = &mut fixture.messages[1].1;
    parts.push(json!({ "id": "prt_002900", "type": "weather", "text": "secret" }));
    parts.push(json!({ "id": "prt_002901", "type": "Secret words!" }));
    parts.push(json!({ "id": "prt_002902", "type": "patch", "files": [] }));
    let mut ran = done("srvtoolu_1", "x");
    ran["metadata"] = json!({ "providerExecuted": true });
    parts.push(ran);
    let session = one(&fixture.export());
    assert_eq!(
        session.unknown,
        ["a call that the provider ran itself", "a part without a type", "part weather"]
    );
    assert_eq!(judge(&session, None).verdict, Verdict::Accepted);
}

#[test]
fn a_cycle_of_parents_ends() {
    let connection = database();
    for (id, parent) in [("ses_1", "ses_2"), ("ses_2", "ses_1")] {
        let values = (id, parent, "1.18.33", None::<String>);
        connection.execute("INSERT INTO session VALUES (?1, ?2, ?3, ?4)", values).unwrap();
    }
    assert_eq!(crate::read(&bytes_of(connection)).unwrap().len(), 2);
}

#[test]
fn a_damaged_database_reports_what_could_be_read() {
    let connection = database();
    let mut fixture = healthy();
    for n in 0..200 {
        fixture.user("anthropic", "claude-sonnet-4-5", vec![words(&format!("{n} {}", "x".repeat(500)))]);
    }
    fixture.insert_into(&connection);
    let mut files = bytes_of(connection);
    let middle = files.files[0].bytes.len() / 2;
    files.files[0].bytes[middle..].fill(0xff);
    if let Ok(sessions) = crate::read(&files) {
        assert!(sessions.iter().any(|session| !session.troubles.is_empty()));
    }
}

#[test]
fn wrong_types_are_harmless() {
    let odd =
        [json!(null), json!(7), json!("x"), json!([]), json!([[]]), json!({}), json!(true), json!(-1.5)];
    let base = open("anthropic", "claude-sonnet-4-5", false);
    let pointers = [
        "/info/version",
        "/info/revert",
        "/info/parentID",
        "/messages/1/info",
        "/messages/1/info/role",
        "/messages/1/info/error",
        "/messages/1/info/summary",
        "/messages/0/info/model",
        "/messages/1/parts",
        "/messages/1/parts/0",
        "/messages/1/parts/1/text",
        "/messages/1/parts/2/state",
        "/messages/1/parts/2/callID",
        "/messages/1/parts/2/state/status",
        "/messages/1/parts/2/state/output",
        "/messages/1/parts/2/state/input",
        "/messages/1/parts/2/state/time",
        "/messages/1/parts/3/state/time",
        "/messages/1/parts/3/metadata",
    ];
    let whole: Value = serde_json::from_slice(base.export().main()).unwrap();
    for pointer in pointers {
        for value in &odd {
            let mut hurt = whole.clone();
            let (parent, key) = pointer.rsplit_once('/').unwrap();
            let parent = hurt.pointer_mut(parent).unwrap();
            match parent {
                Value::Array(items) => items[key.parse::<usize>().unwrap()] = value.clone(),
                parent => parent[key] = value.clone(),
            }
            handle(&Files::one("session.json", hurt.to_string()));
        }
    }
}

#[test]
fn random_damage_is_harmless() {
    let base = open("anthropic", "claude-sonnet-4-5", true);
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below.max(1) as u64) as usize
    };
    for (_, files) in base.forms() {
        for _ in 0..60 {
            let mut hurt = files.clone();
            for _ in 0..1 + next(4) {
                let file = next(hurt.files.len());
                let bytes = &mut hurt.files[file].bytes;
                let at = next(bytes.len());
                bytes[at] = next(256) as u8;
            }
            handle(&hurt);
        }
    }
}

/// Reads, judges and edits. The only requirement is that this returns without a panic.
fn handle(files: &Files) {
    let Ok(sessions) = crate::read(files) else { return };
    for session in &sessions {
        let judgement = judge(session, None);
        let places = session.messages.iter().flat_map(|message| &message.blocks).map(|block| &block.place);
        for place in places.chain(session.troubles.iter().map(|trouble| &trouble.place)) {
            for edit in [
                Edit::Synthesise { call: place.clone(), id: String::new() },
                Edit::Drop { block: place.clone() },
                Edit::Discard { place: place.clone() },
                Edit::Truncate { last: place.clone() },
            ] {
                if let Ok(written) = store_of(session.product).unwrap().write(files, session, &[edit]) {
                    crate::read(&written).ok();
                }
            }
        }
        drop(judgement);
    }
}
