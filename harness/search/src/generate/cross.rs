//! Crossover: combines two scenarios into one.

use super::calls::Names;
use super::{MAX_TURNS, Source, normalize};
use brickbat_scenario::scenario::{At, Block, CallId, Point, Scenario, Turn};

/// A scenario with turns of `one`, and turns or actions of `other`.
pub fn cross(one: &Scenario, other: &Scenario, source: &mut Source<'_>) -> Scenario {
    let mut child = one.clone();
    let (Some(last), false) = (one.turns.len().checked_sub(1), other.turns.is_empty()) else { return child };
    let from = source.below(other.turns.len());
    let at = source.below(last + 1);
    match source.below(3) {
        // The actions of a turn are copied, as far as they fit.
        0 => child.turns[at].at.clone_from(&other.turns[from].at),
        // A turn of the other scenario replaces one, or follows it.
        1 => {
            let turn = adopt(&mut child, other, &other.turns[from]);
            child.turns[at] = turn;
        }
        _ => {
            child.turns.truncate(at + 1);
            for turn in other.turns[from..].iter().take(MAX_TURNS.saturating_sub(at)) {
                let turn = adopt(&mut child, other, turn);
                child.turns.push(turn);
            }
        }
    }
    normalize::normalize(&mut child);
    child
}

/// Copies a turn of another scenario with its tools. Its calls get unused names.
fn adopt(child: &mut Scenario, other: &Scenario, turn: &Turn) -> Turn {
    let mut names = Names::of(child);
    let mut renamed: Vec<(String, String)> = Vec::new();
    let mut turn = turn.clone();
    for block in turn.replies.iter_mut().flat_map(|reply| &mut reply.attempts).flatten() {
        let Block::Call(call) = block else { continue };
        let name = names.next();
        renamed.push((std::mem::replace(&mut call.name, name.clone()), name));
        if let Some(CallId::Same(same)) = &mut call.id {
            rename(same, &renamed);
        }
        if let Some(tool) = other.tools.get(&call.tool) {
            child.tools.entry(call.tool.clone()).or_insert_with(|| tool.clone());
        }
    }
    turn.settle.iter_mut().for_each(|name| rename(name, &renamed));
    turn.at.iter_mut().for_each(|at| rename_in(at, &renamed));
    turn
}

fn rename(name: &mut String, renamed: &[(String, String)]) {
    if let Some((_, new)) = renamed.iter().find(|(old, _)| old == name) {
        name.clone_from(new);
    }
}

fn rename_in(at: &mut At, renamed: &[(String, String)]) {
    if let Some(name) = at.point_mut().and_then(Point::call_mut) {
        rename(name, renamed);
    }
    if let Some(name) = at.action.call_mut() {
        rename(name, renamed);
    }
}
