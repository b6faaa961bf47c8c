//! Whether a reply is held where the plan says.
//!
//! The provider says where it holds, and a receipt must not rest on its word alone. So what was really sent is counted
//! against the script, which is encoded anew.

use crate::provider::recall::shown;
use crate::provider::{Answer, Sent, Sight};
use brickbat_scenario::action::Action;
use brickbat_scenario::plan::{Mark, Plan, Side};
use brickbat_scenario::trace::{Held, RequestKind};
use brickbat_scenario::wire::{self, Envelope, Tokens};

/// Whether so much of the reply to a request, which lets its client see so much, is what stands before a hold of the
/// plan. Of replies that are no scripted streams nothing is held inside, and where the harness adds frames of its own they
/// are not counted.
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
    // If token usage was asked for, a frame with it follows the stop reason.
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
