//! Reads a store according to its description.

use std::collections::{BTreeMap, BTreeSet};

use brickbat_rules::histories::{Block as Content, Call, CallResult, Image, Role, Thinking, read_entry};
use brickbat_rules::json::{Document, Json};

use super::output::said;
use super::{CallAt, Form, Framing, Piece, ResultAt, Saying, Sends, Shape, Speaker, list_in, provider, tree};
use crate::json::{lines, word};
use crate::stores::json_text::whole;
use crate::stores::list_reader::note;
use crate::stores::{Look, ReadError, records};
use crate::{Block, Ending, FormError, Message, Place, Session};

/// Returns whether a file with objects is not one JSON value, so that each line is one.
pub(super) fn is_lines(look: &Look<'_>) -> bool {
    look.main().trim_ascii_start().starts_with(b"{") && look.document().is_none()
}

/// Returns whether a value is there; null is one.
pub(super) fn exists(value: Json<'_, '_>, pointer: &str) -> bool {
    !value.pointer(pointer).span().is_empty()
}

/// The records of one session, with their pointers.
pub(super) struct Records<'t, 'a> {
    pub(super) records: Vec<(String, Json<'t, 'a>)>,
    /// The value with the session's own fields.
    pub(super) own: Json<'t, 'a>,
}

/// The sessions of a JSON file.
pub(super) fn sessions<'t, 'a>(form: &Form, root: Json<'t, 'a>) -> Vec<Records<'t, 'a>> {
    match &form.file {
        Framing::List(pointers) => {
            let at = pointers.iter().find(|at| is_listed(root.pointer(at)));
            at.map(|at| Records { records: listed(root.pointer(at), at), own: root }).into_iter().collect()
        }
        Framing::Each(pointers, list) => {
            let Some(at) = pointers.iter().find(|at| is_listed(root.pointer(at))) else { return Vec::new() };
            // A file with one session may be the session itself.
            let alone = || vec![(String::new(), root)];
            let sessions = listed(root.pointer(at), at);
            let is_alone = list.iter().any(|list| !list.is_empty() && exists(root, list));
            let sessions = if is_alone { alone() } else { sessions };
            let records = |(pointer, own): (String, Json<'t, 'a>)| {
                let list = list_in(own, list);
                Records { records: listed(own.pointer(list), &format!("{pointer}{list}")), own }
            };
            sessions.into_iter().map(records).filter(|session| !session.records.is_empty()).collect()
        }
        Framing::Nested(outer, inner) => {
            let lists = listed(root.pointer(outer), outer).into_iter();
            let records = lists.flat_map(|(at, item)| listed(item.pointer(inner), &format!("{at}{inner}")));
            vec![Records { records: records.collect(), own: root }]
        }
        Framing::Lines | Framing::None => Vec::new(),
    }
}

fn is_listed(value: Json<'_, '_>) -> bool {
    value.is_array() || value.is_object()
}

/// The items or fields of a value, with their pointers.
pub(super) fn listed<'t, 'a>(list: Json<'t, 'a>, at: &str) -> Vec<(String, Json<'t, 'a>)> {
    if list.is_array() {
        return list.items().enumerate().map(|(n, item)| (format!("{at}/{n}"), item)).collect();
    }
    let escaped = |name: Json<'_, '_>| {
        name.as_str().map(|name| name.replace('~', "~0").replace('/', "~1")).unwrap_or_default()
    };
    let mut fields: Vec<(String, Json<'t, 'a>)> =
        list.fields().map(|(name, value)| (format!("{at}/{}", escaped(name)), value)).collect();
    // Of two fields with one name, parsers of JSON keep the last.
    let mut seen = BTreeSet::new();
    fields.reverse();
    fields.retain(|(at, _)| seen.insert(at.clone()));
    fields.reverse();
    fields
}

/// Reads all sessions of a file.
///
/// # Errors
///
/// The file is not JSON, or has no message.
pub(super) fn read(form: &Form, files: &crate::Files) -> Result<Vec<Session>, ReadError> {
    let mut found = match form.other.as_ref().filter(|other| (other.owns)(&Look::of(files))) {
        Some(other) => {
            let all = (other.assemble)(files).map_err(|error| error.of(form.product))?;
            all.iter().map(|one| one.session(form)).collect()
        }
        None => read_text(form, files)?,
    };
    for session in &mut found {
        if let Some(finish) = form.finish {
            finish(session);
        }
    }
    if found.is_empty() {
        return Err(FormError::Shape("it has no list of messages").of(form.product));
    }
    Ok(found)
}

