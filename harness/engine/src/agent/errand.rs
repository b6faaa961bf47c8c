//! Changes of the history, and the request that some of them take: to the provider, beside the turns.
//!
//! Such a request offers no tools, so it tells the thread as one text: providers refuse calls without tools, and a
//! summary must be had of a thread with which something is wrong.
//! While a turn runs, a change waits until the results of its step have come, or calls would be parted from them.

use super::canary::Canary;
use super::cut;
use super::heal::healed;
use super::request;
use super::step::{Phase, Step};
use super::thread::{Block, Message, unanswered};
use super::turn::Turn;
use super::{Agent, BodyEnd, Delivery, Input, Output, RequestId, Setup, Thinking};
use brickbat_scenario::plan::Change;
use brickbat_scenario::wire::{ReplyEvent, decode_whole};

/// A request beside the turns, and what it is for.
#[derive(Debug)]
pub(super) struct Errand {
    step: Step,
    change: Change,
}

/// What the model is asked for a summary with.
const SUMMARISE: &str = "Summarise this conversation.";

/// The messages of a step: the calls, and their results. While a turn runs they stay, as the model has not seen them.
const STEP: usize = 2;

/// Characters of arguments that a canary leaves.
const SHORT: usize = 200;

impl Errand {
    /// Its request.
    pub(super) fn request(&self) -> RequestId {
        self.step.request
    }
}

impl Agent {
    /// Changes the history of an idle agent.
    pub(super) fn change(&mut self, change: &Change, outputs: &mut Vec<Output>) {
        if !self.begin_change(change, None, outputs) {
            outputs.push(Output::Changed(change.clone()));
        }
    }

    /// Changes the history, or asks the provider for what it takes. `turn` is the running one, between two steps.
    pub(super) fn begin_change(
        &mut self,
        change: &Change,
        turn: Option<&mut Turn>,
        outputs: &mut Vec<Output>,
    ) -> bool {
        match change {
            Change::Trim { keep } => self.trim(*keep as usize, turn),
            Change::Rewind { .. } if self.is(Canary::RewindForgotten) => {}
            Change::Rewind { prompts } => {
                self.thread = cut::rewound(&self.thread, *prompts as usize).to_vec();
            }
            Change::Summarise { keep } => {
                let start = cut::start(&self.thread, kept(*keep, turn.is_some()));
                if start > 0 {
                    let request = self.of_summary(start);
                    self.send(request, change, outputs);
                    return true;
                }
            }
            Change::Aside { question } => {
                let request = self.of_aside(question);
                self.send(request, change, outputs);
                return true;
            }
        }
        false
    }

    /// Whether an input belongs to the request beside the turns.
    pub(super) fn is_of_errand(&self, input: &Input<'_>) -> bool {
        let (Input::Head { request, .. } | Input::Body { request, .. } | Input::End { request, .. }) = input
        else {
            return false;
        };
        self.errand.as_ref().is_some_and(|errand| errand.step.request == *request)
    }

    /// Takes what comes of the request beside the turns.
    pub(super) fn run_errand(
        &mut self,
        turn: Option<Turn>,
        input: Input<'_>,
        outputs: &mut Vec<Output>,
    ) -> Option<Turn> {
        let Some(mut errand) = self.errand.take() else { return turn };
        match input {
            Input::Head { status, .. } => errand.step.answered_with(status, self.setup.dialect),
            Input::Body { bytes, .. } => {
                for event in errand.step.take_in(bytes, self.setup.delivery) {
                    errand.step.said(event);
                }
            }
            Input::End { how, .. } => return self.errand_over(errand, turn, how, outputs),
            _ => {}
        }
        self.errand = Some(errand);
        turn
    }

    /// A summary takes its place, if there is one, and the turn that has waited for it goes on.
    fn errand_over(
        &mut self,
        mut errand: Errand,
        turn: Option<Turn>,
        how: BodyEnd,
        outputs: &mut Vec<Output>,
    ) -> Option<Turn> {
        let is_whole = self.is_whole(&mut errand.step, how);
        let prompt = turn.as_ref().and_then(|turn| cut::prompt_from(&self.thread, turn.mark));
        if let Change::Summarise { keep } = errand.change
            && is_whole
        {
            self.summarise(kept(keep, turn.is_some()), &errand.step.text(), turn.is_some());
            // Behind the summary.
            cut::keep_prompt(&mut self.thread, 1, prompt.as_ref());
        }
        let Some(mut turn) = turn else {
            outputs.push(Output::Changed(errand.change));
            return None;
        };
        turn.mark = cut::place_of(&self.thread, prompt.as_ref());
        self.say_heard(&mut turn);
        turn.step = self.ask(outputs);
        Some(turn)
    }

