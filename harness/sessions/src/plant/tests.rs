use super::*;
use crate::{Repair, RepairOptions, Verdict, judge, read, repair};

/// A conversation with two batches, as Anthropic messages.
const LIST: &str = r#"[
    {"role":"user","content":"Look up two."},
    {"role":"assistant","content":[{"type":"text","text":"I look."},
        {"type":"tool_use","id":"a","name":"look","input":{}},{"type":"tool_use","id":"b","name":"look","input":{}}]},
    {"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1"},
        {"type":"tool_result","tool_use_id":"b","content":"2"}]},
    {"role":"assistant","content":[{"type":"text","text":"Here."}]},
    {"role":"user","content":"And c?"},
    {"role":"assistant","content":[{"type":"tool_use","id":"c","name":"look","input":{}}]},
    {"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"3"}]},
    {"role":"assistant","content":[{"type":"text","text":"Here, too."}]}]"#;

/// The same conversation as UI messages of the AI SDK.
const UI: &str = r#"[
    {"id":"1","role":"user","parts":[{"type":"text","text":"Look up two."}]},
    {"id":"2","role":"assistant","parts":[{"type":"step-start"},{"type":"text","text":"I look."},
        {"type":"tool-look","toolCallId":"a","state":"output-available","input":{},"output":"1"},
        {"type":"tool-look","toolCallId":"b","state":"output-available","input":{},"output":"2"},
        {"type":"step-start"},{"type":"text","text":"Here."}]}]"#;

fn verdict(files: &Files) -> Verdict {
    judge(&read(files).unwrap()[0], None).verdict
}

/// The verdict after a fault was planted, and whether it can be repaired.
fn planted(list: &str, fault: Fault, spot: Spot) -> Result<(Verdict, bool), PlantError> {
    let files = Files::one("thread.json", list);
    assert_eq!(verdict(&files), Verdict::Accepted, "{list}");
    let planted = plant(&files, 0, fault, spot)?;
    assert_ne!(planted, files);
    let is_mended = matches!(repair(&planted, 0, &RepairOptions::default()), Ok(Repair::Mended(_)));
    Ok((verdict(&planted), is_mended))
}

#[test]
fn every_result_fault_bricks_a_message_list_and_is_repaired() {
    for fault in [
        Fault::ResultMissing,
        Fault::BatchUnanswered,
        Fault::ResultLate,
        Fault::ResultTwice,
        Fault::ResultOrphan,
    ] {
        assert_eq!(planted(LIST, fault, Spot::BatchEnd).unwrap(), (Verdict::Refused, true), "{}", fault.id());
    }
    for spot in Spot::ALL {
        assert_eq!(
            planted(LIST, Fault::ResultMissing, spot).unwrap(),
            (Verdict::Refused, true),
            "{}",
            spot.id()
        );
    }
}

#[test]
fn a_planted_blank_text_next_to_calls_bricks_no_current_model() {
    assert_eq!(planted(LIST, Fault::BlankText, Spot::First).unwrap(), (Verdict::Accepted, false));
}

#[test]
fn a_duplicated_batch_bricks_when_both_copies_form_one_message() {
    assert_eq!(planted(LIST, Fault::BatchTwice, Spot::First).unwrap(), (Verdict::Accepted, false));
    assert_eq!(planted(UI, Fault::BatchTwice, Spot::First).unwrap(), (Verdict::Refused, true));
}

#[test]
fn a_call_that_contains_its_result_is_running_when_the_result_is_missing() {
    for fault in [Fault::ResultMissing, Fault::BatchUnanswered] {
        let spot = Spot::First;
        assert_eq!(planted(UI, fault, spot).unwrap(), (Verdict::Refused, true), "{}", fault.id());
    }
    let nowhere = planted(UI, Fault::ResultOrphan, Spot::First);
    assert!(matches!(nowhere, Err(PlantError::Nowhere(_))), "{nowhere:?}");
}

#[test]
fn faults_need_a_matching_part_of_the_conversation() {
    for (list, fault, spot) in [
        (LIST, Fault::ResultLate, Spot::Last),
        (LIST, Fault::HollowThought, Spot::First),
        (
            r#"[{"role":"user","content":[{"type":"text","text":"Look."}]}]"#,
            Fault::ResultMissing,
            Spot::First,
        ),
    ] {
        let files = Files::one("thread.json", list);
        assert!(plant(&files, 0, fault, spot).is_err(), "{}", fault.id());
    }
}

#[test]
fn names_and_faults_convert_both_ways() {
    for fault in Fault::ALL {
        assert_eq!(Fault::from_id(fault.id()), Some(fault));
        assert!(fault.thread().contains('#'));
    }
}