/// Reads all sessions of a JSON text, or of its lines.
fn read_text(form: &Form, files: &crate::Files) -> Result<Vec<Session>, ReadError> {
    let bytes = files.main();
    let mut found = Vec::new();
    match &form.file {
        Framing::None => {}
        Framing::Lines => {
            let mut session = new(form);
            read_lines(form, bytes, &mut session);
            found.push(session);
        }
        Framing::Each(_, list) if is_lines(&Look::of(files)) => {
            for line in lines(bytes) {
                let mut session = new(form);
                let Ok(document) = Document::parse(line.bytes) else {
                    session.troubles.push(records::trouble(&line));
                    found.push(session);
                    continue;
                };
                let place = |pointer: String| Place::in_line(line.n, line.span(), pointer);
                let list = list_in(document.root(), list);
                let records = listed(document.root().pointer(list), list);
                fill(form, &Records { records, own: document.root() }, &mut session, &place);
                found.push(session);
            }
        }
        Framing::List(_) | Framing::Each(..) | Framing::Nested(..) => {
            let whole = whole(bytes).ok_or(ReadError::Unknown)?;
            let document = Document::parse(&whole.text).map_err(|_| ReadError::Unknown)?;
            for records in sessions(form, document.root()) {
                let mut session = new(form);
                session.troubles.extend(whole.trouble(bytes));
                fill(form, &records, &mut session, &|pointer| Place::in_file(0..0, pointer));
                found.push(session);
            }
        }
    }
    Ok(found)
}

/// A session without messages.
pub(super) fn new(form: &Form) -> Session {
    let branch = match (matches!(form.sends, Sends::AsStored), &form.tree) {
        (true, None) => "the list as stored; what the product changes when it sends is not known",
        (true, Some(_)) => "up from the current message; what the product changes when it sends is not known",
        (false, Some(_)) => "up from the current message",
        (false, None) => "the list in its order",
    };
    Session { dialect: form.dialect, ..Session::new(form.product, form.generation, branch) }
}

fn read_lines(form: &Form, bytes: &[u8], session: &mut Session) {
    let head = lines(bytes).next().map(|line| line.bytes).unwrap_or_default();
    let mut n_left = Document::parse(head).map_or(0, |head| n_before(form, head.root()));
    for line in lines(bytes) {
        session.n_records += 1;
        let Ok(document) = Document::parse(line.bytes) else {
            session.troubles.push(records::trouble(&line));
            continue;
        };
        let place = |pointer: String| Place::in_line(line.n, line.span(), pointer);
        let mut own = Vec::new();
        take(form, document.root(), "", session, &place, &mut own);
        if n_left > 0 && !form.is_skipped(document.root()) {
            n_left -= 1;
            pass_by(form, own, session);
        } else {
            session.messages.extend(own);
        }
    }
}

/// The number of messages at the beginning that are not sent.
fn n_before(form: &Form, root: Json<'_, '_>) -> usize {
    form.sent_from.and_then(|at| root.pointer(at).raw().parse().ok()).unwrap_or(0)
}

/// Notes messages that are not sent any more. If the store is written, they are left out, since a record that is moved
/// from there would shift the number of those before it.
fn pass_by(form: &Form, messages: Vec<Message>, session: &mut Session) {
    if form.answer.is_none() {
        session.off_branch.extend(messages);
    }
}

