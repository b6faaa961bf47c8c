//! The numbers of replies. Faults and stops use them to choose a reply. The relay counts in the same way.

/// Numbers the replies that count: replies to requests that offer tools, or all replies while no request has
/// offered any.
#[derive(Debug, Default)]
pub(crate) struct ReplyNumbers {
    pub(super) last: u32,
    pub(super) has_offered: bool,
}

impl ReplyNumbers {
    /// The 1-based number of the next reply, to a request that offers tools or does not.
    pub(crate) fn next(&mut self, offers: bool) -> Option<u32> {
        if offers && !self.has_offered {
            *self = ReplyNumbers { last: 0, has_offered: true };
        }
        if self.has_offered && !offers {
            return None;
        }
        self.last = self.last.saturating_add(1);
        Some(self.last)
    }
}
