//! Verifies that a reply is held at the planned position.
//!
//! The provider reports where it holds, but a receipt must not depend only on that report. So the bytes that
//! were really sent are compared with the script, which is encoded again.

use crate::provider::recall::shown;
use crate::provider::{Answer, Sent, Sight};
use brickbat_scenario::action::Action;
use brickbat_scenario::plan::{Mark, Plan, Side};
use brickbat_scenario::trace::{Held, RequestKind};
use brickbat_scenario::wire::{self, Envelope, Tokens};

/// True if the sent part of a reply is exactly the part before a hold of the plan. `sight` describes the
/// parts of the reply that are visible to the client. Replies without a scripted stream have no holds inside.
/// If the harness adds its own frames, nothing is compared.
pub(super) fn is_as_planned(
    plan: &Plan,
    (kind, sight): (RequestKind, &Sight),
    answer: &Answer,
    at: Held,
    sent: Sent,
) -> bool {
    let RequestKind::Scripted { turn, reply, attempt } = kind else { return true };
    let adds_frames = plan.turns[turn]
        .actions
        .iter()
        .any(|action| matches!(action.what, Action::Duplicate | Action::Malformed));
    if !answer.streamed || adds_frames {
        return true;
    }
    let script = shown(plan, &plan.turns[turn].replies[reply].attempts[attempt], sight);
    // If the request asked for token usage, a frame with it follows the stop reason.
    [false, true].into_iter().any(|usage| {
        let envelope = Envelope { id: "check", model: "check", usage, tokens: Tokens::PLANNED };
        let encoded = wire::encode_stream(plan.dialect_of(turn), plan, &script, envelope);
        let planned = match (at.mark, at.side) {
            (Mark::Headers, Side::Before) => Some(Sent::Nothing),
            (Mark::Headers, Side::After) => Some(Sent::Frames(0)),
            (mark, Side::Before) => encoded.frame_of(mark).map(Sent::Frames),
            (mark, Side::After) => encoded.frame_of(mark).map(|frame| Sent::Frames(frame + 1)),
        };
        planned == Some(sent)
    })
}
