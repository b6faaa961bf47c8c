//! The marks of a reply's stream, in the order in which its encoder reaches them.

use super::of;
use crate::plan::{CallKey, Mark, PlannedCall, Script, ScriptBlock, ServerBlock};
use brickbat_rules::dialect::Dialect;

/// The marks of a reply's stream, with the headers first. `calls` are the plan's calls.
pub fn marks(dialect: Dialect, script: &Script, calls: &[PlannedCall]) -> Vec<Mark> {
    let mut marks = (of(dialect).block_marks)(script, calls);
    marks.insert(0, Mark::Headers);
    marks.extend(script.has_calls().then_some(Mark::Calls));
    marks.extend([Mark::Stop, Mark::Reply]);
    marks
}

/// The marks of blocks that are sent one after the other, the arguments of a call in deltas.
pub(crate) fn block_marks(script: &Script, calls: &[PlannedCall]) -> Vec<Mark> {
    blocks(script, |key, marks| {
        let n_deltas = calls[key.0 as usize].deltas.len() as u32;
        marks.push(Mark::Start(key));
        marks.extend((1..=n_deltas).map(|delta| Mark::Delta(key, delta)));
        marks.push(Mark::End(key));
    })
}

/// The marks of blocks that are sent one after the other. `call` adds the marks of a call.
pub(crate) fn blocks(script: &Script, mut call: impl FnMut(CallKey, &mut Vec<Mark>)) -> Vec<Mark> {
    let mut marks = Vec::with_capacity(24);
    let mut n_text = 0;
    for block in &script.blocks {
        match block {
            ScriptBlock::Think(fragments) => marks.extend((1..=fragments.len() as u32).map(Mark::Think)),
            ScriptBlock::Text(fragments) => {
                let first = n_text + 1;
                n_text += fragments.len() as u32;
                marks.extend((first..=n_text).map(Mark::Text));
            }
            ScriptBlock::Call(key) => call(*key, &mut marks),
            ScriptBlock::Server(block) => marks.push(server_mark(*block)),
        }
    }
    marks
}

/// The mark that a search block completes.
pub(crate) fn server_mark(block: ServerBlock) -> Mark {
    match block {
        ServerBlock::Search(key) => Mark::Search(key),
        ServerBlock::Found(key) => Mark::Found(key),
    }
}

/// The marks of all texts.
pub(crate) fn text_marks(script: &Script) -> impl Iterator<Item = Mark> {
    let fragments = script.blocks.iter().map(|block| match block {
        ScriptBlock::Text(fragments) => fragments.len() as u32,
        ScriptBlock::Think(_) | ScriptBlock::Call(_) | ScriptBlock::Server(_) => 0,
    });
    (1..=fragments.sum()).map(Mark::Text)
}