/// Reads the records of a session.
pub(super) fn fill(
    form: &Form,
    records: &Records<'_, '_>,
    session: &mut Session,
    place: &dyn Fn(String) -> Place,
) {
    session.n_records = records.records.len();
    note_model(form, records.own, session);
    provider::note(records.own, session);
    let n_before = n_before(form, records.own);
    let is_on = tree::sent(form, records, session, place);
    for (n, (pointer, record)) in records.records.iter().enumerate() {
        let span = record.span();
        let placed = |pointer: String| {
            let place = place(pointer);
            // The place of a record that code has collected is complete.
            let (start, end) = if form.other.is_some() && place.end > 0 || place.line.is_some() {
                (place.start, place.end)
            } else {
                (span.start as u64, span.end as u64)
            };
            Place { start, end, ..place }
        };
        let mut own = Vec::new();
        take(form, *record, pointer, session, &placed, &mut own);
        match &is_on {
            None if n < n_before => pass_by(form, own, session),
            Some(is_on) if !is_on.contains_key(&n) => session.off_branch.extend(own),
            _ => session.messages.extend(own),
        }
    }
    if let Some(is_on) = is_on {
        let pointers: BTreeMap<&str, usize> =
            is_on.iter().map(|(n, order)| (records.records[*n].0.as_str(), *order)).collect();
        session.messages.sort_by_key(|message| pointers.get(message.place.pointer.as_str()).copied());
    }
}

fn note_model(form: &Form, value: Json<'_, '_>, session: &mut Session) {
    let mut found = form.model.iter().filter_map(|at| value.pointer(at).as_str());
    if let Some(model) = found.next_back() {
        session.model = Some(model.into_owned());
    }
}

/// Adds the messages of a record.
fn take(
    form: &Form,
    record: Json<'_, '_>,
    pointer: &str,
    session: &mut Session,
    place: &dyn Fn(String) -> Place,
    into: &mut Vec<Message>,
) {
    if form.is_skipped(record) {
        return;
    }
    note_model(form, record, session);
    let mut add = |role: Role, mut blocks: Vec<(String, Content)>| {
        // The text of a tool message is the result itself.
        if role == Role::Tool && blocks.iter().any(|(_, block)| matches!(block, Content::Result(_))) {
            blocks.retain(|(_, block)| matches!(block, Content::Result(_)));
        }
        let blocks = blocks.into_iter().map(|(at, content)| Block { place: place(at), content, state: None });
        split(role, blocks.collect(), &place(pointer.to_owned()), into);
    };
    match &form.shape {
        Shape::Native(at, dialect) => {
            let value = record.pointer(at);
            if value.is_object() {
                let entry = read_entry(*dialect, value, &format!("{pointer}{at}"));
                add(entry.role, entry.blocks);
            }
        }
        Shape::Speakers(speakers) => {
            note_role(speakers, record, session);
            for speaker in *speakers {
                for (at, value) in spoken(speaker, record) {
                    let Some(role) = role(&speaker.role, value) else { continue };
                    let mut blocks = Vec::new();
                    let at = format!("{pointer}{at}");
                    speaker
                        .pieces
                        .iter()
                        .for_each(|piece| gather(piece, value, record, &at, session, &mut blocks));
                    add(role, blocks);
                }
            }
        }
    }
}

/// The values of a speaker in a record, with their pointers.
fn spoken<'t, 'a>(speaker: &Speaker, record: Json<'t, 'a>) -> Vec<(String, Json<'t, 'a>)> {
    match speaker.at.strip_suffix("/*") {
        Some(list) => listed(record.pointer(list), list),
        None if exists(record, speaker.at) => vec![(speaker.at.to_owned(), record.pointer(speaker.at))],
        None => Vec::new(),
    }
}

fn role(saying: &Saying, value: Json<'_, '_>) -> Option<Role> {
    match saying {
        Saying::Is(role) => Some(*role),
        Saying::Flag(at, yes, no) => Some(if value.pointer(at).as_bool() == Some(true) { *yes } else { *no }),
        Saying::When(at, text, has, role) => {
            (value.pointer(at).is(text) && exists(value, has)).then_some(*role)
        }
        Saying::Named(at, names) => {
            let name = value.pointer(at).as_str()?;
            names.iter().find(|(known, _)| *known == name).map(|(_, role)| *role)
        }
        #[cfg(feature = "sqlite")]
        Saying::Numbered(at, names) => {
            let number = value.pointer(at).raw();
            names.iter().find(|(known, _)| *known == number).map(|(_, role)| *role)
        }
    }
}

