//! `brickbat check --fix`: the smallest edit after which a provider accepts a request.
//!
//! `check` with the same options decides whether the request is accepted before and after the edit.

use std::borrow::Cow;
use std::ops::Range;
use std::path::{Path, PathBuf};

use similar::TextDiff;

use super::super::error::{BAD_INPUT, CliError, Outcome};
use super::super::output::{error, print, tell};
use super::super::requests::{self, Input, Inputs, Piece};
use super::unjudged;
use brickbat_drive::whole_file;
use brickbat_rules::check::{
    CheckError, CheckOptions, CheckedRequest, Level, Providers, Start, Strictness, check, check_recorded,
    request_in,
};
use brickbat_rules::json::{Document, without_halves};
use brickbat_rules::naming;
use brickbat_rules::recordings::{self, Exchange, Pasted};
use brickbat_sessions::{self as sessions, Reason, RepairOptions, report};

/// The edit's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fix {
    /// Write a copy next to the file.
    Write,
    /// Show a unified diff with the content around the edit.
    Diff,
}

/// The outcome for one request.
enum Fixed {
    /// There was nothing to fix.
    Accepted,
    /// No edit fixes it.
    Refused,
    /// It is fixed: the new text, and a description of the edits.
    Mended(Vec<u8>, String),
    /// It was found inside a text, and is fixed: the request, the new one, and a description of the edits.
    Found(Vec<u8>, Vec<u8>, String),
}

/// The largest file in bytes: the complete file is in memory, together with its copy. The limit for sessions
/// is the same.
const MAX_BYTES: u64 = 768 << 20;

/// Fixes each request in the files.
pub(super) fn fix(inputs: &Inputs, options: &CheckOptions, fix: Fix) -> Outcome {
    if matches!(options.strictness, Strictness::Union) {
        return Err(CliError::input("--fix needs one provider, and --profile names a union"));
    }
    let mut code = 0;
    for (folder, words) in &inputs.unreadable {
        code = code.max(CliError::cannot_read(folder, words.as_str()).report());
    }
    for input in &inputs.files {
        code = code.max(file(input, options, fix).unwrap_or_else(|error| error.report()));
    }
    match inputs.files.is_empty() {
        true => Err(CliError::input("no request to fix")),
        false => Ok(code),
    }
}

fn file(input: &Input, options: &CheckOptions, fix: Fix) -> Outcome {
    let path = input.path.as_str();
    if path == "-" && fix == Fix::Write {
        return Err(CliError::input(
            "--fix writes a copy next to a file\nhint: --diff shows the edit of standard input",
        ));
    }
    let bytes = read(path)?;
    let (mut code, mut n_errors, mut edits, mut inside) = (0, 0, Vec::new(), Vec::new());
    for piece in requests::pieces_of(path, &bytes) {
        let mut trouble = |words: String| {
            code = code.max(BAD_INPUT);
            n_errors += 1;
            if n_errors <= requests::MAX_ERRORS {
                error(words);
            }
        };
        let piece = match piece {
            Ok(piece) => piece,
            Err((line, words)) => {
                trouble(format!("cannot read {}: {words}", place_of(path, line)));
                continue;
            }
        };
        if piece.has_mark {
            tell(requests::marked(path));
        }
        let place = place_of(path, piece.line());
        match one(&place, &piece, options) {
            Ok(all) => {
                for fixed in all {
                    match fixed {
                        Fixed::Accepted => {}
                        Fixed::Refused => code = code.max(1),
                        Fixed::Mended(text, words) => {
                            edits.push(FileEdit { place: place.clone(), piece: piece.clone(), text, words });
                        }
                        Fixed::Found(old, new, words) => inside.push((old, new, words)),
                    }
                }
            }
            // A folder also holds other JSON.
            Err(Unfixed::Check(CheckError::NoConversation)) if !input.is_named => {}
            Err(Unfixed::Check(CheckError::NotJson(_))) if !input.is_named && input.is_yaml() => {}
            Err(Unfixed::Check(problem)) => trouble(unjudged(&place, piece.is_line, &problem)),
            Err(Unfixed::Other(words)) => trouble(format!("{place}: {words}")),
        }
    }
    requests::tell_unprinted(n_errors, "judged");
    if !edits.is_empty() {
        keep(path, &bytes, &edits, fix)?;
    }
    if !inside.is_empty() {
        keep_inside(path, &inside, fix)?;
    }
    Ok(code)
}

fn place_of(path: &str, line: Option<u64>) -> String {
    line.map_or_else(|| path.to_owned(), |line| format!("{path}:{line}"))
}

fn read(path: &str) -> Result<Vec<u8>, CliError> {
    let (bytes, _) =
        requests::content(path, MAX_BYTES).map_err(|error| CliError::cannot_read(path, error))?;
    match bytes.len() as u64 > MAX_BYTES {
        true => Err(CliError::cannot_read(path, format!("more than {} MiB", MAX_BYTES >> 20))),
        false => Ok(bytes),
    }
}

