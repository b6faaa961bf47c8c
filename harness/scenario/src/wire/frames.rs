//! Frames, stored end to end in one buffer, and the marks that they complete.

use crate::plan::Mark;

/// The frames of a body, stored end to end in one buffer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Frames {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Frames {
    /// No frames, with room for a body of `n_bytes` bytes.
    pub fn with_capacity(n_bytes: usize) -> Frames {
        Frames { bytes: Vec::with_capacity(n_bytes), ends: Vec::with_capacity(24) }
    }

    /// Appends a frame that `write` fills.
    pub fn push_with(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        write(&mut self.bytes);
        self.ends.push(self.bytes.len());
    }

    /// The number of frames.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// True if there are no frames.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The bytes of the frames in a range.
    pub fn slice(&self, range: std::ops::Range<usize>) -> &[u8] {
        let start = if range.start == 0 { 0 } else { self.ends[range.start - 1] };
        let end = if range.end == 0 { 0 } else { self.ends[range.end - 1] };
        &self.bytes[start..end.max(start)]
    }

    /// Inserts a frame before the one at this index, or at the end.
    pub fn insert(&mut self, at: usize, frame: &[u8]) {
        let at = at.min(self.len());
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        self.bytes.splice(start..start, frame.iter().copied());
        self.ends.insert(at, start);
        self.ends[at..].iter_mut().for_each(|end| *end += frame.len());
    }

    /// Keeps the first `n_frames` frames.
    pub fn truncate(&mut self, n_frames: usize) {
        self.ends.truncate(n_frames);
        self.bytes.truncate(self.ends.last().copied().unwrap_or(0));
    }
}

/// An encoded reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Encoded {
    /// The frames.
    pub frames: Frames,
    /// Each mark in the reply with the index of the frame that completes it, in order.
    pub marks: Vec<(Mark, usize)>,
}

impl Encoded {
    /// An empty reply, with room for a body of `n_bytes` bytes.
    pub fn with_capacity(n_bytes: usize) -> Encoded {
        Encoded { frames: Frames::with_capacity(n_bytes), marks: Vec::with_capacity(24) }
    }

    /// Appends a frame that `write` fills.
    pub fn frame(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        self.frames.push_with(write);
    }

    /// Records that the last frame completes a mark.
    pub fn mark(&mut self, mark: Mark) {
        self.marks.push((mark, self.frames.len().saturating_sub(1)));
    }

    /// Inserts a frame that completes no mark before the one at this index.
    pub fn insert(&mut self, at: usize, frame: &[u8]) {
        self.frames.insert(at, frame);
        self.marks.iter_mut().filter(|(_, own)| *own >= at).for_each(|(_, own)| *own += 1);
    }

    /// The index of the frame that completes a mark.
    pub fn frame_of(&self, mark: Mark) -> Option<usize> {
        self.marks.iter().find(|(at, _)| *at == mark).map(|(_, frame)| *frame)
    }
}

/// Writes a string as JSON, including its quotes.
pub fn json_string(out: &mut Vec<u8>, text: &str) {
    serde_json::to_writer(out, text).expect("a string is JSON and a vector takes any bytes");
}

/// Writes a number as JSON.
pub(crate) fn json_number(out: &mut Vec<u8>, number: impl serde::Serialize) {
    serde_json::to_writer(out, &number).expect("a number is JSON and a vector takes any bytes");
}
