//! BUG: In a turn with a failed reply, the last message repeats the texts of all earlier ones. Semantic Kernel for
//! Python does this in every turn; no public issue is known.

use super::prelude::*;

flaw! {
    Flaw::new("texts-doubled", "texts-once");

    struct { has_failed: bool, said: String }

    fn reply_failed(&mut self, _: &mut Step, _: Failure<'_>, _: &mut Session) -> Next {
        self.has_failed = true;
        Next::GoOn
    }

    fn record(&mut self, step: &Step, _: &mut Said, _: Option<&Change>) -> Vec<Message> {
        let mut message = step.message();
        if step.calls().next().is_some() {
            self.said.push_str(&step.text());
        } else {
            let said = std::mem::take(&mut self.said);
            if let Some(Block::Text(text)) = message.first_mut()
                && std::mem::take(&mut self.has_failed)
            {
                text.insert_str(0, &said);
            }
        }
        saved(message, step.results())
    }
}
