//! Injects faults into a conversation: the possible positions of each fault, and its effect on the messages.

use super::draft::{Draft, DraftMessage, Mark, picture};
use super::fault::Fault;
use super::outline::{Planted, Turn};
use super::words::Words;
use crate::histories::{Block, Call, CallResult, Role, Thinking};

/// A position for a fault: a call, identified by the turn, the step in it and the number in the batch.
/// Numbers that a fault does not need are 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Spot {
    turn: usize,
    step: usize,
    call: usize,
}

/// The possible positions of a fault in a conversation.
pub(super) fn places(turns: &[Turn], fault: Fault) -> Vec<Spot> {
    let calls = || {
        turns.iter().enumerate().flat_map(|(turn, planned)| {
            planned.steps.iter().enumerate().flat_map(move |(step, batch)| {
                (0..batch.calls.len()).map(move |call| Spot { turn, step, call })
            })
        })
    };
    let whole_turns = || (0..turns.len()).map(|turn| Spot { turn, step: 0, call: 0 });
    let is_last_step = |spot: &Spot| spot.step + 1 == turns[spot.turn].steps.len();
    let is_stopped = |spot: &Spot| is_last_step(spot) && turns[spot.turn].reply.is_none();
    let next = |spot: &Spot| turns.get(spot.turn + 1);
    let is_tail = |spot: &Spot| is_stopped(spot) && next(spot).is_none();
    match fault {
        Fault::MissingAtTail => calls().filter(is_tail).collect(),
        Fault::MissingInMiddle => calls().filter(|spot| !is_tail(spot)).collect(),
        Fault::MissingBatch | Fault::DuplicateMessage => calls().filter(|spot| spot.call == 0).collect(),
        Fault::ResultAfterPrompt => calls().filter(|spot| is_stopped(spot) && next(spot).is_some()).collect(),
        Fault::ResultAfterReply => {
            let is_answered = |turn: &Turn| !turn.steps.is_empty() || turn.reply.is_some();
            calls().filter(|spot| next(spot).is_some_and(is_answered)).collect()
        }
        Fault::SplitBatch => calls().filter(|spot| spot.call > 0).collect(),
        Fault::ResultBeforeCall
        | Fault::DuplicateResult
        | Fault::DuplicateCall
        | Fault::TwoCallsOneId
        | Fault::ContradictingResults
        | Fault::CutArguments
        | Fault::NamelessCall
        | Fault::PictureInError => calls().collect(),
        Fault::OrphanResult => whole_turns().collect(),
        Fault::BlankText | Fault::EmptyText | Fault::EmptyReply | Fault::ThinkingAlone => {
            whole_turns().filter(|spot| turns[spot.turn].reply.is_some()).collect()
        }
        Fault::HollowThinkingBefore => {
            whole_turns().filter(|spot| turns[spot.turn].reply.is_some() && next(spot).is_some()).collect()
        }
        Fault::HollowThinking => {
            let is_busy = |spot: &Spot| next(spot).is_none() && turns[spot.turn].reply.is_none();
            calls().filter(|spot| spot.call == 0 && is_busy(spot)).collect()
        }
    }
}

/// Injects the fault into the conversation. Does nothing if there is no position for it.
pub(super) fn plant(draft: &mut Draft, turns: &[Turn], planted: Planted) {
    let places = places(turns, planted.fault);
    let Some(place) = planted.at.checked_rem(places.len()) else { return };
    let spot = places[place];
    match planted.fault {
        Fault::OrphanResult
        | Fault::BlankText
        | Fault::EmptyText
        | Fault::EmptyReply
        | Fault::ThinkingAlone
        | Fault::HollowThinkingBefore => draft.spoil_turn(planted.fault, spot),
        Fault::MissingBatch | Fault::DuplicateMessage | Fault::HollowThinking | Fault::SplitBatch => {
            draft.spoil_batch(planted.fault, spot);
        }
        _ => draft.spoil_call(planted.fault, spot),
    }
}

impl Draft {
    fn spoil_turn(&mut self, fault: Fault, spot: Spot) {
        let Some(places) = self.turns.get(spot.turn) else { return };
        let after_prompt = places.prompt + 1;
        let blocks = match (fault, places.reply) {
            (Fault::OrphanResult, _) => {
                let output = vec![Block::Text(Words::PLAIN.text())];
                let name = "list_files".to_owned();
                let orphan = CallResult::new(self.ids.call(), name, output);
                return self.insert(after_prompt, Block::Result(orphan), Mark::Surplus);
            }
            (Fault::EmptyReply, Some(_)) => Vec::new(),
            (Fault::BlankText, Some(_)) => vec![(Block::Text(" ".to_owned()), Mark::Surplus)],
            (Fault::EmptyText, Some(_)) => vec![(Block::Text(String::new()), Mark::Surplus)],
            (Fault::ThinkingAlone, Some(_)) => vec![(self.thinking(Words::PLAIN), Mark::Surplus)],
            (_, Some(reply)) => return self.hollow(reply, Mark::Surplus),
            (_, None) => return,
        };
        if let Some(reply) = self.turns[spot.turn].reply {
            self.messages[reply].blocks = blocks;
        }
    }

