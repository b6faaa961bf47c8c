//! Fields of messages that no provider and no known product has, and that look like calls or results.
//!
//! A list of messages that nothing identifies is judged as a provider reads it. If its calls are in fields of another name,
//! such as `toolCalls` or `messageParams`, they are not seen, and the judgement is not complete.

use brickbat_rules::json::{Document, Json};

use crate::json::lines;
use crate::near::{Near, nearest};
use crate::{Files, Product, Session};

/// The fields that were not understood.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Foreign {
    /// Their names, in the order of the file.
    pub keys: Vec<String>,
    /// True if one of them has results beside the calls, so that a refusal is as uncertain as an acceptance.
    pub has_results: bool,
    /// The products with stores like this file.
    pub near: Vec<Near>,
}

/// The lists of messages in a file.
const LISTS: [&str; 4] = ["", "/messages", "/input", "/contents"];

/// Fields about calls and results that a provider, or a known form of its messages, has.
const KNOWN: [&str; 10] = [
    "function_call",
    "function_responses",
    "parts",
    "tool_call_id",
    "tool_calls",
    "tool_name",
    "tool_plan",
    "tool_use_id",
    "toolConfig",
    TOOLS,
];

/// The only known field that is noted: with results, it is that of another form.
const TOOLS: &str = "tools";

/// The number of names that are noted, and the longest name. A product has two or three such fields.
const MAX_KEYS: usize = 5;
const MAX_NAME: usize = 40;

/// Notes the fields of a list of messages that nothing identifies.
pub(crate) fn note(product: Product, files: &Files, sessions: &mut [Session]) {
    let [session] = sessions else { return };
    let keys = match product {
        Product::Request => Document::parse(files.main()).map_or_else(
            |_| Vec::new(),
            |document| keys(LISTS.iter().flat_map(|list| document.root().pointer(list).items())),
        ),
        Product::MessageLines => {
            let mut found = Vec::new();
            for line in lines(files.main()) {
                let Ok(document) = Document::parse(line.bytes) else { continue };
                found.extend(keys(std::iter::once(document.root())));
                found.dedup();
            }
            first(found)
        }
        _ => return,
    };
    if !keys.is_empty() {
        let mut near = nearest(files);
        near.retain(|near| !matches!(near.product, Product::Request | Product::MessageLines));
        let has_results = keys.iter().any(|key| key == TOOLS);
        session.foreign = Foreign { keys, has_results, near };
    }
}

fn keys<'t, 'a: 't>(messages: impl Iterator<Item = Json<'t, 'a>>) -> Vec<String> {
    let of_message = messages.filter(|message| message.field("role").is_str());
    let fields = of_message.flat_map(|message| message.fields());
    let foreign = fields.filter_map(|(name, value)| {
        let name = name.as_str()?.into_owned();
        let is_known = KNOWN.contains(&name.as_str()) && !has_results(value);
        (!is_known && tells_of_calls(&name, value)).then_some(name)
    });
    first(foreign)
}

/// Returns whether a list has calls with their results, as neuron-ai stores them in `tools`
/// (`src/Chat/Messages/ToolCallResultMessage.php` of <https://github.com/neuron-core/neuron-ai>).
fn has_results(value: Json<'_, '_>) -> bool {
    value.items().any(|item| item.get("callId").is_some() && item.get("result").is_some())
}

/// The first names, each once.
fn first(names: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for name in names {
        if found.len() < MAX_KEYS && !found.contains(&name) {
            found.push(name);
        }
    }
    found
}

/// Returns whether a field has a call, a result, or the id of one, as far as its name or its items show.
fn tells_of_calls(name: &str, value: Json<'_, '_>) -> bool {
    let is_word =
        name.len() <= MAX_NAME && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    let is_empty = value.is_null() || value.is("") || matches!(value.raw(), "[]" | "{}" | "false" | "true");
    if !is_word || is_empty {
        return false;
    }
    let plain = name.to_ascii_lowercase().replace('_', "");
    let is_named = plain.contains("tool") || plain.contains("functioncall") || plain.ends_with("params");
    let is_of_tool =
        |item: Json<'_, '_>| item.field("type").as_str().is_some_and(|kind| kind.contains("tool"));
    is_named || name != "content" && value.items().any(is_of_tool)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{Repair, RepairOptions, Verdict, judge, read, repair};

    fn verdict(text: &str) -> (Verdict, Vec<String>) {
        let session = read(&Files::one("log.jsonl", text)).unwrap().remove(0);
        (judge(&session, None).verdict, session.foreign.keys)
    }

    #[test]
    fn a_list_with_calls_in_other_fields_is_not_called_accepted() {
        let calls = json!([{ "id": "c1", "name": "find", "arguments": {} }]);
        let of = |field: &str, value: &serde_json::Value| {
            [
                json!({ "role": "user", "content": "Look." }),
                json!({ "role": "assistant", "content": "", field: value }),
                json!({ "role": "user", "content": "Well?" }),
            ]
        };
        for (field, value) in [
            ("toolCalls", calls.clone()),
            ("messageParams", json!({ "tool_calls": calls })),
            ("contentParams", json!([{ "type": "image_url" }])),
            ("toolCallId", json!("c1")),
            ("blocks", json!([{ "type": "tool_use", "id": "c1" }])),
            ("tools", json!([{ "name": "find", "callId": "c1", "result": null }])),
        ] {
            let messages = of(field, &value);
            let lines: String = messages.iter().map(|message| format!("{message}\n")).collect();
            let expected = (Verdict::Incomplete, vec![field.to_owned()]);
            assert_eq!(verdict(&lines), expected, "lines");
            // A body with the words of another API is not taken for one at all.
            let body = json!({ "model": "gpt-5", "messages": messages }).to_string();
            if !matches!(field, "toolCalls" | "toolCallId") {
                assert_eq!(verdict(&body), expected, "{field}");
            }
            let repaired = repair(&Files::one("log.jsonl", lines), 0, &RepairOptions::default());
            assert!(matches!(repaired, Ok(Repair::Beyond(_))), "{field}: {repaired:?}");
        }
        for (field, value) in [
            ("timestamp", json!(1)),
            ("usage", json!({ "input": 1 })),
            ("toolCalls", json!([])),
            (
                "tool_calls",
                json!([{ "id": "c1", "type": "function", "function": { "name": "f", "arguments": "{}" } }]),
            ),
        ] {
            let lines: String = of(field, &value).iter().map(|message| format!("{message}\n")).collect();
            assert_eq!(verdict(&lines).1, Vec::<String>::new(), "{field}");
        }
    }

    #[test]
    fn results_in_a_field_of_their_own_leave_a_missing_result_open() {
        let call =
            json!([{ "id": "c1", "type": "function", "function": { "name": "find", "arguments": "{}" } }]);
        let tools = json!([{ "name": "find", "callId": "c1", "result": "sun" }]);
        let messages = [
            json!({ "role": "user", "content": "Look." }),
            json!({ "role": "assistant", "content": null, "type": "tool_call", "tool_calls": call, "tools": tools }),
            json!({ "role": "user", "content": null, "type": "tool_call_result", "tools": tools }),
        ];
        let lines: String = messages.iter().map(|message| format!("{message}\n")).collect();
        assert_eq!(verdict(&lines), (Verdict::Incomplete, vec!["tools".to_owned()]));
    }
}
