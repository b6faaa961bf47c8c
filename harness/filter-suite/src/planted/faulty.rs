//! Planted bugs that occur within one dialect.

use brickbat_rules::Dialect;
use brickbat_sessions::NOT_RECORDED;
use serde_json::{Value, json};

use super::edits::{is, text, turns, with_blocks, with_entries};
use super::sound::{
    SUMMED_UP, carried, compactor, converter, mode, newest_turns, repaired, summarised, trimmer,
};
use super::stateful::{cooldown, prompting};
use super::{Own, Planted};
use crate::{Asked, Function, Kind, Mode, Said};

const ANTHROPIC: Dialect = Dialect::AnthropicMessages;
const CHAT: Dialect = Dialect::OpenaiChat;

/// At least one bug for each check.
pub const FAULTY: [Planted; 14] = [
    // BUG: openclaw/openclaw#109443: an image causes a TypeError.
    bug(
        "raises-on-pictures",
        "never-raises",
        || vec![gateway(ANTHROPIC)],
        || Box::new(Function(raise_on_pictures)),
    ),
    // BUG: strands-agents/harness-sdk#2025: an empty text is added where there was none.
    bug(
        "adds-empty-text",
        "valid-stays-valid",
        || vec![gateway(ANTHROPIC)],
        || Box::new(Function(add_empty_text)),
    ),
    // BUG: openclaw/openclaw#9769: the filter claims to add missing results, but does not.
    bug(
        "mends-nothing",
        "mendable-becomes-valid",
        || vec![mends("missing-at-tail")],
        || Box::new(Function(|asked: &Asked| Said::request(asked.request.clone()))),
    ),
    // BUG: google/adk-python#7236: from the second compaction on, it cuts between a call and its result.
    bug(
        "cuts-second-time",
        "rounds-stay-valid",
        || vec![only(CHAT, compactor("cuts"))],
        || Box::new(Function(cut_second_time)),
    ),
    // BUG: openclaw/openclaw#12112: a call without a result gets the result `ok`.
    bug("says-ok", "nothing-made-up", || vec![mends("missing-at-tail")], || Box::new(Function(say_ok))),
    // BUG: langchain-ai/langchain-aws#141: results are matched with calls by order, not by id.
    bug("pairs-by-order", "pairs-kept", || vec![gateway(ANTHROPIC)], || Box::new(Function(swap_results))),
    // BUG: openclaw/openclaw#58608: long results are cut without a note.
    bug("cuts-results", "words-kept", || vec![gateway(ANTHROPIC)], || Box::new(Function(cut_results))),
    // BUG: pydantic/pydantic-ai#7977: parallel calls are returned in the order in which they finished.
    bug("last-call-first", "order-kept", || vec![gateway(ANTHROPIC)], || Box::new(Function(reverse_calls))),
    // BUG: Oaklight/llm-rosetta#412: the conversion back loses text next to calls.
    bug("forgets-on-the-way-back", "there-and-back", there_and_back, || {
        Box::new(Function(forget_on_the_way_back))
    }),
    // BUG: BerriAI/litellm#25669: one broken thread puts the deployment into cooldown for all threads.
    bug("cools-down", "threads-apart", || vec![gateway(CHAT)], cooldown),
    // BUG: strands-agents/harness-sdk#2296: each pass marks its earlier fixes again.
    bug("marks-again", "twice-is-once", || vec![mends("missing-at-tail")], || Box::new(Function(mark_again))),
    // BUG: BerriAI/litellm#31060: the added prompt stays in the list of the caller, and a retry adds it
    // again.
    bug("prompts-on-retries", "twice-is-once", || vec![repairer(CHAT)], prompting),
    // BUG: earendil-works/pi#6832: valid ids are replaced.
    bug("renames-all", "left-equal", || vec![repairer(ANTHROPIC)], || Box::new(Function(rename_all))),
    // BUG: langchain-ai/langchain#38352: one turn too many is kept.
    bug(
        "keeps-one-more",
        "budget-kept",
        || vec![trimmer("keeps-one-more")],
        || {
            Box::new(Function(|asked: &Asked| {
                Said::request(newest_turns(asked, |n, budget| n <= budget + budget / 2))
            }))
        },
    ),
];

type Filters = fn() -> Box<dyn crate::Filter>;

const fn bug(name: &'static str, check: &'static str, modes: fn() -> Vec<Mode>, filter: Filters) -> Planted {
    Planted { own: Own { name, modes, filter }, check, class: None }
}

fn only(dialect: Dialect, mode: Mode) -> Mode {
    Mode { from: vec![dialect], ..mode }
}

fn gateway(dialect: Dialect) -> Mode {
    only(dialect, mode("gateway", Kind::Gateway, "It passes requests on."))
}

fn repairer(dialect: Dialect) -> Mode {
    only(dialect, mode("repair", Kind::Repairer, "It repairs."))
}

fn mends(fault: &str) -> Mode {
    Mode { mends: vec![fault.to_owned()], ..repairer(CHAT) }
}

fn there_and_back() -> Vec<Mode> {
    let there = converter("there", ANTHROPIC, CHAT);
    vec![Mode { back: Some("back".to_owned()), ..there }, converter("back", CHAT, ANTHROPIC)]
}

fn raise_on_pictures(asked: &Asked) -> Said {
    match asked.request.to_string().contains("\"image\"") {
        true => Said::Raised { kind: "TypeError".to_owned(), message: "content is not a string".to_owned() },
        false => Said::request(asked.request.clone()),
    }
}

