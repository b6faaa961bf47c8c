//! An outline written out as messages, with the position of each part.

use super::History;
use super::ids::IdSource;
use super::outline::{Called, Filing, Outline, Output, Shown, Step, Turn};
use super::words::{PIXEL, Words};
use crate::histories::{Block, Call, CallResult, Image, Message, Role, Signs, Thinking};

/// A conversation under construction.
pub(super) struct Draft {
    pub(super) messages: Vec<DraftMessage>,
    /// The positions of each turn's parts.
    pub(super) turns: Vec<TurnPlaces>,
    pub(super) ids: IdSource,
    signs: Signs,
}

pub(super) struct DraftMessage {
    pub(super) role: Role,
    pub(super) blocks: Vec<(Block, Mark)>,
}

/// The changes that a repair may make to a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    Sound,
    Surplus,
    AtStake,
}

/// The messages in a turn.
#[derive(Debug, Default)]
pub(super) struct TurnPlaces {
    pub(super) prompt: usize,
    /// For each step, the message with its calls.
    pub(super) calls: Vec<usize>,
    pub(super) reply: Option<usize>,
    /// The message after its last one.
    pub(super) end: usize,
}

impl Draft {
    pub(super) fn of(outline: &Outline) -> Draft {
        let ids = IdSource::new(outline.dialect, outline.salt);
        let mut draft =
            Draft { messages: Vec::new(), turns: Vec::new(), ids, signs: outline.dialect.codec().signs };
        if let Some(instructions) = outline.instructions {
            draft.say(Role::System, vec![Block::Text(instructions.text())]);
        }
        for turn in &outline.turns {
            draft.turn(turn);
        }
        draft
    }

    pub(super) fn into_history(self, outline: &Outline) -> History {
        let places = |mark: Mark| {
            let messages = self.messages.iter().enumerate();
            let places = messages.flat_map(|(n, message)| {
                let blocks = message.blocks.iter().enumerate();
                blocks.filter(move |(_, (_, own))| *own == mark).map(move |(block, _)| (n, block))
            });
            places.collect()
        };
        let (surplus, at_stake) = (places(Mark::Surplus), places(Mark::AtStake));
        let messages = self.messages.into_iter().map(|message| Message {
            role: message.role,
            blocks: message.blocks.into_iter().map(|(block, _)| block).collect(),
        });
        History {
            dialect: outline.dialect,
            model: outline.model(),
            messages: messages.collect(),
            fault: outline.fault(),
            surplus,
            at_stake,
        }
    }

    fn say(&mut self, role: Role, blocks: Vec<Block>) -> usize {
        let blocks = blocks.into_iter().map(|block| (block, Mark::Sound)).collect();
        self.messages.push(DraftMessage { role, blocks });
        self.messages.len() - 1
    }

    fn turn(&mut self, turn: &Turn) {
        let mut prompt = vec![Block::Text(turn.prompt.text())];
        if turn.shows == Shown::Picture {
            prompt.push(picture());
        }
        let mut places = TurnPlaces { prompt: self.say(Role::User, prompt), ..TurnPlaces::default() };
        for step in &turn.steps {
            places.calls.push(self.step(step));
        }
        if let Some(reply) = turn.reply {
            let mut blocks: Vec<Block> = Vec::new();
            blocks.extend(reply.thinking.map(|words| self.thinking(words)));
            blocks.push(Block::Text(reply.text.text()));
            places.reply = Some(self.say(Role::Assistant, blocks));
        }
        places.end = self.messages.len();
        self.turns.push(places);
    }

    /// Writes a step and returns the message with its calls.
    fn step(&mut self, step: &Step) -> usize {
        let mut blocks: Vec<Block> = Vec::new();
        blocks.extend(step.thinking.map(|words| self.thinking(words)));
        blocks.extend(step.before.map(|words| Block::Text(words.text())));
        let mut results = Vec::new();
        for (k, called) in step.calls.iter().enumerate() {
            let call = self.call(*called, k);
            results.push(Block::Result(result(&call, called.output)));
            blocks.push(Block::Call(call));
        }
        blocks.extend(step.after.map(|words| Block::Text(words.text())));
        let place = self.say(Role::Assistant, blocks);
        match step.filing {
            Filing::Together => _ = self.say(Role::Tool, results),
            Filing::Apart => results.into_iter().for_each(|result| _ = self.say(Role::Tool, vec![result])),
            Filing::LastFirst => {
                results.into_iter().rev().for_each(|result| _ = self.say(Role::Tool, vec![result]));
            }
        }
        place
    }

    fn call(&mut self, called: Called, k: usize) -> Call {
        let is_signed = self.signs == Signs::Calls && k == 0;
        let is_item = self.signs == Signs::Items;
        Call {
            signature: is_signed.then(|| self.ids.signature()),
            item: is_item.then(|| self.ids.item("fc_")),
            ..Call::new(self.ids.call(), called.tool.name(), called.tool.arguments())
        }
    }

    pub(super) fn thinking(&mut self, words: Words) -> Block {
        let is_item = self.signs == Signs::Items;
        let is_signed = is_item || self.signs == Signs::Thoughts;
        Block::Thinking(Thinking {
            text: words.text(),
            signature: is_signed.then(|| self.ids.signature()),
            id: is_item.then(|| self.ids.item("rs_")),
        })
    }
}

pub(super) fn picture() -> Block {
    Block::Image(Image { media_type: "image/png".to_owned(), data: PIXEL.to_owned() })
}

fn result(call: &Call, output: Output) -> CallResult {
    let text = |words: Words| Block::Text(words.text());
    let blocks = match output {
        Output::Text(words) | Output::Error(words) => vec![text(words)],
        Output::Nothing | Output::SilentError => Vec::new(),
        Output::EmptyText => vec![Block::Text(String::new())],
        Output::TwoTexts(words) => vec![text(words), text(Words::PLAIN)],
        Output::Picture(words) => vec![text(words), picture()],
    };
    let is_error = matches!(output, Output::Error(_) | Output::SilentError);
    CallResult { is_error, ..CallResult::new(&call.id, &call.name, blocks) }
}
