//! Checks which process runs which turn.

use crate::plan::PlannedTurn;

use super::problem::{Problem, Problems};

/// The maximum number of processes in one session. Two are enough to reveal every problem between processes.
const MAX_PROCESSES: u32 = 2;

/// Checks that a session begins in the first process, and that none is killed if there are two: it would be
/// unclear which one.
pub(super) fn check(turns: &[PlannedTurn], problems: &mut Problems) {
    let kills = |turn: &PlannedTurn| turn.actions.iter().any(|action| action.what.ends_process());
    let switches = |turn: &PlannedTurn| turn.dialect.is_some();
    for (index, turn) in turns.iter().enumerate() {
        let wrong = |message: String| Problem::new(format!("/turns/{index}/process"), message);
        problems.add_if(!(1..=MAX_PROCESSES).contains(&turn.process), || {
            wrong(format!("`process` must be 1 or {MAX_PROCESSES}, not {}", turn.process))
        });
        problems.add_if(index == 0 && turn.process == 2, || {
            wrong("the first turn must run in process 1".to_owned())
                .with_hint("process 2 can only load a session that process 1 has opened")
        });
        problems.add_if(turn.process == 2 && turns.iter().any(kills), || {
            wrong("`kill` is not allowed in a scenario with two processes".to_owned())
                .with_hint("put the `kill` into a separate scenario")
        });
        problems.add_if(turn.process == 2 && turns.iter().any(switches), || {
            wrong("`provider` is not allowed in a scenario with two processes".to_owned())
                .with_hint("each process has its own provider, so put the switch into a separate scenario")
        });
    }
}