/// Notes the role of a record that no speaker has.
fn note_role(speakers: &[Speaker], record: Json<'_, '_>, session: &mut Session) {
    let named = speakers.iter().filter_map(|speaker| match speaker.role {
        Saying::Named(at, names) => Some((record.pointer(speaker.at).pointer(at).as_str()?, names)),
        #[cfg(feature = "sqlite")]
        Saying::Numbered(..) => None,
        Saying::Is(_) | Saying::Flag(..) | Saying::When(..) => None,
    });
    let named: Vec<_> = named.collect();
    let is_known = named.iter().any(|(name, names)| names.iter().any(|(known, _)| *known == name.as_ref()));
    if let Some((name, _)) = named.first().filter(|_| !is_known) {
        note(&mut session.unknown, format!("role {}", word(name)));
    }
}

/// Adds a message. Results inside a reply become messages of their own, as the provider wants them.
fn split(role: Role, blocks: Vec<Block>, place: &Place, into: &mut Vec<Message>) {
    let is_result = |block: &Block| matches!(block.content, Content::Result(_));
    let mut rest: Vec<Block> = Vec::new();
    let mut results: Vec<Block> = Vec::new();
    let mut end = |role: Role, blocks: &mut Vec<Block>| {
        if !blocks.is_empty() {
            let (blocks, place) = (std::mem::take(blocks), place.clone());
            into.push(Message { role, blocks, id: None, place, ending: Ending::Whole });
        }
    };
    for block in blocks {
        if is_result(&block) {
            results.push(block);
            continue;
        }
        // In a reply, what follows a result is the next step.
        if role == Role::Assistant && !results.is_empty() && !matches!(block.content, Content::Call(_)) {
            end(Role::Assistant, &mut rest);
            end(Role::Tool, &mut results);
        }
        rest.push(block);
    }
    if role == Role::Assistant {
        end(role, &mut rest);
        end(Role::Tool, &mut results);
    } else {
        end(Role::Tool, &mut results);
        end(if role == Role::Tool { Role::User } else { role }, &mut rest);
    }
}

/// Adds the blocks of a piece of a value.
fn gather(
    piece: &Piece,
    value: Json<'_, '_>,
    record: Json<'_, '_>,
    pointer: &str,
    session: &mut Session,
    into: &mut Vec<(String, Content)>,
) {
    let text = |at: &str| value.pointer(at).as_str().map(|text| text.into_owned());
    match piece {
        Piece::Text(at) => texts(value.pointer(at), &format!("{pointer}{at}"), into),
        Piece::Whole(at) => match value.pointer(at).as_str() {
            Some(words) => into.push((format!("{pointer}{at}"), Content::Text(words.into_owned()))),
            None => texts(value.pointer(at), &format!("{pointer}{at}"), into),
        },
        Piece::Thinking(at, signature) => {
            if let Some(words) = text(at).or_else(|| text(&format!("{at}/value"))) {
                let signature = text(signature).filter(|signature| !signature.is_empty());
                into.push((
                    format!("{pointer}{at}"),
                    Content::Thinking(Thinking { text: words, signature, id: None }),
                ));
            }
        }
        Piece::Image(data, media_type) => {
            let is_image = |(_, media_type): &(String, String)| media_type.starts_with("image/");
            if let Some((data, media_type)) = text(data).zip(text(media_type)).filter(is_image) {
                into.push((pointer.to_owned(), Content::Image(Image { media_type, data })));
            }
        }
        Piece::Skip => {}
        Piece::Call(at) => into.extend(call(at, value).map(|call| (pointer.to_owned(), call))),
        Piece::Both(at, result_at) => {
            into.extend(call(at, value).map(|call| (pointer.to_owned(), call)));
            into.extend(result(result_at, value).map(|result| (pointer.to_owned(), result)));
        }
        Piece::CallInText(at) => {
            let words = text(at).unwrap_or_default();
            let Ok(document) = Document::parse(words.as_bytes()) else {
                note(&mut session.unknown, "a call that is not JSON".to_owned());
                return;
            };
            let own = CallAt { id: "/id", name: "/name", arguments: "/arguments" };
            let root = document.root();
            let all = if root.is_array() { root.items().collect() } else { vec![root] };
            let calls = all.into_iter().filter_map(|value| call(&own, value));
            into.extend(calls.enumerate().map(|(n, call)| (format!("{pointer}{at}/{n}"), call)));
        }
        Piece::Calls(list, at) => {
            let items = listed(value.pointer(list), &format!("{pointer}{list}")).into_iter();
            into.extend(items.filter_map(|(place, item)| Some((place, call(at, item)?))));
        }
        Piece::Result(at) => into.extend(result(at, value).map(|result| (pointer.to_owned(), result))),
        Piece::ResultInText(at) => {
            let result = CallResult::new("", "", said(value.pointer(at)));
            into.push((format!("{pointer}{at}"), Content::Result(result)));
        }
        Piece::Results(list, at) => {
            let items = listed(value.pointer(list), &format!("{pointer}{list}")).into_iter();
            into.extend(items.filter_map(|(place, item)| Some((place, result(at, item)?))));
        }
        Piece::ResultsOf(list, id, map, output) => {
            for (at, item) in listed(value.pointer(list), &format!("{pointer}{list}")) {
                let Some(id) = item.pointer(id).as_str() else { continue };
                let Some(found) = record.pointer(map).get(&id) else { continue };
                let result = CallResult::new(id.as_ref(), "", said(found.pointer(output)));
                // Two calls of one id get the same result, so it has the place of the call.
                into.push((at, Content::Result(result)));
            }
        }
        Piece::Parts(list, kind, pieces) => {
            let list_at = format!("{pointer}{list}");
            if value.pointer(list).is_str() {
                return texts(value.pointer(list), &list_at, into);
            }
            for (at, part) in listed(value.pointer(list), &list_at) {
                let name = part.pointer(kind).as_str();
                let is_it = |known: &str| match &name {
                    Some(name) => name == known,
                    None => part.get(known).is_some(),
                };
                match pieces.iter().find(|(known, _)| is_it(known)) {
                    // A part that says that it is a result is one, even if it names no call.
                    Some((_, Piece::Result(result))) => {
                        into.extend(output(result, part).map(|own| (at, own)))
                    }
                    Some((_, piece)) => gather(piece, part, record, &at, session, into),
                    None => note(&mut session.unknown, format!("part {}", word(&name.unwrap_or_default()))),
                }
            }
        }
    }
}

