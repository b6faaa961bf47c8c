//! BUG: If a later step breaks, the retry ends with the model's partial reply. crewAI:
//! <https://github.com/crewAIInc/crewAI/issues/6973>

use super::prelude::*;

flaw! {
    Flaw::new("retry-prefills", "thread-survives").class("trailing-assistant")
        .only_on(&[Dialect::Mistral], "a request may end with a model message");

    fn retries(&mut self, step: &Step, progress: Progress) -> Vec<Message> {
        if progress.n_requests > 1 { saved(step.message(), Vec::new()) } else { Vec::new() }
    }
}