    fn spoil_batch(&mut self, fault: Fault, spot: Spot) {
        let at = self.turns[spot.turn].calls[spot.step];
        match fault {
            Fault::HollowThinking => self.hollow(at, Mark::AtStake),
            Fault::DuplicateMessage => {
                let blocks = self.messages[at].blocks.iter();
                let blocks = blocks.map(|(block, _)| (block.clone(), Mark::Surplus)).collect();
                self.messages.insert(at + 1, DraftMessage { role: Role::Assistant, blocks });
            }
            Fault::SplitBatch => {
                let results = self.results_after(at);
                let Some(split) = results.get(spot.call) else { return };
                let (message, block) = *split;
                let rest = self.messages[message].blocks.split_off(block);
                let words = vec![(Block::Text(Words::PLAIN.text()), Mark::Sound)];
                let between = DraftMessage { role: Role::Assistant, blocks: words };
                let rest = DraftMessage { role: Role::Tool, blocks: rest };
                let first = self.messages.remove(message);
                let parts = [first, between, rest].into_iter().filter(|part| !part.blocks.is_empty());
                self.messages.splice(message..message, parts);
            }
            _ => {
                for place in self.results_after(at).into_iter().rev() {
                    self.take(place);
                }
            }
        }
    }

    fn spoil_call(&mut self, fault: Fault, spot: Spot) {
        let at = self.turns[spot.turn].calls[spot.step];
        let Some((place, mut call)) = self.nth_call(at, spot.call) else { return };
        let Some((result_at, mut result)) = self.result_of(at, &call.id) else { return };
        let (result_message, result_block) = result_at;
        match fault {
            Fault::ResultAfterPrompt | Fault::ResultAfterReply => {
                let Some(next) = self.turns.get(spot.turn + 1) else { return };
                let to = if fault == Fault::ResultAfterPrompt { next.prompt + 1 } else { next.end };
                self.insert(to, Block::Result(result), Mark::Sound);
                self.take(result_at);
            }
            Fault::ResultBeforeCall => {
                self.take(result_at);
                self.insert(at, Block::Result(result), Mark::Sound);
            }
            Fault::DuplicateResult => {
                let copy = (Block::Result(result), Mark::Surplus);
                self.messages[result_message].blocks.insert(result_block + 1, copy);
            }
            Fault::DuplicateCall => {
                self.messages[at].blocks.insert(place + 1, (Block::Call(call), Mark::Surplus));
            }
            Fault::TwoCallsOneId => {
                self.messages[at].blocks[place].1 = Mark::AtStake;
                call.arguments = OTHER_ARGUMENTS.to_owned();
                call.signature = None;
                self.messages[at].blocks.insert(place + 1, (Block::Call(call), Mark::AtStake));
                self.contradict(result_at, result);
            }
            Fault::ContradictingResults => self.contradict(result_at, result),
            Fault::CutArguments => {
                let half = call.arguments.floor_char_boundary(call.arguments.len() / 2).max(1);
                call.arguments.truncate(half);
                self.messages[at].blocks[place] = (Block::Call(call), Mark::AtStake);
            }
            Fault::NamelessCall => {
                call.name.clear();
                result.name.clear();
                self.messages[at].blocks[place] = (Block::Call(call), Mark::AtStake);
                self.messages[result_message].blocks[result_block] = (Block::Result(result), Mark::AtStake);
            }
            Fault::PictureInError => {
                result.is_error = true;
                result.output = vec![Block::Text(Words::PLAIN.text()), picture()];
                self.messages[result_message].blocks[result_block] = (Block::Result(result), Mark::AtStake);
            }
            // A result is missing.
            _ => self.take(result_at),
        }
    }

    /// Adds a second, different result after one.
    fn contradict(&mut self, (message, block): (usize, usize), mut result: CallResult) {
        self.messages[message].blocks[block].1 = Mark::AtStake;
        result.output = vec![Block::Text(OTHER_OUTPUT.to_owned())];
        self.messages[message].blocks.insert(block + 1, (Block::Result(result), Mark::AtStake));
    }

    /// Makes a message begin with thinking that has an empty signature.
    fn hollow(&mut self, message: usize, mark: Mark) {
        let blocks = &mut self.messages[message].blocks;
        blocks.retain(|(block, _)| !matches!(block, Block::Thinking(_)));
        let signature = Some(String::new());
        let hollow = Thinking { text: Words::PLAIN.text(), signature, ..Thinking::default() };
        blocks.insert(0, (Block::Thinking(hollow), mark));
    }

    /// The results between a message and the next one that is not from a tool, in order.
    fn results_after(&self, at: usize) -> Vec<(usize, usize)> {
        let messages = self.messages.iter().enumerate().skip(at + 1);
        let messages = messages.take_while(|(_, message)| message.role == Role::Tool);
        messages.flat_map(|(n, message)| (0..message.blocks.len()).map(move |block| (n, block))).collect()
    }

    fn nth_call(&self, at: usize, nth: usize) -> Option<(usize, Call)> {
        let blocks = self.messages[at].blocks.iter().enumerate();
        let mut calls = blocks.filter_map(|(place, (block, _))| match block {
            Block::Call(call) => Some((place, call.clone())),
            _ => None,
        });
        calls.nth(nth)
    }

    fn result_of(&self, at: usize, id: &str) -> Option<((usize, usize), CallResult)> {
        self.results_after(at).into_iter().find_map(|(message, block)| {
            match &self.messages[message].blocks[block].0 {
                Block::Result(result) if result.call == id => Some(((message, block), result.clone())),
                _ => None,
            }
        })
    }

    /// Moves a result before the message with that index.
    fn insert(&mut self, at: usize, block: Block, mark: Mark) {
        self.messages.insert(at, DraftMessage { role: Role::Tool, blocks: vec![(block, mark)] });
    }

    /// Removes a block, and its message if that becomes empty.
    fn take(&mut self, (message, block): (usize, usize)) {
        self.messages[message].blocks.remove(block);
        if self.messages[message].blocks.is_empty() {
            self.messages.remove(message);
        }
    }
}

/// A text that is not in [`super::words`], so it always differs.
const OTHER_ARGUMENTS: &str = r#"{"other":true}"#;
const OTHER_OUTPUT: &str = "Something else.";
