//! Message lists in a field of the file. They are read and written as if they were the file.

use std::ops::Range;

use brickbat_rules::Rule;
use brickbat_rules::json::Document;

use super::{Edit, Look, ReadError, Relapse, Store, WriteError};
use crate::json::splice;
use crate::{Files, Place, Planned, Sent, Session};

/// The store of a list that may also be the field `messages` of an object, as applications and chat clients keep it.
///
/// The text is the value of [`Session::generation`] for a list in an object.
pub(crate) struct OrInside<S>(pub(crate) S, pub(crate) &'static str);

/// An object of an application.
pub(crate) const INSIDE: &str = "JSON with `messages`";

impl<S: Store> OrInside<S> {
    fn inside(&self, files: &Files) -> Option<Enveloped> {
        Enveloped::of(files).filter(|inside| self.0.recognises(&inside.files))
    }
}

impl<S: Store> Store for OrInside<S> {
    fn owns(&self, look: &Look<'_>) -> bool {
        self.0.owns(look) || look.is_object(|_| true) && self.inside(look.files).is_some()
    }

    fn read(&self, files: &Files) -> Result<Vec<Session>, ReadError> {
        let Some(inside) = self.inside(files) else { return self.0.read(files) };
        let sessions = self.0.read(&inside.files)?.into_iter();
        Ok(sessions.map(|session| Session { generation: self.1, ..inside.outer(session) }).collect())
    }

    fn send(&self, session: &Session) -> Sent {
        self.0.send(session)
    }

    fn fills_open_tail(&self, session: &Session) -> Option<&'static str> {
        self.0.fills_open_tail(session)
    }

    fn write(&self, files: &Files, session: &Session, edits: &[Edit]) -> Result<Files, WriteError> {
        match self.inside(files) {
            Some(inside) => inside
                .write(files, session, edits, |files, session, edits| self.0.write(files, session, edits)),
            None => self.0.write(files, session, edits),
        }
    }

    fn may_obey(&self, rule: &Rule) -> bool {
        self.0.may_obey(rule)
    }

    fn relapse(&self, session: &Session, edits: &[Planned]) -> Option<&'static Relapse> {
        self.0.relapse(session, edits)
    }
}

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
