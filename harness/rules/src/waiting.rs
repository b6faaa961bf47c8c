//! Possible violations that are kept until the end of a request.

use std::collections::BTreeMap;

use crate::violation::MAX_VIOLATIONS;

/// Possible violations in order, until it is known which of them count.
///
/// At most [`MAX_VIOLATIONS`] of each kind are kept, so that warnings cannot displace a rejection that is
/// found later.
#[derive(Debug)]
pub(crate) struct Waiting<K, T> {
    items: Vec<(K, T)>,
    counts: BTreeMap<K, usize>,
}

impl<K: Copy + Ord, T> Waiting<K, T> {
    pub(crate) fn new() -> Self {
        Waiting { items: Vec::new(), counts: BTreeMap::new() }
    }

    /// Adds a possible violation, if there is room for its kind.
    pub(crate) fn push(&mut self, kind: K, item: impl FnOnce() -> T) {
        let count = self.counts.entry(kind).or_default();
        if *count < MAX_VIOLATIONS {
            *count += 1;
            self.items.push((kind, item()));
        }
    }

    pub(crate) fn take(&mut self) -> Vec<(K, T)> {
        self.counts.clear();
        std::mem::take(&mut self.items)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_its_own_limit() {
        let mut waiting = Waiting::new();
        (0..2 * MAX_VIOLATIONS).for_each(|n| waiting.push("often", || n));
        waiting.push("once", || 7);
        let kept = waiting.take();
        assert_eq!(kept.len(), MAX_VIOLATIONS + 1);
        assert_eq!(kept.last(), Some(&("once", 7)));
        assert!(waiting.take().is_empty());
    }
}