/// The edit of one piece of a file.
struct FileEdit {
    place: String,
    piece: Piece,
    text: Vec<u8>,
    words: String,
}

/// The reason why a request may need an edit and was not checked.
enum Unfixed {
    Check(CheckError),
    Other(String),
}

/// Fixes what one piece of a file contains.
fn one(place: &str, piece: &Piece, options: &CheckOptions) -> Result<Vec<Fixed>, Unfixed> {
    let start = piece.start;
    if piece.is_recording() {
        let exchanges = recordings::read(&piece.text).map_err(|problem| Unfixed::Other(problem.words))?;
        let all = exchanges.into_iter().map(|exchange| {
            let place = format!("{place}, the exchange in line {}", exchange.line);
            found(&place, &exchange, start, options)
        });
        return all.filter(|fixed| !matches!(fixed, Err(Unfixed::Check(CheckError::NoReply)))).collect();
    }
    let checked = match check(&piece.text, start, options) {
        Ok(checked) => checked,
        Err(problem @ (CheckError::NotJson(_) | CheckError::NoConversation | CheckError::NoDialect)) => {
            let inside = recordings::pasted(&piece.text, options);
            if inside.is_empty() {
                return Err(Unfixed::Check(problem));
            }
            let each = |Pasted { exchange, place: inside }: Pasted| {
                found(&format!("{place}, at {inside}"), &exchange, start, options)
            };
            return inside.into_iter().map(each).collect();
        }
        Err(problem) => return Err(Unfixed::Check(problem)),
    };
    let span = request_in(&piece.text);
    let whole = without_halves(&piece.text);
    let again = |body: &[u8]| check(&spliced(&piece.text, [(span.clone(), body)]), start, options);
    let outcome = fix_body(place, checked, &whole[span.clone()], matches!(whole, Cow::Owned(_)), again)?;
    Ok(vec![match outcome {
        BodyFix::Accepted => Fixed::Accepted,
        BodyFix::Refused => Fixed::Refused,
        BodyFix::Edited(body, words) => Fixed::Mended(spliced(&piece.text, [(span, body.as_slice())]), words),
    }])
}

/// Fixes a request that was found inside a text. The copy has only the request.
fn found(place: &str, exchange: &Exchange, start: Start, options: &CheckOptions) -> Result<Fixed, Unfixed> {
    let checked = check_recorded(exchange, start, options).map_err(Unfixed::Check)?;
    if !exchange.left_out.is_empty() && !is_accepted(&checked) {
        return Err(Unfixed::Other(
            "the text leaves parts of the request out, so no edit is made".to_owned(),
        ));
    }
    let whole = without_halves(&exchange.request);
    let again = |body: &[u8]| {
        check_recorded(&Exchange { request: body.to_vec(), ..exchange.clone() }, start, options)
    };
    Ok(match fix_body(place, checked, &whole, matches!(whole, Cow::Owned(_)), again)? {
        BodyFix::Accepted => Fixed::Accepted,
        BodyFix::Refused => Fixed::Refused,
        BodyFix::Edited(body, words) => {
            Fixed::Found(exchange.request.clone(), body, format!("{place}: {words}"))
        }
    })
}

/// The outcome for one body.
enum BodyFix {
    Accepted,
    Refused,
    /// The new body, and a description of the edits.
    Edited(Vec<u8>, String),
}

/// Fixes a body, which is without half characters; `has_halves` if it had some. `again` checks another body in its
/// place.
fn fix_body(
    place: &str,
    checked: CheckedRequest,
    request: &[u8],
    has_halves: bool,
    again: impl Fn(&[u8]) -> Result<CheckedRequest, CheckError>,
) -> Result<BodyFix, Unfixed> {
    let Providers::Profile(profile) = checked.providers else {
        return Err(Unfixed::Other("--fix needs one provider".to_owned()));
    };
    if is_accepted(&checked) {
        tell(format!("{place}: accepted by {}", profile.name));
        return Ok(BodyFix::Accepted);
    }
    // The model to judge by may differ from the one in the body.
    let named = naming(request, checked.model.as_deref());
    let terms = RepairOptions { model: checked.model.clone(), tail: true, ..RepairOptions::default() };
    let of_halves = if has_halves { format!("{}\n", Reason::HalfCharacter.words()) } else { String::new() };
    let edited = sessions::fix_body(&named, &terms, profile);
    let (body, words) = match edited.map_err(|error| Unfixed::Other(error.to_string()))? {
        Some(Ok(fixed)) => {
            let words = format!("{of_halves}{}", report::fixed_body(&fixed));
            (Some(with_own_name(&fixed.body, request, &named)), words)
        }
        None => (has_halves.then(|| request.to_vec()), of_halves),
        Some(Err(unfixed)) => {
            tell(format!("{place}: refused by {}; {}", profile.name, unfixed.why));
            return Ok(BodyFix::Refused);
        }
    };
    let stays = match &body {
        None => checked,
        Some(body) => again(body).map_err(Unfixed::Check)?,
    };
    match body {
        Some(body) if is_accepted(&stays) => Ok(BodyFix::Edited(body, words)),
        _ => {
            let first = stays.findings.iter().find(|finding| finding.level != Level::Warning);
            let why = first.map(|finding| {
                let because = sessions::no_edit(finding.rule);
                format!("; no edit is known for {}, because {because}", finding.rule.id)
            });
            tell(format!("{place}: refused by {}{}", profile.name, why.unwrap_or_default()));
            Ok(BodyFix::Refused)
        }
    }
}

