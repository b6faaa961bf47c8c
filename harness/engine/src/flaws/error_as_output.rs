//! BUG: The error of a tool is sent in the field for a success. Strands 1.62.0 on Gemini:
//! <https://github.com/strands-agents/sdk-python/blob/v1.62.0/src/strands/models/gemini.py>

use super::prelude::*;

flaw! {
    Flaw::new("error-as-output", "success-honest").class("synthetic-wrong")
        .only_on(&[Dialect::Gemini], "in the other dialects a result does not name its success");

    fn record(&mut self, step: &Step, _: &mut Said, _: Option<&Change>) -> Vec<Message> {
        let mut results = step.results();
        results.iter_mut().for_each(|result| result.is_error = false);
        saved(step.message(), results)
    }
}
