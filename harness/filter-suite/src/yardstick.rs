//! Our own careful translation of a body. A filter is not blamed for anything that this translation also
//! cannot do.

use std::collections::BTreeMap;

use brickbat_rules::histories::{self, Block, Message, Role, Signs, render};
use brickbat_rules::{Dialect, Severity, Violation, list_of, naming, validate, validate_list_to};
use serde_json::{Value, json};

use crate::facts::has_other_parts;
use crate::{Route, SuiteError};

/// The placeholder for a thinking signature in a history from another model, as Google documents it
/// (<https://ai.google.dev/gemini-api/docs/thought-signatures>).
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

/// Returns the provider's reasons to reject a body.
pub(crate) fn refusals(route: &Route<'_>, body: &Value) -> Vec<Violation> {
    let bytes = body.to_string().into_bytes();
    let model = route.model.as_deref();
    let named = body.get("model").and_then(Value::as_str);
    let violations = match body.is_array() {
        true => validate_list_to(route.profile, model, &bytes),
        // The body must be parsed again to set another model in it.
        false if model.is_some() && model != named => validate(route.profile, &naming(&bytes, model)),
        false => validate(route.profile, &bytes),
    };
    violations.into_iter().filter(|violation| violation.severity == Severity::Error).collect()
}

/// Returns the body in the dialect of the output, or the reason why it cannot be translated.
///
/// # Errors
///
/// Fails if the input has something that only its own dialect has, or if the provider of the output
/// rejects the result.
pub fn translated(route: &Route<'_>, body: &Value) -> Result<Value, SuiteError> {
    let foreign_to = |what| SuiteError::Foreign { to: route.to, what, from: route.from };
    let mut messages = histories::read(route.from, body);
    if let Some(what) = messages.iter().flat_map(|message| &message.blocks).find_map(native) {
        return Err(foreign_to(what));
    }
    if let Some(key) = beside(route.from, body) {
        return Err(foreign_to(format!("`{key}`")));
    }
    carry(&mut messages, route.to);
    let rendered = render(route.to, route.model.as_deref(), &messages).body;
    match refusals(route, &rendered).first() {
        Some(violation) => Err(SuiteError::Refused { to: route.to, rule: violation.rule.id }),
        None => Ok(rendered),
    }
}

/// Names a block that cannot be represented in another dialect.
fn native(block: &Block) -> Option<String> {
    match block {
        Block::Native { value, .. } => {
            let kind = value.get("type").and_then(Value::as_str).map(str::to_owned);
            let key = value.as_object().and_then(|fields| fields.keys().next().cloned());
            Some(kind.or(key).unwrap_or_else(|| "block".to_owned()))
        }
        // A call that is not a function call has no name here.
        Block::Call(call) if call.name.is_empty() => Some("call without a name".to_owned()),
        Block::Result(result) => result.output.iter().find_map(|block| match block {
            Block::Image(_) => Some("picture in a result".to_owned()),
            Block::Text(text) if has_other_parts(text) => {
                Some("result with parts that are no texts".to_owned())
            }
            block => native(block),
        }),
        _ => None,
    }
}

/// Returns the field that refers to data stored by the provider, which other providers cannot resolve.
pub(crate) fn beside(dialect: Dialect, body: &Value) -> Option<&'static str> {
    let keys = dialect.codec().kept_at;
    keys.iter().copied().find(|key| body.get(key).is_some())
}

/// Adapts the messages to a dialect: removes thinking from others, adds names to results, and converts ids
/// to an accepted format.
fn carry(messages: &mut Vec<Message>, to: Dialect) {
    let mut ids: BTreeMap<String, String> = BTreeMap::new();
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    for message in messages.iter_mut() {
        message.blocks.retain(|block| match block {
            Block::Thinking(_) => false,
            Block::Text(text) => !text.trim().is_empty(),
            _ => true,
        });
        let mut has_signed = false;
        for block in &mut message.blocks {
            match block {
                Block::Call(call) => {
                    names.insert(call.id.clone(), call.name.clone());
                    let next = ids.len();
                    let id = ids.entry(call.id.clone()).or_insert_with(|| id_for(to, &call.id, next));
                    call.id = id.clone();
                    call.item = None;
                    call.signature =
                        (to.codec().signs == Signs::Calls && !has_signed).then(|| NO_SIGNATURE.to_owned());
                    has_signed = true;
                }
                Block::Result(result) => {
                    if let Some(name) = names.get(&result.call).filter(|_| result.name.is_empty()) {
                        result.name = name.clone();
                    }
                    if let Some(id) = ids.get(&result.call) {
                        result.call = id.clone();
                    }
                }
                _ => {}
            }
        }
    }
    messages.retain(|message| !message.blocks.is_empty());
    // Calls that a client wrote in two messages are one batch. Their results come after both.
    messages.dedup_by(|next, before| {
        let is_same = next.role == Role::Assistant && before.role == Role::Assistant;
        if is_same {
            before.blocks.append(&mut next.blocks);
        }
        is_same
    });
    // Moves instructions between turns to where the dialect has them, and joins them if there is only one
    // place.
    if !to.codec().instructions_at.is_empty() {
        messages.sort_by_key(|message| message.role != Role::System);
    }
}

/// Returns the id, or a new one if the provider does not accept it.
fn id_for(to: Dialect, id: &str, next: usize) -> String {
    match (to.codec().takes_id)(id) {
        true => id.to_owned(),
        false => format!("c{next:08}"),
    }
}

/// Adds a turn with a call and its result to a body, as an application would when it continues.
pub(crate) fn grown(body: &Value, dialect: Dialect, model: Option<&str>, round: u32) -> Option<Value> {
    let mut ahead = vec![Message::text(Role::User, "Look once more.")];
    let call = histories::Call {
        signature: (dialect.codec().signs == Signs::Calls).then(|| NO_SIGNATURE.to_owned()),
        ..histories::Call::new(format!("r{round:08}"), tool_in(body, dialect), "{}")
    };
    let output = vec![Block::Text(format!("found in round {round}"))];
    let (id, name) = (call.id.clone(), call.name.clone());
    let result = histories::CallResult::new(id, name, output);
    ahead.push(Message { role: Role::Assistant, blocks: vec![Block::Call(call)] });
    ahead.push(Message { role: Role::Tool, blocks: vec![Block::Result(result)] });
    ahead.push(Message::text(Role::Assistant, format!("Found, round {round}.")));
    ahead.push(Message::text(Role::User, format!("Go on, round {round}.")));
    // If the list ends with the user, the model continues.
    let ends_with_user = |entry: &Value| entry.get("role").and_then(Value::as_str) == Some("user");
    let key = list_of(dialect);
    let list = body.get(key)?.as_array()?;
    if list.last().is_some_and(ends_with_user) {
        ahead.remove(0);
    }
    let rendered = render(dialect, model, &ahead).body;
    let mut grown = body.clone();
    grown.get_mut(key)?.as_array_mut()?.extend(rendered.get(key)?.as_array()?.iter().cloned());
    for tools in ["tools", "toolConfig"] {
        if let (None, Some(offered)) = (body.get(tools), rendered.get(tools)) {
            grown[tools] = json!(offered);
        }
    }
    Some(grown)
}

/// Returns a tool that the body already calls, so that it is offered.
fn tool_in(body: &Value, dialect: Dialect) -> String {
    let facts = crate::Facts::of(body, dialect);
    let named = facts.calls().into_iter().map(|call| call.name.clone()).find(|name| !name.is_empty());
    named.unwrap_or_else(|| "list_files".to_owned())
}
