//! The log of a session: its lines, and the state after all of them.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::json;
use crate::stores::records::{self, Record};
use crate::{Place, Trouble};

/// The state after all lines of a file.
#[derive(Debug)]
pub(super) struct Log {
    /// The form of the file.
    pub(super) generation: &'static str,
    pub(super) session_id: Option<String>,
    /// The messages, in the order in which their ids first occurred. Removed messages are empty.
    pub(super) active: Vec<Option<Record>>,
    /// Earlier records of the active messages, by id.
    pub(super) earlier: BTreeMap<String, Vec<Record>>,
    /// Messages that a rewind or a new list removed.
    pub(super) rewound: Vec<Record>,
    pub(super) n_records: usize,
    pub(super) n_rewinds: usize,
    pub(super) troubles: Vec<Trouble>,
    pub(super) unknown: Vec<String>,
    slots: BTreeMap<String, usize>,
}

/// The value of [`Session::generation`](crate::Session::generation) for the older files.
pub(super) const JSON: &str = "JSON";

impl Log {
    /// Reads a file of either form.
    pub(super) fn read(bytes: &[u8]) -> Log {
        let mut log = Log {
            generation: "JSONL",
            session_id: None,
            active: Vec::new(),
            earlier: BTreeMap::new(),
            rewound: Vec::new(),
            n_records: 0,
            n_rewinds: 0,
            troubles: Vec::new(),
            unknown: Vec::new(),
            slots: BTreeMap::new(),
        };
        let whole = json::parse(bytes).filter(|value| value.get("messages").is_some_and(Value::is_array));
        if let Some(value) = whole {
            log.generation = JSON;
            let span = 0..bytes.len();
            log.take(bytes, Record { value, line: None, span, pointer: String::new() });
            log.n_records = log.active.len();
            return log;
        }
        let (records, troubles) = records::of_lines(bytes);
        log.n_records = records.len();
        log.troubles = troubles;
        for record in records {
            log.take(bytes, record);
        }
        log
    }

    fn take(&mut self, bytes: &[u8], record: Record) {
        if let Some(id) = record.value.get("$rewindTo").and_then(Value::as_str) {
            let id = id.to_owned();
            self.rewind(&id, record.place(""));
        } else if record.value.get("id").is_some_and(Value::is_string) {
            self.message(record);
        } else if record.value.get("$set").is_some_and(Value::is_object) {
            if record.value["$set"].get("messages").is_some_and(Value::is_array) {
                self.clear_from(0);
                record.items(bytes, "/$set/messages").into_iter().for_each(|message| self.message(message));
            }
            self.metadata(&record.value["$set"]);
        } else if record.value.get("projectHash").is_some() || record.value.get("sessionId").is_some() {
            record.items(bytes, "/messages").into_iter().for_each(|message| self.message(message));
            self.metadata(&record.value);
        } else if !self.unknown.iter().any(|known| known == UNKNOWN) {
            self.unknown.push(UNKNOWN.to_owned());
        }
    }

    fn metadata(&mut self, value: &Value) {
        if let Some(id) = value.get("sessionId").and_then(Value::as_str) {
            self.session_id = Some(id.to_owned());
        }
    }

    fn message(&mut self, record: Record) {
        let id = record.text("id").to_owned();
        match self.slots.get(&id).copied() {
            Some(slot) => {
                if let Some(earlier) = self.active[slot].replace(record) {
                    self.earlier.entry(id).or_default().push(earlier);
                }
            }
            None => {
                self.slots.insert(id, self.active.len());
                self.active.push(Some(record));
            }
        }
    }

    fn rewind(&mut self, id: &str, place: Place) {
        self.n_rewinds += 1;
        match self.slots.get(id).copied() {
            Some(slot) => self.clear_from(slot),
            None => {
                if !self.active.is_empty() {
                    let words = "a rewind to a missing message: everything before it is cleared".to_owned();
                    // Removing the rewind would restore everything before it, and the intended extent is unknown.
                    self.troubles.push(Trouble { place, words, loses: None });
                }
                self.clear_from(0);
            }
        }
    }

    fn clear_from(&mut self, slot: usize) {
        for record in self.active.drain(slot..).flatten() {
            self.slots.remove(record.text("id"));
            self.earlier.remove(record.text("id"));
            self.rewound.push(record);
        }
    }
}

const UNKNOWN: &str = "a record that is neither a message nor a patch";