fn add_empty_text(asked: &Asked) -> Said {
    Said::request(with_blocks(&asked.request, asked.from, |blocks| {
        if blocks.iter().any(|block| is(block, "tool_use")) && !blocks.iter().any(|block| is(block, "text")) {
            let at = blocks.iter().take_while(|block| is(block, "thinking")).count();
            blocks.insert(at, json!({ "type": "text", "text": "" }));
        }
    }))
}

fn cut_second_time(asked: &Asked) -> Said {
    let is_again = asked.request.to_string().contains(SUMMED_UP);
    let body = match is_again {
        false => summarised(&asked.request, asked.from),
        true => with_entries(&asked.request, asked.from, |entries| {
            // Everything before the last result is dropped, except for the instructions.
            let (before, _) = turns(entries);
            let Some(at) = entries.iter().rposition(|entry| text(entry, "role") == "tool") else { return };
            *entries = before.into_iter().chain(entries.split_off(at)).collect();
        }),
    };
    Said::request(body)
}

fn say_ok(asked: &Asked) -> Said {
    replaced(repaired(asked), NOT_RECORDED, "ok")
}

/// Returns the body with one text replaced by another.
fn replaced(said: Said, words: &str, other: &str) -> Said {
    match said {
        Said::Request { body, .. } => {
            let text = body.to_string().replace(words, other);
            Said::request(serde_json::from_str(&text).unwrap_or(body))
        }
        other => other,
    }
}

fn swap_results(asked: &Asked) -> Said {
    Said::request(with_blocks(&asked.request, asked.from, |blocks| {
        let results: Vec<usize> = (0..blocks.len()).filter(|at| is(&blocks[*at], "tool_result")).collect();
        if let [first, .., last] = results.as_slice() {
            let says = |block: &Value| {
                let is_text = |content: &Value| !content.to_string().contains("image");
                block.get("content").filter(|content| is_text(content)).cloned()
            };
            // Failed results are recognised by their flag.
            let is_error = |at: usize| blocks[at].get("is_error") == Some(&json!(true));
            if is_error(*first) || is_error(*last) {
                return;
            }
            if let (Some(one), Some(other)) = (says(&blocks[*first]), says(&blocks[*last])) {
                blocks[*first]["content"] = other;
                blocks[*last]["content"] = one;
            }
        }
    }))
}

/// The number of characters of a result to keep.
const MAX_LETTERS: usize = 4;

fn cut_results(asked: &Asked) -> Said {
    Said::request(with_blocks(&asked.request, asked.from, |blocks| {
        for block in blocks.iter_mut().filter(|block| is(block, "tool_result")) {
            let Some(Value::String(words)) = block.pointer_mut("/content/0/text") else { continue };
            if words.chars().count() > MAX_LETTERS && !words.trim().is_empty() {
                let cut: String = words.trim().chars().take(MAX_LETTERS).collect();
                *words = format!("{cut}…");
            }
        }
    }))
}

fn reverse_calls(asked: &Asked) -> Said {
    Said::request(with_blocks(&asked.request, asked.from, |blocks| {
        let calls: Vec<usize> = (0..blocks.len()).filter(|at| is(&blocks[*at], "tool_use")).collect();
        for (one, other) in calls.iter().zip(calls.iter().rev()).take(calls.len() / 2) {
            blocks.swap(*one, *other);
        }
    }))
}

/// The prefix that the conversion adds to each id, so that the conversion back recognises its own output.
const MARK: &str = "via_";

fn forget_on_the_way_back(asked: &Asked) -> Said {
    let Said::Request { body, .. } = carried(asked) else { return carried(asked) };
    let mut body = body;
    if asked.to == CHAT {
        body = with_entries(&body, CHAT, |entries| {
            for entry in entries {
                for call in entry.get_mut("tool_calls").and_then(Value::as_array_mut).into_iter().flatten() {
                    call["id"] = json!(format!("{MARK}{}", text(call, "id")));
                }
                if let Some(id) = entry.get("tool_call_id").and_then(Value::as_str) {
                    entry["tool_call_id"] = json!(format!("{MARK}{id}"));
                }
            }
        });
        return Said::request(body);
    }
    Said::request(with_blocks(&body, asked.to, |blocks| {
        let is_ours = |block: &Value| is(block, "tool_use") && text(block, "id").starts_with(MARK);
        if blocks.iter().any(is_ours) {
            blocks.retain(|block| !is(block, "text"));
        }
    }))
}

/// The result that the filter adds to a call.
const MENDED: &str = "error: no result";

fn mark_again(asked: &Asked) -> Said {
    let mended = replaced(repaired(asked), NOT_RECORDED, MENDED);
    match asked.request.to_string().contains(MENDED) {
        true => replaced(mended, MENDED, &format!("{MENDED}, mended")),
        false => mended,
    }
}

fn rename_all(asked: &Asked) -> Said {
    const NEW: &str = "new_";
    let renamed = |value: &mut Value, key: &str| {
        if let Some(id) = value.get(key).and_then(Value::as_str).filter(|id| !id.starts_with(NEW)) {
            value[key] = json!(format!("{NEW}{id}"));
        }
    };
    Said::request(with_blocks(&asked.request, asked.from, |blocks| {
        for block in blocks {
            match text(block, "type") {
                "tool_use" => renamed(block, "id"),
                "tool_result" => renamed(block, "tool_use_id"),
                _ => {}
            }
        }
    }))
}
