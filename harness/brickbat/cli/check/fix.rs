//! `brickbat check --fix`: the smallest edit after which a provider accepts a request.
//!
//! `check` with the same options decides whether the request is accepted before and after the edit.

use std::borrow::Cow;
use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};

use similar::TextDiff;

use super::super::error::{BAD_INPUT, CliError, Outcome};
use super::super::output::{error, print, tell};
use super::super::regular;
use super::super::requests::{self, Input, Inputs, Piece};
use super::unjudged;
use brickbat_drive::whole_file;
use brickbat_rules::check::{
    CheckError, CheckOptions, CheckedRequest, Level, Providers, Strictness, check, request_in,
};
use brickbat_rules::json::{Document, without_halves};
use brickbat_rules::naming;
use brickbat_sessions::{self as sessions, Files, Reason, Repair, RepairOptions, report};

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
    let (mut code, mut n_errors, mut edits) = (0, 0, Vec::new());
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
            Ok(Fixed::Accepted) => {}
            Ok(Fixed::Refused) => code = code.max(1),
            Ok(Fixed::Mended(text, words)) => edits.push((place, piece, text, words)),
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
    Ok(code)
}

fn place_of(path: &str, line: Option<u64>) -> String {
    line.map_or_else(|| path.to_owned(), |line| format!("{path}:{line}"))
}

fn read(path: &str) -> Result<Vec<u8>, CliError> {
    let cannot = |error: std::io::Error| CliError::cannot_read(path, error);
    let mut bytes = Vec::new();
    let opened = regular::open_or_stdin(path).map_err(cannot)?;
    opened.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(cannot)?;
    match bytes.len() as u64 > MAX_BYTES {
        true => Err(CliError::cannot_read(path, format!("more than {} MiB", MAX_BYTES >> 20))),
        false => Ok(bytes),
    }
}

/// The reason why a request may need an edit and was not checked.
enum Unfixed {
    Check(CheckError),
    Other(String),
}

fn one(place: &str, piece: &Piece, options: &CheckOptions) -> Result<Fixed, Unfixed> {
    if piece.is_recording() {
        let words = "this is a recording; --fix takes only request bodies";
        return Err(Unfixed::Other(words.to_owned()));
    }
    let checked = check(&piece.text, piece.start, options).map_err(Unfixed::Check)?;
    let Providers::Profile(profile) = checked.providers else {
        return Err(Unfixed::Other("--fix needs one provider".to_owned()));
    };
    if is_accepted(&checked) {
        tell(format!("{place}: accepted by {}", profile.name));
        return Ok(Fixed::Accepted);
    }
    let span = request_in(&piece.text);
    let whole = without_halves(&piece.text);
    let has_halves = matches!(whole, Cow::Owned(_));
    let request = &whole[span.clone()];
    // The model to judge by may differ from the one in the body.
    let named = naming(request, checked.model.as_deref());
    let terms = RepairOptions {
        profile: Some(profile),
        model: checked.model.clone(),
        body: Some(profile.dialect),
        tail: true,
        truncate: false,
    };
    let of_halves = format!("{}\n", Reason::HalfCharacter.words());
    let mended = match sessions::repair(&Files::one("request.json", &*named), 0, &terms) {
        Ok(Repair::Mended(mended)) => {
            let body = with_own_name(mended.files.main(), request, &named);
            Some((body, format!("{}{}", if has_halves { &of_halves } else { "" }, report::repaired(&mended))))
        }
        Ok(Repair::Healthy(_)) if has_halves => Some((request.to_vec(), of_halves.clone())),
        Ok(Repair::Healthy(_)) => None,
        Ok(Repair::Beyond(beyond)) => {
            tell(format!("{place}: {}", beyond.why));
            return Ok(Fixed::Refused);
        }
        Err(error) => return Err(Unfixed::Other(error.to_string())),
    };
    let mended = mended.map(|(body, words)| (spliced(&piece.text, [(span, body.as_slice())]), words));
    let stays = match &mended {
        None => checked,
        Some((text, _)) => check(text, piece.start, options).map_err(Unfixed::Check)?,
    };
    match mended {
        Some((text, words)) if is_accepted(&stays) => Ok(Fixed::Mended(text, words)),
        _ => {
            let first = stays.findings.iter().find(|finding| finding.level != Level::Warning);
            let why = first.map(|finding| format!(": {} ({})", finding.message, finding.rule.id));
            let why = why.unwrap_or_default();
            tell(format!("{place}: refused by {}, and no known edit fixes it{why}", profile.name));
            Ok(Fixed::Refused)
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

fn keep(
    path: &str,
    before: &[u8],
    edits: &[(String, Piece, Vec<u8>, String)],
    fix: Fix,
) -> Result<(), CliError> {
    let mark = match before.starts_with(requests::BYTE_ORDER_MARK) {
        true => requests::BYTE_ORDER_MARK.len(),
        false => 0,
    };
    let replaced = edits.iter().map(|(_, piece, text, _)| {
        let start = piece.start.offset as usize;
        (start..start + piece.text.len(), text.as_slice())
    });
    let after = &spliced(before, replaced)[mark..];
    if fix == Fix::Diff {
        let (old, new) = (String::from_utf8_lossy(&before[mark..]), String::from_utf8_lossy(after));
        let diff = TextDiff::from_lines(old.as_ref(), new.as_ref());
        print(&diff.unified_diff().header(path, path).to_string());
        return Ok(());
    }
    for (place, _, _, words) in edits {
        print(&format!("{place}: {words}"));
    }
    let out = fixed_name(Path::new(path));
    whole_file::create_like(Path::new(path), &out, after)
        .map_err(|error| CliError::cannot_write_new(&out, error, "move it away, or remove it"))?;
    print(&format!("wrote {}; the original is unchanged.\n", out.display()));
    Ok(())
}

/// `request.json` becomes `request.fixed.json`.
fn fixed_name(path: &Path) -> PathBuf {
    let ending = path.extension().map(|ending| format!(".{}", ending.to_string_lossy())).unwrap_or_default();
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    path.with_file_name(format!("{stem}.fixed{ending}"))
}
