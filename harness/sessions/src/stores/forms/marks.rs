//! Recognises a store by the marks of its description.

use brickbat_rules::json::{Document, Json};

use super::read::{exists, is_lines, sessions};
use super::{Form, Framing, Mark, list_in};
use crate::stores::Look;

/// The number of records that a mark examines.
const MAX_MARKED: usize = 64;

/// Returns whether all marks of the store hold for the file.
pub(super) fn owns(form: &Form, look: &Look<'_>) -> bool {
    if form.other.as_ref().is_some_and(|other| (other.owns)(look)) {
        return true;
    }
    let has_name = |mark: &Mark| !matches!(mark, Mark::Name(_)) || holds(form, mark, look, None);
    form.marks.iter().all(has_name)
        && with_records(form, look, |root, records| {
            form.marks.iter().all(|mark| holds(form, mark, look, Some((root, records))))
        })
        .unwrap_or(false)
}

/// The number of marks that hold, the number of all, and descriptions of the others.
pub(super) fn nearness(form: &Form, look: &Look<'_>) -> (usize, usize, Vec<String>) {
    let count = |found: Option<(Json<'_, '_>, &[Json<'_, '_>])>| {
        let (mut n, mut all, mut missing) = (0, 0, Vec::new());
        for mark in form.marks {
            let parts = mark.fields();
            all += parts.len();
            if holds(form, mark, look, found) {
                n += parts.len();
                continue;
            }
            let (own, others): (Vec<String>, Vec<String>) = parts.into_iter().partition(|part| {
                let pointer = format!("/{}", part.trim_matches('`'));
                let is_root = matches!(mark, Mark::Root(_));
                found.is_some_and(|(root, records)| match is_root {
                    true => exists(root, &pointer),
                    false => records.iter().any(|record| exists(*record, &pointer)),
                })
            });
            n += own.len();
            missing.extend(others);
        }
        (n, all, missing)
    };
    with_records(form, look, |root, records| count(Some((root, records)))).unwrap_or_else(|| count(None))
}

/// Calls `then` with the file, or its first line, and the records at its beginning. `None` if there is no record.
fn with_records<T>(
    form: &Form,
    look: &Look<'_>,
    then: impl Fn(Json<'_, '_>, &[Json<'_, '_>]) -> T,
) -> Option<T> {
    let found = std::cell::RefCell::new(None);
    let give = |root: Json<'_, '_>, records: &[Json<'_, '_>]| {
        if !records.is_empty() {
            found.replace(Some(then(root, records)));
        }
        true
    };
    match &form.file {
        Framing::Lines => {
            let records: Vec<Json<'_, '_>> = look.head().iter().map(Document::root).collect();
            // A list over several lines has objects on lines of their own too.
            let is_lines = look.main().trim_ascii_start().starts_with(b"{")
                && look.document().is_none_or(|_| records.len() == 1);
            if is_lines && let Some(first) = records.first() {
                give(*first, &records);
            }
        }
        Framing::Each(_, list) if is_lines(look) => {
            let line = look.head().first()?;
            let list = list_in(line.root(), list);
            let records: Vec<Json<'_, '_>> = line.root().pointer(list).items().take(MAX_MARKED).collect();
            give(line.root(), &records);
        }
        Framing::None => {}
        Framing::List(_) | Framing::Each(..) | Framing::Nested(..) => {
            look.is_whole(|root| {
                let sessions = sessions(form, root);
                let records = sessions.iter().flat_map(|session| &session.records);
                let records: Vec<Json<'_, '_>> =
                    records.map(|(_, record)| *record).take(MAX_MARKED).collect();
                give(root, &records)
            });
        }
    }
    found.into_inner()
}

/// Returns whether a mark holds for the file, or its first line, and the records.
fn holds(form: &Form, mark: &Mark, look: &Look<'_>, found: Option<(Json<'_, '_>, &[Json<'_, '_>])>) -> bool {
    if let Mark::Name(ends) = mark {
        let name = look.files.name().replace(".repaired.", ".");
        return ends.iter().any(|end| name.ends_with(end));
    }
    let Some((root, records)) = found else { return false };
    let is =
        |value: Json<'_, '_>, at: &str, texts: &[&str]| texts.iter().any(|text| value.pointer(at).is(text));
    let mut messages = records.iter().copied().filter(|record| !form.is_skipped(*record));
    match mark {
        Mark::Name(_) => true,
        Mark::Root(at) => at.iter().all(|at| exists(root, at)),
        Mark::RootIs(at, texts) => is(root, at, texts),
        Mark::Every(at) => messages.all(|record| at.iter().all(|at| exists(record, at))),
        Mark::EveryIs(at, texts) => messages.all(|record| is(record, at, texts)),
        Mark::Some(at) => records.iter().any(|record| at.iter().any(|at| exists(*record, at))),
        Mark::SomeIs(at, texts) => records.iter().any(|record| is(*record, at, texts)),
    }
}
