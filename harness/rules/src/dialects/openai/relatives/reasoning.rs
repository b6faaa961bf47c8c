//! Reasoning that must be sent back with its replies.

use super::super::switches::ReasoningContent;
use super::model::{self, Certainty};
use super::{ChatMessage, Speaker};
use crate::dialects::openai::relatives::REASONING_CONTENT_MISSING;
use crate::dialects::openai::relatives::REASONING_CONTENT_NOT_RETURNED;
use crate::json::Json;
use crate::{Occurrence, Rule, Violations, Waiting};

/// Replies that were sent back without their reasoning.
pub(super) struct Reasoning {
    asked: ReasoningContent,
    /// Replies of earlier turns for which reasoning is required.
    earlier: Lacks,
    /// Replies since the user's last message.
    turn: Lacks,
    /// True if the model called a tool in this turn.
    turn_has_calls: bool,
}

/// Indexes of replies without reasoning. The key is true if the field is null, or if the reasoning is in
/// the format of a gateway; no rejection of either is known.
type Lacks = Waiting<bool, usize>;

impl Reasoning {
    pub(super) fn new(asked: ReasoningContent) -> Reasoning {
        Reasoning { asked, earlier: Lacks::new(), turn: Lacks::new(), turn_has_calls: false }
    }

    pub(super) fn message(&mut self, said: ChatMessage<'_, '_>, speaker: Option<Speaker>) {
        match speaker {
            _ if self.asked == ReasoningContent::Free => {}
            Some(Speaker::User) => self.end_turn(),
            Some(Speaker::Assistant) => self.reply(said),
            None => {}
        }
    }

    fn reply(&mut self, said: ChatMessage<'_, '_>) {
        let has_calls = said.calls().next().is_some();
        self.turn_has_calls |= has_calls;
        let counts = has_calls || self.asked == ReasoningContent::TurnsWithCalls;
        let reasoning = said.json.get("reasoning_content");
        if counts && reasoning.is_none_or(Json::is_null) {
            let is_contested = reasoning.is_some() || has_gateway_reasoning(said.json);
            self.turn.push(is_contested, || said.n);
        }
    }

    fn end_turn(&mut self) {
        let counts = match self.asked {
            ReasoningContent::Free | ReasoningContent::CallsOfLastTurn => false,
            ReasoningContent::Calls => true,
            ReasoningContent::TurnsWithCalls => self.turn_has_calls,
        };
        let turn = self.turn.take();
        if counts {
            turn.into_iter().for_each(|(is_contested, n)| self.earlier.push(is_contested, || n));
        }
        self.turn_has_calls = false;
    }

    /// Reports the replies without reasoning, if the model thinks.
    pub(super) fn finish(&mut self, model: Option<&str>, body: Json, out: &mut Violations) {
        let (thinks, rule): (Certainty, &'static Rule) = match self.asked {
            ReasoningContent::Free => return,
            ReasoningContent::CallsOfLastTurn => {
                (model::deepseek_v32_thinks(model, body), &REASONING_CONTENT_MISSING)
            }
            ReasoningContent::Calls => (model::kimi_thinks(model, body), &REASONING_CONTENT_MISSING),
            ReasoningContent::TurnsWithCalls => {
                (model::deepseek_v4_thinks(model, body), &REASONING_CONTENT_NOT_RETURNED)
            }
        };
        // The current turn is treated like an earlier one.
        let of_turn = match self.asked {
            ReasoningContent::TurnsWithCalls if !self.turn_has_calls => Vec::new(),
            _ => self.turn.take(),
        };
        for (is_contested, n) in self.earlier.take().into_iter().chain(of_turn) {
            let certainty = if is_contested { thinks.min(Certainty::Perhaps) } else { thinks };
            certainty.note(out, rule, || Occurrence::at(format!("/messages/{n}")).with("n", n));
        }
    }
}

/// Returns whether a reply has its reasoning in OpenRouter's format. The gateway converts it for the
/// provider in both directions (<https://openrouter.ai/docs/use-cases/reasoning-tokens>).
fn has_gateway_reasoning(reply: Json) -> bool {
    let text = reply.field("reasoning");
    !reply.field("reasoning_details").is_empty() || (text.is_str() && !text.is_empty_str())
}
