//! Converts histories to an SDK's native format, for filters in SDKs without a converter for request bodies.

mod ai_sdk;
mod pydantic_ai;

use std::collections::BTreeMap;

use brickbat_rules::Dialect;
use brickbat_rules::histories::{self, Block, Message, Role};
use serde_json::Value;

use crate::{Form, SuiteError};

/// Converts a body to a format.
///
/// # Errors
///
/// Fails if the format cannot represent the body.
pub fn written(form: Form, body: &Value, dialect: Dialect) -> Result<Value, SuiteError> {
    if form == Form::Request {
        return Ok(body.clone());
    }
    let messages = messages(body, dialect);
    match form {
        Form::Request => Ok(body.clone()),
        Form::AiSdkModel => ai_sdk::model_messages(&messages, dialect),
        Form::AiSdkUi => ai_sdk::ui_messages(&messages, dialect),
        Form::PydanticAi => pydantic_ai::messages(&messages, dialect),
    }
}

/// Returns the messages of a body, instructions first, with the name of the tool in each result.
fn messages(body: &Value, dialect: Dialect) -> Vec<Message> {
    let mut messages: Vec<Message> = Vec::new();
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    for Message { role, mut blocks } in histories::read(dialect, body) {
        for block in &mut blocks {
            match block {
                Block::Call(call) => _ = names.insert(call.id.clone(), call.name.clone()),
                Block::Result(result) if result.name.is_empty() => {
                    result.name = names.get(&result.call).cloned().unwrap_or_default();
                }
                _ => {}
            }
        }
        // Some dialects have results and the user's text in one message. The formats have two messages.
        let (results, others): (Vec<Block>, Vec<Block>) =
            blocks.into_iter().partition(|block| matches!(block, Block::Result(_)));
        let role = if role == Role::Tool { Role::User } else { role };
        for (role, blocks) in [(Role::Tool, results), (role, others)] {
            match messages.last_mut() {
                _ if blocks.is_empty() => {}
                // A list of items has one message for each block.
                Some(last) if last.role == role && role != Role::System && role != Role::User => {
                    last.blocks.extend(blocks)
                }
                _ => messages.push(Message { role, blocks }),
            }
        }
    }
    messages
}

fn no_place(form: Form, what: &'static str) -> SuiteError {
    SuiteError::NoPlace { form, what }
}

/// Parses arguments as an object.
fn arguments(text: &str, form: Form) -> Result<Value, SuiteError> {
    match serde_json::from_str(text) {
        Ok(value) => Ok(value),
        Err(_) if text.trim().is_empty() => Ok(Value::Object(serde_json::Map::new())),
        Err(_) => Err(no_place(form, "arguments that are cut off")),
    }
}
