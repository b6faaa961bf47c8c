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

    fn reply_failed(&mut self, step: &mut Step, failure: Failure<'_>, _: &mut Session) -> Next {
        if !failure.may_retry || !step.has_text() {
            return Next::GoOn;
        }
        self.kept = taken_blocks(step);
        Next::Retry
    }

    fn reply_begins(&mut self, reply: &mut Step) {
        self.earlier = Some((reply.request, std::mem::take(&mut self.kept)));
    }

    fn record(&mut self, step: &Step, said: &mut Said, put_off: Option<&Change>) -> Vec<Message> {
        let earlier = self.earlier.take_if(|(request, _)| *request == step.request);
        let mut whole = Step::over(step.request);
        whole.blocks = step.blocks.clone();
        if let Some((_, blocks)) =
            earlier.filter(|(_, blocks)| !blocks.is_empty() && words(blocks) != words(&step.blocks))
        {
            whole.blocks.splice(..0, blocks);
        }
        Reference.record(&whole, said, put_off)
    }
}

fn words(blocks: &[StepBlock]) -> Option<&str> {
    blocks.iter().find_map(|block| match block {
        StepBlock::Text(text) => Some(text.as_str()),
        StepBlock::Thought(_) | StepBlock::Call(_) | StepBlock::Server(_) => None,
    })
}
