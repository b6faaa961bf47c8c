//! Kiro CLI since engine 2: `~/.kiro/sessions/cli/<id>.jsonl`, with a prompt, a reply or results on each line.
//!
//! A line is `{version: "v1", kind, data: {message_id, content: [{kind, data}]}}`. Source:
//! <https://github.com/kirodotdev/Kiro/issues/6110>, which quotes such lines.

use brickbat_rules::histories::Role;

use super::assembled::{Assembled, Assembly};
use super::{CallAt, Piece, ResultAt, Saying, Speaker};
use crate::Files;
use crate::FormError;
use crate::stores::Look;

pub(super) const LINES: Assembly = Assembly { owns: is_lines, assemble };

/// The kinds of lines with a message.
const KINDS: &[(&str, Role)] =
    &[("Prompt", Role::User), ("AssistantMessage", Role::Assistant), ("ToolResults", Role::Tool)];

pub(super) const SPEAKER: Speaker = Speaker {
    at: "",
    role: Saying::Named("/kind", KINDS),
    pieces: &[Piece::Parts(
        "/data/content",
        "/kind",
        &[
            ("text", Piece::Text("/data")),
            ("image", Piece::Skip),
            (
                "toolUse",
                Piece::Call(CallAt { id: "/data/toolUseId", name: "/data/name", arguments: "/data/input" }),
            ),
            (
                "toolResult",
                Piece::Result(ResultAt {
                    call: "/data/toolUseId",
                    name: "/none",
                    output: "/data/content",
                    failed: Some(("/data/status", "error")),
                }),
            ),
        ],
    )],
};

fn is_lines(look: &Look<'_>) -> bool {
    let is_line = |line: brickbat_rules::json::Json<'_, '_>| {
        line.field("version").is("v1") && line.field("kind").is_str() && line.field("data").is_object()
    };
    let is_message =
        |line: brickbat_rules::json::Json<'_, '_>| KINDS.iter().any(|(kind, _)| line.field("kind").is(kind));
    let head = look.head();
    head.iter().all(|line| is_line(line.root())) && head.iter().any(|line| is_message(line.root()))
}

fn assemble(files: &Files) -> Result<Vec<Assembled>, FormError> {
    Ok(vec![Assembled::of_lines(files.main(), "JSONL", |line| Some(line.to_value()))])
}