    fn is_whole(&self, step: &mut Step, how: BodyEnd) -> bool {
        let Phase::Coming { status: 200, .. } = step.phase else { return false };
        if self.setup.delivery == Delivery::Whole && how == BodyEnd::Complete {
            let mut events: Vec<ReplyEvent> = Vec::new();
            decode_whole(self.setup.dialect, &step.whole, |event| events.push(event));
            for event in events {
                step.said(event);
            }
        }
        matches!(step.phase, Phase::Coming { terminated: true, .. })
    }

    /// The body that asks for a summary of the messages before that place.
    fn of_summary(&self, start: usize) -> Vec<u8> {
        let is_broken = !unanswered(&self.thread).is_empty();
        if self.is(Canary::SummaryOfPoison) && is_broken {
            return request::body(&self.setup, &asking(self.thread.clone(), SUMMARISE));
        }
        let text = format!("{SUMMARISE}\n\n{}", cut::transcript(&self.thread[..start]));
        request::body(&self.without_tools(), &[Message::User(text)])
    }

    fn of_aside(&self, question: &str) -> Vec<u8> {
        if self.is(Canary::AsideWithoutTools) {
            return request::body(&self.without_tools(), &asking(self.thread.clone(), question));
        }
        let text = format!("This is a conversation:\n\n{}\n{question}", cut::transcript(&self.thread));
        request::body(&self.without_tools(), &[Message::User(text)])
    }

    fn without_tools(&self) -> Setup {
        Setup { declared: String::new(), thinking: Thinking::Unasked, ..self.setup.clone() }
    }

    fn send(&mut self, body: Vec<u8>, change: &Change, outputs: &mut Vec<Output>) {
        let request = self.counter.request();
        self.errand = Some(Errand { step: Step::new(request, self.setup.canary), change: change.clone() });
        outputs.push(Output::Request { request, body });
    }

    fn trim(&mut self, keep: usize, turn: Option<&mut Turn>) {
        let first = self.thread.len().saturating_sub(keep);
        let leaves = match (self.thread.get(first), &turn) {
            (Some(Message::Results(_)), None) => self.is(Canary::TrimOrphansResult),
            (Some(Message::Assistant(blocks)), None) if has_calls(blocks) => {
                self.is(Canary::TrimStartsWithCall)
            }
            (Some(Message::Assistant(_)), Some(_)) => self.is(Canary::TrimDropsPrompt),
            _ => false,
        };
        let keep = kept(keep as u32, turn.is_some());
        let prompt = turn.as_ref().and_then(|turn| cut::prompt_from(&self.thread, turn.mark));
        self.thread = if leaves { self.thread.split_off(first) } else { cut::trimmed(&self.thread, keep) };
        if let Some(turn) = turn {
            if !leaves {
                cut::keep_prompt(&mut self.thread, 0, prompt.as_ref());
            }
            turn.mark = cut::place_of(&self.thread, prompt.as_ref());
        }
    }

    fn summarise(&mut self, keep: usize, summary: &str, is_running: bool) {
        let first = self.thread.len().saturating_sub(keep);
        let cuts_step = matches!(self.thread.get(first), Some(Message::Results(_)));
        let whole = match self.is(Canary::SummaryDropsOpenCalls) {
            true => self.thread.clone(),
            false => healed(self.thread.clone()),
        };
        self.thread = cut::summarised(&whole, keep, summary, is_running);
        if self.is(Canary::SummaryOrphansCall) && cuts_step {
            self.thread.retain({
                let mut n_results = 0;
                move |message| {
                    n_results += usize::from(matches!(message, Message::Results(_)));
                    !matches!(message, Message::Results(_)) || n_results > 1
                }
            });
        }
        if self.is(Canary::SummaryCutsArguments) {
            self.thread.iter_mut().for_each(shorten);
        }
    }
}

/// How many messages stay; while a turn runs, its last step does.
fn kept(keep: u32, is_running: bool) -> usize {
    if is_running { (keep as usize).max(STEP) } else { keep as usize }
}

fn asking(mut thread: Vec<Message>, question: &str) -> Vec<Message> {
    thread.push(Message::User(question.to_owned()));
    thread
}

pub(super) fn has_calls(blocks: &[Block]) -> bool {
    blocks.iter().any(|block| block.call().is_some())
}

/// What a canary does to long arguments.
fn shorten(message: &mut Message) {
    let Message::Assistant(blocks) = message else { return };
    for block in blocks {
        if let Block::Call(call) = block
            && call.args.len() > SHORT
        {
            call.args = call.args.chars().take(SHORT).chain("...[truncated]".chars()).collect();
        }
    }
}
