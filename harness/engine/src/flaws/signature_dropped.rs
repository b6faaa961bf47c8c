//! BUG: The calls of a broken reply are kept without their signatures. A report of this class:
//! <https://github.com/rowboatlabs/rowboat/issues/694>

use super::prelude::*;

flaw! {
    Flaw::new("signature-dropped", "thread-survives").class("thought-signature")
        .only_on(&[Dialect::Gemini], "calls are not signed");

    fn keeps_part(&mut self, why: CutOff, step: &mut Step, _: &mut Vec<Message>) {
        if why == CutOff::Broken {
            step.calls_mut().for_each(|call| call.call.signature = None);
        }
    }
}
