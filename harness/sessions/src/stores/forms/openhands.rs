//! OpenHands: the events of a trajectory, and the folder of a conversation (see [`openhands_events`](super::openhands_events)).
//!
//! An action of the model has the call in `tool_call_metadata`, and the observation that follows repeats it. Calls
//! without an observation are not sent (`_filter_unmatched_tool_calls` of `openhands/memory/conversation_memory.py`).
//! Source: `openhands/events/serialization/event.py` of <https://github.com/OpenHands/OpenHands>.

use brickbat_rules::histories::Role;

use super::{BASE, CallAt, Form, Framing, Mark, Piece, ResultAt, Saying, Sends, Shape, Speaker};
use crate::Product;

const EVENTS: [Speaker; 5] = super::openhands_events::SPEAKERS;

pub(crate) const FORM: Form = Form {
    product: Product::Openhands,
    generation: "JSON list",
    file: Framing::List(&["", "/history", "/trajectory"]),
    other: Some(super::openhands_events::FOLDER),
    marks: &[
        Mark::Every(&["/id", "/source"]),
        Mark::Some(&["/action", "/observation"]),
        Mark::EveryIs("/source", &["user", "agent", "environment"]),
    ],
    skips: Some((
        "/action",
        &["system", "recall", "change_agent_state", "condensation", "condensation_request"],
    )),
    shape: Shape::Speakers(&[
        EVENTS[0],
        EVENTS[1],
        EVENTS[2],
        EVENTS[3],
        EVENTS[4],
        Speaker {
            at: "",
            role: Saying::When("/source", "user", "/action", Role::User),
            pieces: &[Piece::Text("/args/content")],
        },
        Speaker {
            at: "",
            role: Saying::When("/source", "agent", "/action", Role::Assistant),
            pieces: &[
                Piece::Text("/args/content"),
                Piece::Call(CallAt {
                    id: "/tool_call_metadata/tool_call_id",
                    name: "/tool_call_metadata/function_name",
                    arguments: "/args",
                }),
            ],
        },
        Speaker {
            at: "",
            role: Saying::Is(Role::Tool),
            pieces: &[Piece::Result(ResultAt {
                call: "/tool_call_metadata/tool_call_id",
                name: "/tool_call_metadata/function_name",
                output: "/content",
                failed: Some(("/observation", "error")),
            })],
        },
    ]),
    model: &["/tool_call_metadata/model_response/model"],
    sends: Sends::LeavesOut,
    finish: Some(super::openhands_events::finish),
    ..BASE
};
