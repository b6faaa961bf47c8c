//! The limits on a scenario, and the checks of a size.

use super::problem::{Problem, Problems};

/// The maximum number of turns in a file. The longest public thread that we model needs four.
pub const MAX_TURNS: usize = 16;

/// The maximum number of replies in a turn. SDKs themselves stop a tool loop after 5 to 20 steps.
pub const MAX_REPLIES: usize = 16;

/// The maximum number of attempts at a reply. Clients give up after 2 to 10 tries; 8 attempts reveal any
/// retry pattern.
pub const MAX_ATTEMPTS: usize = 8;

/// The maximum number of blocks in an attempt, so that a reply stays readable; providers allow 128 calls in a
/// batch.
pub const MAX_BLOCKS: usize = 64;

/// The maximum number of calls in a plan, so that traces stay within their bound.
pub const MAX_CALLS: usize = 256;

/// The maximum number of compactions in a turn that actions can name: one for each reply, and one between turns.
pub(super) const MAX_COMPACTIONS: u32 = MAX_REPLIES as u32 + 1;

/// The maximum number of actions in a turn. More than a few would hide each other.
pub const MAX_ACTIONS: usize = 64;

/// The maximum size of any one text in bytes: enough for a page of prose, and too small to exceed any
/// client's window.
pub const MAX_STRING: usize = 20_000;

/// The maximum number of tools in a file.
pub const MAX_TOOLS: usize = 64;

/// The maximum number of arguments in a call.
pub const MAX_ARGS: usize = 32;

/// Rejects a text that is empty or only white space: users do not send such texts, and providers refuse them.
pub(super) fn text(pointer: &str, what: &str, said: &str, problems: &mut Problems) {
    problems.add_if(said.trim().is_empty(), || Problem::new(pointer, format!("{what} is empty")));
    problems.add_if(said.len() > MAX_STRING, || {
        Problem::new(pointer, format!("{what} is longer than {MAX_STRING} bytes"))
    });
}

pub(super) fn too_many(pointer: &str, what: &str, count: usize, limit: usize, problems: &mut Problems) {
    problems.add_if(count > limit, || {
        Problem::new(pointer, format!("{count} {what}, but at most {limit} are allowed here"))
    });
}
