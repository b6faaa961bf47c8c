//! BUG: A retry that begins with different text continues the message of the failed attempt. opencode:
//! <https://github.com/anomalyco/opencode/issues/16751>

use super::prelude::*;

flaw! {
    Flaw::new("retry-continues-message", "steps-kept-apart").class("retry-merge");

    struct {
        kept: Vec<StepBlock>,
        /// The blocks of the failed attempt before this request.
        earlier: Option<(RequestId, Vec<StepBlock>)>,
    }

    fn reply_failed(&mut self, turn: &mut Turn, failure: Failure<'_>, _: &mut Session) -> Next {
        if !failure.may_retry || !turn.step.has_text() {
            return Next::GoOn;
        }
        self.kept = retry_in_place(turn);
        Next::Ask
    }

    fn reply_begins(&mut self, reply: &mut Step) {
        self.earlier = Some((reply.request, std::mem::take(&mut self.kept)));
    }

    fn record(&mut self, turn: &mut Turn, put_off: Option<&Change>, session: &mut Session) {
        let earlier = self.earlier.take_if(|(request, _)| *request == turn.step.request);
        if let Some((_, mut blocks)) =
            earlier.filter(|(_, blocks)| !blocks.is_empty() && words(blocks) != words(&turn.step.blocks))
        {
            blocks.append(&mut turn.step.blocks);
            turn.step.blocks = blocks;
        }
        Reference.record(turn, put_off, session);
    }
}

fn words(blocks: &[StepBlock]) -> Option<&str> {
    blocks.iter().find_map(|block| match block {
        StepBlock::Text(text) => Some(text.as_str()),
        StepBlock::Thought(_) | StepBlock::Call(_) | StepBlock::Server(_) => None,
    })
}