fn texts(value: Json<'_, '_>, at: &str, into: &mut Vec<(String, Content)>) {
    if let Some(words) = value.as_str() {
        if !words.is_empty() {
            into.push((at.to_owned(), Content::Text(words.into_owned())));
        }
        return;
    }
    // OpenAI's assistants have a text with its annotations.
    if let Some(words) = value.field("value").as_str().filter(|words| !words.is_empty()) {
        into.push((at.to_owned(), Content::Text(words.into_owned())));
    }
    for (n, item) in value.items().enumerate() {
        let words = item.as_str().or_else(|| item.field("text").as_str());
        into.extend(words.map(|words| (format!("{at}/{n}"), Content::Text(words.into_owned()))));
    }
}

fn call(at: &CallAt, value: Json<'_, '_>) -> Option<Content> {
    let text = |at: &str| value.pointer(at).as_str().map(|text| text.into_owned());
    let name = text(at.name)?;
    let arguments = value.pointer(at.arguments);
    let arguments = match arguments.as_str() {
        Some(arguments) => arguments.into_owned(),
        None if arguments.span().is_empty() || arguments.is_null() => "{}".to_owned(),
        None => arguments.raw().to_owned(),
    };
    Some(Content::Call(Call::new(text(at.id).unwrap_or_default(), name, arguments)))
}

/// A result, if the value names the call.
fn result(at: &ResultAt, value: Json<'_, '_>) -> Option<Content> {
    let is_named = value.pointer(at.call).as_str().is_some_and(|call| !call.is_empty());
    if is_named { output(at, value) } else { None }
}

fn output(at: &ResultAt, value: Json<'_, '_>) -> Option<Content> {
    let call = value.pointer(at.call).as_str()?.into_owned();
    if !exists(value, at.output) {
        return None;
    }
    let is_error = at.failed.is_some_and(|(at, mark)| {
        let found = value.pointer(at);
        found.is(mark) || found.as_bool().is_some_and(|is| is.to_string() == mark)
    });
    let name = value.pointer(at.name).as_str().map(|name| name.into_owned()).unwrap_or_default();
    let output = said(value.pointer(at.output));
    Some(Content::Result(CallResult { is_error, ..CallResult::new(call, name, output) }))
}
