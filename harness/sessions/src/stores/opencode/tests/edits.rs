//! Edits, each read back, judged, and applied a second time.

use super::*;

fn synthesise(session: &Session, id: &str) -> Edit {
    Edit::Synthesise { call: place_of_call(session, id), id: id.to_owned() }
}

/// The number of equal bytes at the start and at the end of two texts.
fn same_ends(before: &[u8], after: &[u8]) -> (usize, usize) {
    let front = before.iter().zip(after).take_while(|(a, b)| a == b).count();
    let back =
        before[front..].iter().rev().zip(after[front..].iter().rev()).take_while(|(a, b)| a == b).count();
    (front, back)
}

#[test]
fn a_call_without_a_result_gets_an_error_in_every_form() {
    for (form, files) in open("anthropic", "claude-sonnet-4-5", false).forms() {
        let session = one(&files);
        let edit = synthesise(&session, "toolu_2");
        let written = write(&files, std::slice::from_ref(&edit));
        let judgement = judged(&written);
        assert_eq!(judgement.verdict, Verdict::Accepted, "{form}");
        assert_eq!(judgement.sent.mended, [], "{form}");
        assert_eq!(shape(&judgement), "Ut Atcc Tre Ut", "{form}");
        let results =
            one(&written).messages.iter().flat_map(crate::Message::results).cloned().collect::<Vec<_>>();
        assert_eq!(results[1].text(), crate::NOT_RECORDED);
        assert!(results[1].is_error);
        // A second edit changes nothing, whether it uses the new places or was made twice in one write.
        let again = write(&written, &[synthesise(&one(&written), "toolu_2")]);
        assert!(again == written, "{form}");
        assert!(write(&files, &[edit.clone(), edit]) == written, "{form}");
    }
}

#[test]
fn other_bytes_stay_unchanged() {
    let fixture = open("anthropic", "claude-sonnet-4-5", false);
    let files = fixture.export();
    let written = write(&files, &[synthesise(&one(&files), "toolu_2")]);
    let state = crate::json::span_of(files.main(), "/messages/1/parts/3/state").unwrap();
    let (front, back) = same_ends(files.main(), written.main());
    assert!(front >= state.start && back >= files.main().len() - state.end);

    let files = fixture.folder();
    let written = write(&files, &[synthesise(&one(&files), "toolu_2")]);
    let changed = files.files.iter().zip(&written.files).filter(|(before, after)| before != after);
    assert_eq!(
        changed.map(|(file, _)| file.name.as_str()).collect::<Vec<_>>(),
        ["../../part/msg_002/prt_002003.json"]
    );

    let files = fixture.database();
    let written = write(&files, &[synthesise(&one(&files), "toolu_2")]);
    let rows = |files: &Files| {
        let database = crate::sqlite::Database::open(files).unwrap();
        let rows = ["message", "part"].map(|table| database.rows(table, &["id", "data"]).rows);
        rows.into_iter().flatten().collect::<Vec<_>>()
    };
    let (before, after) = (rows(&files), rows(&written));
    assert_eq!(before.len(), after.len());
    assert_eq!(before.iter().zip(&after).filter(|(before, after)| before != after).count(), 1);
}

#[test]
fn a_new_result_keeps_the_arguments_and_the_time_of_the_call() {
    let files = open("anthropic", "claude-sonnet-4-5", false).export();
    let written = write(&files, &[synthesise(&one(&files), "toolu_2")]);
    let value: Value = serde_json::from_slice(written.main()).unwrap();
    let expected = json!({
        "status": "error", "input": { "path": "a" }, "error": crate::NOT_RECORDED, "time": { "start": 5, "end": 5 },
    });
    assert_eq!(value.pointer("/messages/1/parts/3/state"), Some(&expected));
}

#[test]
fn a_finished_call_keeps_its_result() {
    for (form, files) in healthy().forms() {
        let edits = ["toolu_1", "toolu_2"].map(|id| synthesise(&one(&files), id));
        assert!(write(&files, &edits) == files, "{form}");
    }
}

#[test]
fn a_blank_text_is_dropped_in_every_form() {
    let mut fixture = healthy();
    fixture.messages[1].1[7]["text"] = json!("\n\n");
    for (form, files) in fixture.forms() {
        let block = judged(&files).refusals[0].place.clone().unwrap();
        let written = write(&files, &[Edit::Drop { block }]);
        let judgement = judged(&written);
        assert_eq!(judgement.verdict, Verdict::Accepted, "{form}");
        assert_eq!(shape(&judgement), "Ut Ahtcc Trr Ut", "{form}");
    }
}