fn is_accepted(checked: &CheckedRequest) -> bool {
    checked.status.is_none() && !checked.is_denied
}

/// A repaired body with the request's own model name. `named` is the request with the name of the model that
/// judges.
fn with_own_name(mended: &[u8], request: &[u8], named: &[u8]) -> Vec<u8> {
    let model = |body: &[u8]| {
        let document = Document::parse(body).ok()?;
        Some(document.root().get("model")?.span())
    };
    let (own, other) = (model(request), model(mended));
    match (own, other) {
        _ if request == named => mended.to_vec(),
        (Some(own), Some(other)) => spliced(mended, [(other, &request[own])]),
        // The name was put in after the first brace, and no edit changes that place.
        (None, Some(other)) => {
            let n_bytes = named.len() - request.len();
            let begin = other.start - "\"model\":".len();
            spliced(mended, [(begin..begin + n_bytes, &[][..])])
        }
        (_, None) => mended.to_vec(),
    }
}

/// A text with these ranges replaced. The ranges are in order.
fn spliced<'a>(text: &[u8], edits: impl IntoIterator<Item = (Range<usize>, &'a [u8])>) -> Vec<u8> {
    let (mut spliced, mut from) = (Vec::with_capacity(text.len()), 0);
    for (span, new) in edits {
        spliced.extend_from_slice(&text[from..span.start]);
        spliced.extend_from_slice(new);
        from = span.end;
    }
    spliced.extend_from_slice(&text[from..]);
    spliced
}

fn keep(path: &str, before: &[u8], edits: &[FileEdit], fix: Fix) -> Result<(), CliError> {
    let mark = match before.starts_with(requests::BYTE_ORDER_MARK) {
        true => requests::BYTE_ORDER_MARK.len(),
        false => 0,
    };
    let replaced = edits.iter().map(|edit| {
        let start = edit.piece.start.offset as usize;
        (start..start + edit.piece.text.len(), edit.text.as_slice())
    });
    let after = match edits {
        // The list of the lines of the file, which become lines again.
        [edit] if edit.piece.is_joined => requests::parted(&edit.text).unwrap_or_default(),
        _ => spliced(before, replaced)[mark..].to_vec(),
    };
    if fix == Fix::Diff {
        let (old, new) = (String::from_utf8_lossy(&before[mark..]), String::from_utf8_lossy(&after));
        show(path, &old, &new);
        return Ok(());
    }
    for FileEdit { place, words, .. } in edits {
        print(&format!("{place}: {words}"));
    }
    write(path, &fixed_name(Path::new(requests::plain_name(path)), None), &after)
}

/// Keeps the fixed requests that were found inside a file, one per line.
fn keep_inside(path: &str, inside: &[(Vec<u8>, Vec<u8>, String)], fix: Fix) -> Result<(), CliError> {
    if fix == Fix::Diff {
        let pretty = |body: &[u8]| {
            let value: Option<serde_json::Value> = serde_json::from_slice(body).ok();
            value.map_or_else(|| String::from_utf8_lossy(body).into_owned(), |value| format!("{value:#}\n"))
        };
        inside.iter().for_each(|(old, new, _)| show(path, &pretty(old), &pretty(new)));
        return Ok(());
    }
    for (_, _, words) in inside {
        print(words);
    }
    let ending = if inside.len() == 1 { "json" } else { "jsonl" };
    let lines: Vec<u8> = inside.iter().flat_map(|(_, new, _)| new.iter().copied().chain([b'\n'])).collect();
    write(path, &fixed_name(Path::new(requests::plain_name(path)), Some(ending)), &lines)
}

fn show(path: &str, old: &str, new: &str) {
    let diff = TextDiff::from_lines(old, new);
    print(&diff.unified_diff().header(path, path).to_string());
}

fn write(path: &str, out: &Path, bytes: &[u8]) -> Result<(), CliError> {
    whole_file::create_like(Path::new(path), out, bytes)
        .map_err(|error| CliError::cannot_write_new(out, error, "move it away, or remove it"))?;
    print(&format!("wrote {}; the original is unchanged.\n", out.display()));
    Ok(())
}

/// `request.json` becomes `request.fixed.json`, or gets another ending.
fn fixed_name(path: &Path, ending: Option<&str>) -> PathBuf {
    let own = path.extension().map(|ending| ending.to_string_lossy().into_owned());
    let ending = ending.map(str::to_owned).or(own).map(|ending| format!(".{ending}")).unwrap_or_default();
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    path.with_file_name(format!("{stem}.fixed{ending}"))
}
