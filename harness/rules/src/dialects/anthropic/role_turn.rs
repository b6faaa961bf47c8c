//! A turn as the provider reads it: consecutive messages with the same role.

use super::block::{AnthropicRole, BlockKind, BlockPosition};

/// A run of messages with the same role, merged as the provider does.
#[derive(Debug, Clone, Copy)]
pub(super) struct RoleTurn {
    pub(super) role: AnthropicRole,
    /// The index of the run's first message.
    pub(super) first: usize,
    pub(super) ends: Option<(SeenBlock, SeenBlock)>,
    pub(super) thought: Option<BlockPosition>,
    /// The first call of a client tool.
    pub(super) called: Option<BlockPosition>,
    /// True if it has anything but results of client tools.
    pub(super) says_more: bool,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct SeenBlock {
    pub(super) place: BlockPosition,
    pub(super) kind: BlockKind,
}

impl RoleTurn {
    pub(super) fn new(role: AnthropicRole, first: usize) -> RoleTurn {
        RoleTurn { role, first, ends: None, thought: None, called: None, says_more: false }
    }

    pub(super) fn first_block(&self) -> Option<SeenBlock> {
        self.ends.map(|(first, _)| first)
    }

    pub(super) fn last_block(&self) -> Option<SeenBlock> {
        self.ends.map(|(_, last)| last)
    }
}