#[test]
fn neighbours_are_dropped_together() {
    for (form, files) in healthy().forms() {
        let session = one(&files);
        let drops: Vec<Edit> =
            ["toolu_1", "toolu_2"].map(|id| Edit::Drop { block: place_of_call(&session, id) }).into();
        let judgement = judged(&write(&files, &drops));
        assert_eq!(shape(&judgement), "Ut Aht At Ut", "{form}");
    }
}

#[test]
fn dropping_the_last_block_drops_the_message() {
    for (form, files) in healthy().forms() {
        let block = one(&files).messages.last().unwrap().place.clone();
        let written = write(&files, &[Edit::Drop { block }]);
        let session = one(&written);
        assert_eq!(shape_of(&session.messages), "Ut Ahtcc Trr At", "{form}");
        // The record of the message and its part are both removed. No part is left without its message.
        assert_eq!(session.n_records, 12, "{form}");
        assert!(session.troubles.is_empty(), "{form}");
    }
}

#[test]
fn a_recorded_result_is_moved_to_its_call() {
    let mut fixture = open("anthropic", "claude-sonnet-4-5", false);
    fixture.reply(vec![step(), done("toolu_2", "true"), end()]);
    for (form, files) in fixture.forms() {
        let session = one(&files);
        assert_eq!(shape(&judge(&session, None)), "Ut Atcc Tre Ut Ac Tr", "{form}");
        let call = place_of_call(&session, "toolu_2");
        let result = session.messages.last().unwrap().place.clone();
        let edit = Edit::Move { result, call, id: "toolu_2".to_owned() };
        let written = write(&files, &[edit]);
        let judgement = judged(&written);
        assert_eq!(judgement.verdict, Verdict::Accepted, "{form}: {:?}", rules(&judgement));
        assert_eq!(shape(&judgement), "Ut Atcc Trr Ut", "{form}");
        assert_eq!(one(&written).messages[2].results().nth(1).unwrap().text(), "true");
    }
}

#[test]
fn a_reverted_result_is_copied_and_kept() {
    let mut fixture = open("anthropic", "claude-sonnet-4-5", false);
    fixture.reply(vec![step(), done("toolu_2", "true"), end()]);
    fixture.info["revert"] = json!({ "messageID": "msg_004" });
    for files in [fixture.export(), fixture.database()] {
        let session = one(&files);
        let call = place_of_call(&session, "toolu_2");
        let result = session.off_branch[0].place.clone();
        let session = one(&write(&files, &[Edit::Move { result, call, id: "toolu_2".to_owned() }]));
        assert_eq!(shape_of(&session.messages), "Ut Atcc Trr Ut");
        assert_eq!(shape_of(&session.off_branch), "Ac Tr");
    }
}

#[test]
fn a_truncated_branch_ends_after_the_given_message() {
    for (form, files) in healthy().forms() {
        let session = one(&files);
        let last = session.messages[1].blocks[1].place.clone();
        let written = write(&files, &[Edit::Truncate { last: last.clone() }]);
        // The message of this block is the reply. The results of its calls are in the same parts.
        assert_eq!(shape_of(&one(&written).messages), "Ut Ahtcc Trr", "{form}");
        assert!(
            write(&written, &[Edit::Truncate { last: one(&written).messages[1].blocks[1].place.clone() }])
                == written
        );
        let last = session.messages[0].place.clone();
        assert_eq!(shape_of(&one(&write(&files, &[Edit::Truncate { last }])).messages), "Ut", "{form}");
    }
}

#[test]
fn unreadable_records_are_discarded() {
    let connection = database();
    healthy().insert_into(&connection);
    connection.execute("UPDATE part SET data = '{\"type' WHERE id = 'prt_002004'", []).unwrap();
    let mut folder = healthy().folder();
    let at = folder.files.iter().position(|file| file.name.ends_with("prt_002004.json")).unwrap();
    folder.files[at].bytes.clear();
    for files in [bytes_of(connection), folder] {
        let place = one(&files).troubles[0].place.clone();
        let session = one(&write(&files, &[Edit::Discard { place }]));
        assert!(session.troubles.is_empty());
        assert_eq!(shape_of(&session.messages), "Ut Ahtc Tr At Ut");
    }
}

#[test]
fn an_edit_of_a_missing_block_is_rejected() {
    for (form, files) in healthy().forms() {
        let session = one(&files);
        let nowhere = Place::in_row("part", 999, "");
        for edit in [
            Edit::Synthesise { call: nowhere.clone(), id: "x".to_owned() },
            Edit::Drop { block: nowhere.clone() },
            Edit::Truncate { last: nowhere.clone() },
        ] {
            assert!(store_of(Product::Opencode).unwrap().write(&files, &session, &[edit]).is_err(), "{form}");
        }
    }
}
