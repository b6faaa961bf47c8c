//! Matches the calls in the input with the calls in the output.

use std::collections::BTreeMap;

use crate::{CallFact, Facts};

/// Returns, for each call in `before`, its index among the calls in `after`.
///
/// Calls are matched by id if it occurs exactly once on each side. Other calls are matched by tool and
/// arguments, starting from the end, because filters drop messages at the beginning. If both sides have the
/// same number of remaining calls, these are matched in order.
pub(crate) fn aligned(before: &Facts, after: &Facts) -> Vec<Option<usize>> {
    let (old, new) = (before.calls(), after.calls());
    let mut found: Vec<Option<usize>> = vec![None; old.len()];
    let mut taken = vec![false; new.len()];
    let (old_ids, new_ids) = (places(&old), places(&new));
    for (n, call) in old.iter().enumerate().filter(|(_, call)| !call.id.is_empty()) {
        let is_once = old_ids.get(call.id.as_str()).is_some_and(|places| places.len() == 1);
        if let Some([at]) = new_ids.get(call.id.as_str()).map(Vec::as_slice)
            && is_once
        {
            found[n] = Some(*at);
            taken[*at] = true;
        }
    }
    let same = |one: &CallFact, other: &CallFact| one.name == other.name && one.arguments == other.arguments;
    for n in (0..old.len()).rev().filter(|n| found[*n].is_none()).collect::<Vec<_>>() {
        if let Some(at) = (0..new.len()).rev().find(|at| !taken[*at] && same(old[n], new[*at])) {
            found[n] = Some(at);
            taken[at] = true;
        }
    }
    let left: Vec<usize> = (0..old.len()).filter(|n| found[*n].is_none()).collect();
    let free: Vec<usize> = (0..new.len()).filter(|at| !taken[*at]).collect();
    if left.len() == free.len() {
        left.iter().zip(free).for_each(|(n, at)| found[*n] = Some(at));
    }
    found
}

fn places<'a>(calls: &[&'a CallFact]) -> BTreeMap<&'a str, Vec<usize>> {
    let mut places: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (n, call) in calls.iter().enumerate() {
        places.entry(&call.id).or_default().push(n);
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Part;

    fn facts(calls: &[(&str, &str)]) -> Facts {
        let call = |(id, arguments): &(&str, &str)| {
            let owned = |text: &str| text.to_owned();
            Part::Call(CallFact {
                id: owned(id),
                name: owned("f"),
                arguments: owned(arguments),
                signature: None,
            })
        };
        Facts { system: Vec::new(), parts: calls.iter().map(call).collect() }
    }

    #[test]
    fn calls_are_matched_by_id_then_by_content_then_in_order() {
        let all = facts(&[("a", "1"), ("b", "1"), ("c", "2")]);
        assert_eq!(aligned(&all, &all), [Some(0), Some(1), Some(2)]);
        assert_eq!(aligned(&all, &facts(&[("b", "1"), ("c", "2")])), [None, Some(0), Some(1)]);
        assert_eq!(aligned(&all, &facts(&[("x", "1"), ("y", "2")])), [None, Some(0), Some(1)]);
        assert_eq!(aligned(&all, &facts(&[("x", "1"), ("y", "1"), ("z", "9")])), [Some(0), Some(1), Some(2)]);
    }
}
