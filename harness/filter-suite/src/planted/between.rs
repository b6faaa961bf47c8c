//! Planted bugs from the failure classes between dialects and providers: typical errors in gateways and
//! handoffs.

use brickbat_rules::Dialect;
use brickbat_rules::histories::{Block, Message, Role, instructions, render};
use brickbat_sessions::read_body;
use serde_json::{Value, json};

use super::edits::{is, text, with_blocks, with_entries};
use super::sound::{carried, converter, mode};
use super::{Own, Planted};
use crate::inputs::answers;
use crate::{Asked, Filter, Function, Kind, Mode, Said};

const ANTHROPIC: Dialect = Dialect::AnthropicMessages;
const BEDROCK: Dialect = Dialect::BedrockConverse;
const CHAT: Dialect = Dialect::OpenaiChat;
const RESPONSES: Dialect = Dialect::OpenaiResponses;

/// One bug per class.
pub const BETWEEN: [Planted; 7] = [
    // BUG: BerriAI/litellm#25669, claude-code-router: calls in two messages become calls without results.
    bug(
        "calls-in-two-messages",
        "gateway-translate",
        || vec![converter("chat", ANTHROPIC, CHAT)],
        || Box::new(Function(one_by_one)),
    ),
    // BUG: openclaw/openclaw#96664: thinking from another provider is passed on as the model's own.
    bug(
        "passes-thoughts-on",
        "thinking-foreign",
        || vec![converter("claude", RESPONSES, ANTHROPIC)],
        || Box::new(Function(foreign_thoughts)),
    ),
    // BUG: danny-avila/LibreChat#4811: a result without text has `null` as its content.
    bug(
        "null-for-nothing",
        "null-content",
        || vec![converter("chat", ANTHROPIC, CHAT)],
        || Box::new(Function(null_results)),
    ),
    // BUG: MoonshotAI/kimi-cli#2141: a field that only some providers have is dropped.
    bug(
        "drops-unknown-fields",
        "reasoning-content",
        || vec![at_deepseek()],
        || Box::new(Function(known_fields)),
    ),
    // BUG: askalf/dario#1066: the last text gets the cache marker even if it is empty.
    bug(
        "marks-the-last-text",
        "cache-on-empty",
        || vec![only(ANTHROPIC)],
        || Box::new(Function(mark_last_text)),
    ),
    // BUG: strands-agents/harness-sdk#1223: text is inserted before the results, where only results are
    // allowed.
    bug("reminds-before-results", "mixed-content", || vec![only(BEDROCK)], || Box::new(Function(remind))),
    // BUG: BerriAI/litellm: ids of calls are sent to Mistral unchanged.
    bug(
        "keeps-foreign-ids",
        "id-format",
        || vec![converter("mistral", CHAT, Dialect::Mistral)],
        || Box::new(Function(foreign_ids)),
    ),
];

type Filters = fn() -> Box<dyn Filter>;

const fn bug(name: &'static str, class: &'static str, modes: fn() -> Vec<Mode>, filter: Filters) -> Planted {
    Planted { own: Own { name, modes, filter }, check: "valid-stays-valid", class: Some(class) }
}

fn only(dialect: Dialect) -> Mode {
    Mode { from: vec![dialect], ..mode("gateway", Kind::Gateway, "It passes requests on.") }
}

fn at_deepseek() -> Mode {
    Mode { profile: Some("deepseek@2026-02".to_owned()), ..only(CHAT) }
}

fn one_by_one(asked: &Asked) -> Said {
    if let Said::Unsupported(why) = carried(asked) {
        return Said::Unsupported(why);
    }
    let Ok(session) = read_body(asked.request.to_string().as_bytes(), asked.from) else {
        return Said::Unsupported("not JSON".to_owned());
    };
    let message = |message: &brickbat_sessions::Message| {
        let blocks: Vec<Block> = message.blocks.iter().map(|block| block.content.clone()).collect();
        Message { role: message.role, blocks }
    };
    let mut messages: Vec<Message> = session.messages.iter().map(message).collect();
    for message in &mut messages {
        message.blocks.retain(|block| match block {
            Block::Text(text) => !text.trim().is_empty(),
            block => !matches!(block, Block::Thinking(_)),
        });
    }
    messages.retain(|message| !message.blocks.is_empty());
    let system = instructions(&asked.request).into_iter();
    let before: Vec<Message> = system.map(|text| Message::text(Role::System, text)).collect();
    messages.splice(0..0, before);
    Said::request(render(asked.to, asked.model.as_deref(), &messages).body)
}

fn foreign_thoughts(asked: &Asked) -> Said {
    let has_thoughts = asked.request.to_string().contains("\"reasoning\"");
    match carried(asked) {
        Said::Request { body, .. } if has_thoughts => {
            let mut is_first = true;
            Said::request(with_entries(&body, asked.to, |entries| {
                for entry in entries.iter_mut().filter(|entry| text(entry, "role") == "assistant") {
                    let Some(blocks) = entry.get_mut("content").and_then(Value::as_array_mut) else {
                        continue;
                    };
                    if std::mem::take(&mut is_first) {
                        blocks.insert(0, json!({ "type": "thinking", "thinking": "hm", "signature": "" }));
                    }
                }
            }))
        }
        said => said,
    }
}

fn null_results(asked: &Asked) -> Said {
    match carried(asked) {
        Said::Request { body, .. } => Said::request(with_entries(&body, asked.to, |entries| {
            for entry in entries.iter_mut().filter(|entry| text(entry, "role") == "tool") {
                if text(entry, "content").is_empty() {
                    entry["content"] = Value::Null;
                }
            }
        })),
        said => said,
    }
}

fn known_fields(asked: &Asked) -> Said {
    const KNOWN: [&str; 5] = ["role", "content", "name", "tool_calls", "tool_call_id"];
    Said::request(with_entries(&asked.request, asked.from, |entries| {
        for entry in entries.iter_mut().filter_map(Value::as_object_mut) {
            entry.retain(|key, _| KNOWN.contains(&key.as_str()));
        }
    }))
}

fn mark_last_text(asked: &Asked) -> Said {
    Said::request(with_blocks(&asked.request, asked.from, |blocks| {
        let results = blocks.iter_mut().filter(|block| is(block, "tool_result"));
        let content = results.filter_map(|block| block.get_mut("content")?.as_array_mut());
        if let Some(last) = content.flatten().rfind(|block| is(block, "text")) {
            last["cache_control"] = json!({ "type": "ephemeral" });
        }
    }))
}

fn remind(asked: &Asked) -> Said {
    Said::request(with_entries(&asked.request, asked.from, |entries| {
        for entry in entries.iter_mut().filter(|entry| answers(entry)) {
            if let Some(blocks) = entry.get_mut("content").and_then(Value::as_array_mut) {
                blocks.insert(0, json!({ "text": "Remember the rules." }));
            }
        }
    }))
}

fn foreign_ids(asked: &Asked) -> Said {
    match carried(asked) {
        Said::Request { .. } => Said::request(asked.request.clone()),
        said => said,
    }
}
