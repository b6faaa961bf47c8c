//! A client of Responses that sends only new items, and names the response that the provider has.

use super::*;

/// A client whose first reply makes several calls.
fn client() -> Client {
    Client::of("control/plain-batch@openai-responses")
}

impl Client {
    /// Posts a body with the plan's tools and returns the provider's classification and reply.
    fn ask_offering(&mut self, mut body: Value) -> (RequestKind, Value) {
        body["model"] = "m".into();
        let tool = |name: &str| json!({ "type": "function", "name": name });
        body["tools"] = self.plan.tools.iter().map(|planned| tool(&planned.name)).collect();
        self.post(&body)
    }

    /// Requests the first reply. Returns its id and its calls.
    fn open(&mut self, store: bool) -> (String, Vec<Value>) {
        let user = json!({ "role": "user", "content": self.plan.turns[0].user });
        let (kind, reply) = self.ask_offering(json!({ "store": store, "input": [user] }));
        assert_eq!(kind, scripted(0));
        let is_call = |item: &&Value| item["type"] == "function_call";
        let calls: Vec<Value> = reply["output"].as_array().unwrap().iter().filter(is_call).cloned().collect();
        assert!(calls.len() > 1, "{reply}");
        (reply["id"].as_str().unwrap().to_owned(), calls)
    }
}

const REFUSED: RequestKind = RequestKind::Refused { status: 400 };

fn outputs(calls: &[Value]) -> Vec<Value> {
    let output = |call: &Value| json!({ "type": "function_call_output", "call_id": call["call_id"], "output": "found it" });
    calls.iter().map(output).collect()
}

#[test]
fn outputs_without_history_answer_the_named_response() {
    let mut client = client();
    let (id, calls) = client.open(true);
    let lacking = json!({ "previous_response_id": id, "input": outputs(&calls[1..]) });
    let (kind, said) = client.ask_offering(lacking);
    let first = calls[0]["call_id"].as_str().unwrap();
    assert_eq!(kind, REFUSED);
    assert_eq!(said["error"]["message"], format!("No tool output found for function call {first}."));
    assert_eq!(said["error"]["param"], "input");
    // The rejection has not advanced the script.
    let (kind, reply) = client.ask_offering(json!({ "previous_response_id": id, "input": outputs(&calls) }));
    assert_eq!(kind, scripted(1), "{reply}");
    // Calls that were answered before need not be answered again.
    let next = json!({ "previous_response_id": reply["id"], "input": "Go on." });
    let (kind, said) = client.ask_offering(next);
    assert_eq!(kind, RequestKind::Surplus, "{said}");
}

#[test]
fn a_text_after_open_calls_is_refused() {
    let mut client = client();
    let (id, _) = client.open(true);
    let (kind, said) = client.ask_offering(json!({ "previous_response_id": id, "input": "Go on." }));
    assert_eq!(kind, REFUSED);
    let message = said["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("No tool output found for function call call_"), "{message}");
}

#[test]
fn item_references_are_resolved() {
    let mut client = client();
    let (_, calls) = client.open(true);
    let user = json!({ "role": "user", "content": "Look." });
    let names = calls.iter().map(|call| json!({ "type": "item_reference", "id": call["id"] }));
    let named: Vec<Value> = std::iter::once(user).chain(names).collect();
    let (kind, said) = client.ask_offering(json!({ "input": named }));
    assert_eq!(kind, REFUSED, "{said}");
    let (kind, said) = client.ask_offering(json!({ "input": ([named, outputs(&calls)].concat()) }));
    assert_eq!(kind, scripted(1), "{said}");
}

#[test]
fn an_item_that_was_not_stored_cannot_be_referenced() {
    let mut client = client();
    let (id, calls) = client.open(false);
    let (kind, said) = client.ask_offering(json!({ "previous_response_id": id, "input": outputs(&calls) }));
    assert_eq!(kind, REFUSED);
    assert_eq!(said["error"]["code"], "previous_response_not_found");
    let named = json!([{ "type": "item_reference", "id": calls[0]["id"] }]);
    let (kind, said) = client.ask_offering(json!({ "input": named }));
    assert_eq!(kind, RequestKind::Refused { status: 404 }, "{said}");
}

#[test]
fn the_referenced_items_of_a_request_are_expanded() {
    let mut client = client();
    let (id, calls) = client.open(true);
    let words = client.plan.turns[0].user.clone();
    let named = json!({ "previous_response_id": id, "input": outputs(&calls) }).to_string();
    let whole = client.provider.written_out(named.as_bytes()).unwrap();
    assert!(!named.contains(&words) && String::from_utf8(whole).unwrap().contains(&words));
    let alone = json!({ "input": "Go on." }).to_string();
    assert_eq!(client.provider.written_out(alone.as_bytes()), None);
}
