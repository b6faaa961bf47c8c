//! Sessions that are not one JSON text: rows of a database, a log of changes, a file for each message.
//!
//! Code collects the records of each session, and the description of the store reads them as it reads a list.

use brickbat_rules::Dialect;
use brickbat_rules::json::{Document, Json};
use serde_json::Value;

use super::Form;
use super::read::{Records, fill, listed, new};
use crate::json::{lines, trouble};
use crate::stores::Look;
use crate::{Cut, Files, FormError, Lost, Place, Session, Trouble};

/// Code that collects the records of a store.
pub(crate) struct Assembly {
    /// Returns whether the files are of this store.
    pub(super) owns: fn(&Look<'_>) -> bool,
    /// Collects the records of all sessions.
    pub(super) assemble: fn(&Files) -> Result<Vec<Assembled>, FormError>,
}

/// The records of one session.
#[derive(Debug, Default)]
pub(super) struct Assembled {
    pub(super) id: Option<String>,
    pub(super) dialect: Option<Dialect>,
    /// See [`Session::generation`].
    pub(super) generation: &'static str,
    /// The session's own fields, as JSON.
    pub(super) own: Option<String>,
    /// The JSON of each record that is sent, with its place.
    pub(super) records: Vec<(Place, String)>,
    /// Earlier records, which are not sent any more.
    pub(super) before: Vec<(Place, String)>,
    pub(super) troubles: Vec<Trouble>,
    /// See [`Session::cut`].
    pub(super) cut: Option<Cut>,
    pub(super) n_compactions: usize,
}

impl Assembled {
    /// Adds the JSON of a record, or a trouble if it is not JSON.
    #[cfg(feature = "sqlite")]
    pub(super) fn add(&mut self, place: Place, json: &[u8]) {
        match std::str::from_utf8(json).ok().filter(|_| Document::parse(json).is_ok()) {
            Some(text) => self.records.push((place, text.to_owned())),
            None => self.lose(place, trouble(json).to_string()),
        }
    }

    /// The items of a list at this pointer, each in the form that `form` gives it.
    pub(super) fn of_items(
        list: Json<'_, '_>,
        at: &str,
        generation: &'static str,
        form: impl Fn(Json<'_, '_>) -> Option<Value>,
    ) -> Assembled {
        let mut session = Assembled { generation, ..Assembled::default() };
        for (pointer, item) in listed(list, at) {
            let span = item.span();
            let place = Place::in_file(span.start as u64..span.end as u64, pointer);
            session.records.extend(form(item).map(|record| (place, record.to_string())));
        }
        session
    }

    /// The lines of a file, each in the form that `form` gives it.
    pub(super) fn of_lines(
        bytes: &[u8],
        generation: &'static str,
        form: impl Fn(Json<'_, '_>) -> Option<Value>,
    ) -> Assembled {
        let mut session = Assembled { generation, ..Assembled::default() };
        for line in lines(bytes) {
            let place = Place::in_line(line.n, line.span(), "");
            match Document::parse(line.bytes) {
                Ok(document) => {
                    session.records.extend(form(document.root()).map(|record| (place, record.to_string())));
                }
                Err(_) => session.lose(place, trouble(line.bytes).to_string()),
            }
        }
        session
    }

    /// Notes a record that cannot be read.
    pub(super) fn lose(&mut self, place: Place, words: String) {
        self.troubles.push(Trouble { place, words, loses: Some(Lost::Data("one message")) });
    }

    /// Puts a record, such as a summary, in place of the first records.
    #[cfg(feature = "sqlite")]
    pub(super) fn begin_with(&mut self, n_before: usize, record: &Value) {
        let kept = self.records.split_off(n_before.min(self.records.len()));
        self.before = std::mem::replace(&mut self.records, kept);
        let place = self.records.first().or(self.before.last()).map(|(place, _)| place.clone());
        self.records.insert(0, (place.unwrap_or_default(), record.to_string()));
    }

    /// The session, as the description of its store reads it.
    pub(super) fn session(&self, form: &Form) -> Session {
        let mut session = Session {
            id: self.id.clone(),
            dialect: self.dialect.or(form.dialect),
            generation: self.generation,
            troubles: self.troubles.clone(),
            cut: self.cut.clone(),
            n_compactions: self.n_compactions,
            ..new(form)
        };
        self.fill(form, &self.before, &mut session);
        session.off_branch = std::mem::take(&mut session.messages);
        self.fill(form, &self.records, &mut session);
        session.n_records += self.before.len() + self.troubles.len();
        session
    }

    fn fill(&self, form: &Form, records: &[(Place, String)], session: &mut Session) {
        let texts: Vec<&str> = records.iter().map(|(_, text)| text.as_str()).collect();
        let own = self.own.as_deref().unwrap_or("{}");
        let json = format!("{{\"own\":{own},\"records\":[{}]}}", texts.join(","));
        let Ok(document) = Document::parse(json.as_bytes()) else { return };
        let root = document.root();
        let found = Records { records: listed(root.field("records"), ""), own: root.field("own") };
        fill(form, &found, session, &|pointer| place_of(records, &pointer));
    }
}

/// The place of a value. Its pointer begins with the index of the record.
fn place_of(records: &[(Place, String)], pointer: &str) -> Place {
    let (index, rest) = pointer[pointer.len().min(1)..].split_once('/').map_or_else(
        || (&pointer[pointer.len().min(1)..], String::new()),
        |(index, rest)| (index, format!("/{rest}")),
    );
    let record = index.parse().ok().and_then(|n: usize| records.get(n));
    let place = record.map(|(place, _)| place.clone()).unwrap_or_default();
    Place { pointer: format!("{}{rest}", place.pointer), ..place }
}
