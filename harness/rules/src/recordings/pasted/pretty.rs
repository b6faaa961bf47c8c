//! Messages as LangChain's `pretty_print` prints them, each below a line with its kind
//! (`libs/core/langchain_core/messages/base.py` of <https://github.com/langchain-ai/langchain>).

use serde_json::{Map, Value};

use crate::histories::{Block, Call, CallResult, Message, Role};

/// The messages, and the line of the first.
pub(super) struct Pretty {
    pub(super) line: u64,
    pub(super) messages: Vec<Message>,
}

/// Reads the messages of a text. Results are printed without the id of their call, and belong to the first open call of
/// their tool.
pub(super) fn messages(text: &str) -> Option<Pretty> {
    let (mut line, mut sections) = (0, Vec::<(Role, Vec<&str>)>::new());
    for (index, own) in text.lines().enumerate() {
        match (role_of(own), sections.last_mut()) {
            (Some(role), last) => {
                line = if last.is_none() { index as u64 + 1 } else { line };
                sections.push((role, Vec::new()));
            }
            (None, Some((_, lines))) => lines.push(own),
            (None, None) => {}
        }
    }
    if sections.len() < 2 {
        return None;
    }
    let mut open: Vec<Call> = Vec::new();
    let messages = sections.into_iter().map(|(role, lines)| match role {
        Role::Assistant => {
            let blocks = reply(&lines);
            open.extend(blocks.iter().filter_map(|block| match block {
                Block::Call(call) => Some(call.clone()),
                _ => None,
            }));
            Message { role, blocks }
        }
        Role::Tool => {
            let name = lines.iter().find_map(|line| line.strip_prefix("Name: ")).unwrap_or_default().trim();
            let at = open
                .iter()
                .position(|call| call.name == name)
                .or((!open.is_empty() && name.is_empty()).then_some(0));
            let call = at.map(|at| open.remove(at).id).unwrap_or_default();
            let rest: Vec<&str> = lines.into_iter().filter(|line| !line.starts_with("Name: ")).collect();
            let output = said(&rest).into_iter().collect();
            Message { role, blocks: vec![Block::Result(CallResult::new(call, name, output))] }
        }
        Role::System | Role::User => Message { role, blocks: said(&lines).into_iter().collect() },
    });
    Some(Pretty { line, messages: messages.collect() })
}

/// The role in a line such as `===== Human Message =====`.
fn role_of(line: &str) -> Option<Role> {
    let inner = line.trim().strip_prefix("====")?.strip_suffix("====")?.trim_matches('=').trim();
    match inner {
        "Human Message" => Some(Role::User),
        "Ai Message" | "AI Message" => Some(Role::Assistant),
        "System Message" => Some(Role::System),
        "Tool Message" => Some(Role::Tool),
        _ => None,
    }
}

fn said(lines: &[&str]) -> Option<Block> {
    let text = lines.join("\n");
    let text = text.trim();
    (!text.is_empty()).then(|| Block::Text(text.to_owned()))
}

/// The text and the calls of a reply.
fn reply(lines: &[&str]) -> Vec<Block> {
    let at = lines.iter().position(|line| line.trim() == "Tool Calls:").unwrap_or(lines.len());
    let (text, rest) = lines.split_at(at);
    let mut blocks: Vec<Block> = said(text).into_iter().collect();
    let mut calls: Vec<(Call, Map<String, Value>)> = Vec::new();
    for line in rest.iter().skip(1).map(|line| line.trim()) {
        if let Some(id) = line.strip_prefix("Call ID: ") {
            if let Some((call, _)) = calls.last_mut() {
                id.clone_into(&mut call.id);
            }
        } else if let Some((name, value)) = line.split_once(": ") {
            let value = serde_json::from_str(value).unwrap_or_else(|_| value.into());
            if let Some((_, arguments)) = calls.last_mut() {
                arguments.insert(name.to_owned(), value);
            }
        } else if let Some((name, id)) = line.strip_suffix(')').and_then(|line| line.split_once(" (")) {
            calls.push((Call::new(id, name, ""), Map::new()));
        }
    }
    blocks.extend(calls.into_iter().map(|(call, arguments)| {
        Block::Call(Call { arguments: Value::Object(arguments).to_string(), ..call })
    }));
    blocks
}
