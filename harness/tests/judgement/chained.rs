//! A system that sends only new items is judged by the complete history of its requests.

#![expect(clippy::unwrap_used, reason = "a test may stop at what it does not expect")]

use std::cell::{Cell, RefCell};

use brickbat_engine::provider::{Headers, Provider, Request};
use brickbat_scenario::plan::Plan;

use super::*;

/// The same run by a client that names the previous response, and sends only what came after it.
fn chained(plan: &Arc<Plan>, run: &Run) -> Run {
    let provider = RefCell::new(Provider::new(plan.clone(), plan.profile_from(&[])));
    let previous: RefCell<Option<String>> = RefCell::new(None);
    let n_known = Cell::new(0);
    rebuilt(run, |_, event| {
        let Event::Requested { exchange, kind, body, .. } = event else { return vec![event.clone()] };
        let mut body: Value = serde_json::from_slice(body).unwrap();
        body.as_object_mut().unwrap().remove("store");
        let items = body["input"].as_array().unwrap().clone();
        let is_said = |item: &&Value| item["role"] == "assistant" || item["type"] == "function_call";
        let new: Vec<Value> = items[n_known.get()..].iter().skip_while(is_said).cloned().collect();
        n_known.set(items.len());
        if let Some(id) = previous.replace(Some(response_id(&mut provider.borrow_mut()))) {
            body["previous_response_id"] = id.into();
            body["input"] = new.into();
        }
        let body = body.to_string().into_bytes();
        vec![Event::requested(*exchange, *kind, body)]
    })
}

/// The id of the next response of a provider, which depends only on its number.
fn response_id(provider: &mut Provider) -> String {
    let body = br#"{"model":"m","input":"hi","store":false}"#;
    let request = Request { method: "POST", path: "/v1/responses", headers: Headers::NONE, body };
    let (_, answer) = provider.answer(request);
    let said: Value = serde_json::from_slice(answer.frames.slice(0..answer.frames.len())).unwrap();
    said["id"].as_str().unwrap().to_owned()
}

#[test]
fn a_system_that_sends_only_new_items_is_accused_of_nothing() {
    for name in ["control/plain-batch", "control/two-batches", "abort/mid-batch#k=1"] {
        let plan = plan(name, Dialect::OpenaiResponses);
        let run = chained(&plan, &run(&plan));
        let n_named = run.trace.events().iter().filter(|event| names_a_response(event)).count();
        assert!(n_named > 1, "{name}");
        expect_unaccused(&plan, &run, Verdict::Pass);
    }
}

fn names_a_response(event: &Event) -> bool {
    match event {
        Event::Requested { body, .. } => String::from_utf8_lossy(body).contains("previous_response_id"),
        _ => false,
    }
}

#[test]
fn results_that_are_left_out_of_a_chain_are_missing() {
    let plan = plan("control/plain-batch", Dialect::OpenaiResponses);
    let whole = chained(&plan, &run(&plan));
    // The provider rejects this, and is right to.
    let left_out = rebuilt(&whole, |turn, event| match event {
        Event::Requested { exchange, body, .. } if turn == 0 && exchange.0 == 1 => {
            let mut body: Value = serde_json::from_slice(body).unwrap();
            body["input"].as_array_mut().unwrap().remove(0);
            let kind = RequestKind::Refused { status: 400 };
            let body = body.to_string().into_bytes();
            vec![Event::requested(*exchange, kind, body)]
        }
        // A rejection has no continuation.
        Event::Requested { exchange, .. } if exchange.0 > 1 => Vec::new(),
        event => vec![event.clone()],
    });
    let judgement = judged(&plan, &left_out);
    assert_eq!(judgement.verdict, Verdict::Fail, "{judgement:#?}");
    let refused = judgement.findings.iter().find(|finding| finding.check == "thread-survives").unwrap();
    assert_eq!(refused.rule, Some("openai-responses/tool-output-missing"), "{refused:#?}");
}
