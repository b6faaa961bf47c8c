//! BUG: When a guardrail trips, open calls get no results. OpenAI Agents:
//! <https://github.com/openai/openai-agents-python/issues/4125>

use super::prelude::*;

flaw! {
    Flaw::new("guardrail-dangles", "thread-survives").class("guardrail-trip");

    fn answer(&self, call: &StepCall, why: CutOff) -> Option<CallResult> {
        if why == CutOff::Interrupted(InterruptCause::Guardrail) { None } else { Reference.answer(call, why) }
    }
}
