//! Message lists in a field of the file. They are read and written as if they were the file.

use std::ops::Range;

use brickbat_rules::json::Document;

use super::{Edit, WriteError};
use crate::json::splice;
use crate::{Files, Place, Session};

/// The list in the field `messages` of a file that is an object.
pub(crate) struct Enveloped {
    /// The list as a file.
    pub(crate) files: Files,
    /// The byte range of the list in the real file.
    span: Range<usize>,
}

/// The field, as a pointer.
const FIELD: &str = "/messages";

impl Enveloped {
    /// The list in these files. `None` if the first file is not an object with such a list.
    pub(crate) fn of(files: &Files) -> Option<Enveloped> {
        if !files.main().trim_ascii_start().starts_with(b"{") {
            return None;
        }
        let document = Document::parse(files.main()).ok()?;
        let list = document.root().get("messages").filter(|list| list.is_array())?;
        let span = list.span();
        Some(Enveloped { files: Files::one(files.name(), files.main()[span.clone()].to_vec()), span })
    }

    /// A session of the list, with its places translated to the real file.
    pub(crate) fn outer(&self, mut session: Session) -> Session {
        each_place(&mut session, |place| self.shift(place, true));
        session
    }

    /// Writes edits with places that refer to the real file.
    pub(crate) fn write(
        &self,
        files: &Files,
        session: &Session,
        edits: &[Edit],
        write: impl FnOnce(&Files, &Session, &[Edit]) -> Result<Files, WriteError>,
    ) -> Result<Files, WriteError> {
        let mut inner = session.clone();
        each_place(&mut inner, |place| self.shift(place, false));
        let mut edits = edits.to_vec();
        for edit in &mut edits {
            match edit {
                Edit::Move { result, call, .. } => {
                    self.shift(result, false);
                    self.shift(call, false);
                }
                Edit::Synthesise { call: place, .. }
                | Edit::Drop { block: place }
                | Edit::Discard { place }
                | Edit::Truncate { last: place } => self.shift(place, false),
            }
        }
        let list = write(&self.files, &inner, &edits)?;
        let mut written = files.clone();
        if let Some(main) = written.files.first_mut() {
            main.bytes = splice(&main.bytes, vec![(self.span.clone(), list.main().to_vec())]);
        }
        Ok(written)
    }

    fn shift(&self, place: &mut Place, is_out: bool) {
        let by = self.span.start as u64;
        if is_out {
            place.start += by;
            place.end += by;
            place.pointer.insert_str(0, FIELD);
        } else {
            place.start = place.start.saturating_sub(by);
            place.end = place.end.saturating_sub(by);
            place.pointer = place.pointer.strip_prefix(FIELD).unwrap_or_default().to_owned();
        }
    }
}

fn each_place(session: &mut Session, shift: impl Fn(&mut Place)) {
    for message in session.messages.iter_mut().chain(&mut session.off_branch) {
        shift(&mut message.place);
        message.blocks.iter_mut().for_each(|block| shift(&mut block.place));
    }
    session.troubles.iter_mut().for_each(|trouble| shift(&mut trouble.place));
}
