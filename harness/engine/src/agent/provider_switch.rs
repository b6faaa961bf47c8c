//! Continues a thread with another provider.
//!
//! The output of one provider means nothing to another: ids may have a form that the other does not accept,
//! and thinking is signed by the other provider. So the thread is translated once, at the switch, and stored
//! in that form: the messages, the calls and their results stay, and the rest is dropped.

use super::thread::{Block, Message};
use super::{Agent, Setup};
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::wire;

impl Setup {
    /// The same setup for a provider of this dialect, with a current model.
    pub(super) fn at(&self, dialect: Dialect) -> Setup {
        let wire = wire::of(dialect);
        let model = wire.current_model().to_owned();
        let path = wire.post_path(&model, self.delivery);
        let declared = self.declared_at(dialect);
        Setup { dialect, model, path, declared, ..self.clone() }
    }
}

impl Agent {
    /// The same agent with a provider of this dialect, with its stored thread.
    pub fn at(mut self, dialect: Dialect) -> Agent {
        if dialect != self.setup.dialect {
            self.setup = self.setup.at(dialect);
        }
        self
    }

    /// Switches to a provider of this dialect.
    pub(super) fn go_over_to(&mut self, dialect: Dialect) {
        self.setup = self.setup.at(dialect);
        let thread = std::mem::take(&mut self.session.thread);
        let thread = if self.decisions.keeps_foreign_thoughts() { thread } else { unsigned(thread) };
        self.session.thread = self.with_words_after_results(thread);
        if self.decisions.fits_foreign_ids() {
            self.refused_ids().iter().for_each(|id| self.replace_id(id));
        }
        self.fit_pictures();
    }

    /// Adds the model's text between results and a prompt, if this provider requires one and the one before
    /// did not.
    fn with_words_after_results(&self, thread: Vec<Message>) -> Vec<Message> {
        let word = self.decisions.word_after_results();
        let word = word.filter(|_| wire::of(self.setup.dialect).traits.wants_word_after_results);
        let Some(word) = word else { return thread };
        let mut whole: Vec<Message> = Vec::with_capacity(thread.len() + 1);
        for message in thread {
            if matches!((whole.last(), &message), (Some(Message::Results(_)), Message::User(_))) {
                whole.push(Message::Assistant(vec![Block::Text(word.to_owned())]));
            }
            whole.push(message);
        }
        whole
    }
}

/// A thread without the parts that only its provider can read: thinking, signatures of calls, and the
/// provider's own tools.
fn unsigned(thread: Vec<Message>) -> Vec<Message> {
    let messages = thread.into_iter().filter_map(|message| match message {
        Message::Assistant(blocks) => {
            let blocks: Vec<Block> = blocks.into_iter().filter_map(unsigned_block).collect();
            (!blocks.is_empty()).then_some(Message::Assistant(blocks))
        }
        Message::User(_) | Message::Results(_) => Some(message),
    });
    messages.collect()
}

fn unsigned_block(block: Block) -> Option<Block> {
    match block {
        Block::Thought(_) | Block::Server(_) => None,
        Block::Call(mut call) => {
            call.signature = None;
            Some(Block::Call(call))
        }
        Block::Text(_) => Some(block),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::thread::{Call, CallResult, Thought};
    use crate::agent::{Delivery, Input};
    use brickbat_scenario::plan::Change;

    #[test]
    fn a_thread_keeps_messages_and_calls_at_another_provider() {
        let thought = Thought { text: "hm".to_owned(), signature: Some("sig".to_owned()) };
        let (id, tool) = ("toolu_01AduG6n3QhGe3JfHWpdM2qw".to_owned(), "lookup".to_owned());
        let call = Call { signature: Some("sig".to_owned()), ..Call::new(id.clone(), tool, "{}") };
        let result = CallResult::text(id, "found".to_owned(), false);
        let mut agent = Agent::reference(Dialect::AnthropicMessages, Delivery::Streamed, &[]);
        agent.session.thread = vec![
            Message::User("hello".to_owned()),
            Message::Assistant(vec![Block::Thought(thought.clone()), Block::Call(call)]),
            Message::Results(vec![result]),
            Message::User("and now?".to_owned()),
            Message::Assistant(vec![Block::Thought(thought)]),
        ];
        agent.step(Input::Change(&Change::Provider { dialect: Dialect::Mistral }));
        assert_eq!(agent.path(), "/v1/chat/completions");
        let [_, Message::Assistant(called), Message::Results(results), Message::Assistant(word), _] =
            agent.session.thread.as_slice()
        else {
            panic!("{:?}", agent.session.thread)
        };
        let [Block::Call(call)] = called.as_slice() else { panic!("{called:?}") };
        assert!((Dialect::Mistral.codec().takes_id)(&call.id), "{}", call.id);
        assert_eq!((results[0].call_id.as_str(), &call.signature), (call.id.as_str(), &None));
        assert!(matches!(word.as_slice(), [Block::Text(_)]));
    }
}
