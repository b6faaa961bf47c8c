//! Checks whether the provider accepts the text, and returns each finding's location.

use std::collections::BTreeMap;

use brickbat_rules::check::{
    CheckError, CheckFormat, CheckReport, CheckedRequest, Finding, Start, check, check_recorded,
};
use brickbat_rules::colour::Colour;
use brickbat_rules::explain::{self, Counts};
use brickbat_rules::recordings::{Pasted, pasted};
use brickbat_rules::{DIALECT_SIGNS, Profile, Rule};
use brickbat_sessions::{Files, Product, read};
use serde_json::{Value, json};

use crate::MAX_TEXT;
use crate::question::Asked;

/// The name of the text in the report, because it has no file.
const NAME: &str = "pasted";

/// The position where the text begins.
pub(crate) const START: Start = Start { line: 1, offset: 0 };

pub(crate) fn verdict(asked: &Asked) -> Value {
    match judged(asked) {
        Ok(Judged { checked, inside: None }) => shown(&asked.text, &checked),
        Ok(Judged { checked, inside: Some(Inside { asked, place, n_found, .. }) }) => {
            let mut answer = shown(&asked.text, &checked);
            answer["found"] = json!({ "place": place, "n": n_found, "text": asked.text, "host": asked.host, "model": asked.model });
            answer
        }
        Err(Unjudged { reason, hints, .. }) => json!({ "unjudged": { "reason": reason, "hints": hints } }),
    }
}

/// A verdict on a request.
#[derive(Debug, Clone)]
pub struct Judged {
    /// The verdict.
    pub checked: CheckedRequest,
    /// The request, if the text is none and has it inside.
    pub inside: Option<Inside>,
}

/// A request inside a text, such as a curl command or an export of another tool.
#[derive(Debug, Clone)]
pub struct Inside {
    /// The request as a question of its own.
    pub asked: Asked,
    /// Its place in the text: a JSON pointer, or words.
    pub place: String,
    /// The number of requests in the text.
    pub n_found: usize,
    /// False if the text leaves parts of the request out.
    pub is_complete: bool,
}

/// Checks the text, or, if it is not a request, the requests inside it, like `brickbat check`. Of several requests, the first
/// that is refused has the verdict, or else the first.
///
/// # Errors
///
/// Fails if there is nothing to judge.
pub fn judged(asked: &Asked) -> Result<Judged, Unjudged> {
    match checked(asked) {
        Ok(checked) => Ok(Judged { checked, inside: None }),
        Err(unjudged) if unjudged.is_other_text => inside(asked).ok_or(unjudged),
        Err(unjudged) => Err(unjudged),
    }
}

/// The maximum number of requests inside a text that are judged. One that is refused is shown, if there is one.
const MAX_INSIDE: usize = 100;

/// Judges the requests inside a text.
fn inside(asked: &Asked) -> Option<Judged> {
    let stored = stored_by(&asked.text);
    if asked.text.len() > MAX_TEXT || stored.is_some() {
        return None;
    }
    let found = pasted(asked.text.as_bytes(), &asked.options().ok()?);
    let n_found = found.len();
    let judged = found.into_iter().take(MAX_INSIDE).filter_map(|Pasted { exchange, place }| {
        let value: Value = serde_json::from_slice(&exchange.request).ok()?;
        let url =
            Some(format!("https://{}{}", exchange.host, exchange.path)).filter(|_| !exchange.host.is_empty());
        let own = Asked {
            text: format!("{value:#}"),
            host: asked.host.clone().or(url),
            model: asked.model.clone().or_else(|| exchange.model.clone()),
            ..asked.clone()
        };
        let is_complete = exchange.left_out.is_empty();
        let checked = match is_complete {
            true => checked(&own).ok()?,
            false => check_recorded(&exchange, START, &own.options().ok()?).ok()?,
        };
        Some(Judged { checked, inside: Some(Inside { asked: own, place, n_found, is_complete }) })
    });
    let mut first = None;
    for judged in judged {
        let is_refused = judged.checked.status.is_some();
        if is_refused {
            return Some(judged);
        }
        first = first.or(Some(judged));
    }
    first
}

/// Why there is no verdict, and hints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unjudged {
    /// The reason.
    pub reason: String,
    /// Advice for the user, one sentence each.
    pub hints: Vec<String>,
    /// True if the text is not a request, and may have one inside.
    pub is_other_text: bool,
}

impl Unjudged {
    pub(crate) fn because(reason: impl Into<String>) -> Unjudged {
        Unjudged { reason: reason.into(), hints: Vec::new(), is_other_text: false }
    }
}

/// Checks the text like `brickbat check`.
///
/// # Errors
///
/// Fails if the text is too large, is not a request, or if the options have an unknown name.
pub fn checked(asked: &Asked) -> Result<CheckedRequest, Unjudged> {
    if asked.text.len() > MAX_TEXT {
        let words = format!("more than {} MiB; `brickbat check FILE` has no such limit", MAX_TEXT >> 20);
        return Err(Unjudged::because(words));
    }
    let options = asked.options().map_err(|error| Unjudged::because(error.to_string()))?;
    check(asked.text.as_bytes(), START, &options).map_err(|error| unjudged(&asked.text, &error))
}

fn unjudged(text: &str, error: &CheckError) -> Unjudged {
    let hints = match error {
        CheckError::NoDialect | CheckError::NoConversation => match stored_by(text) {
            Some(product) => vec![format!(
                "It is a session as {product} stores it, and no request: `brickbat session FILE` judges what is sent of it, \
                 and `brickbat repair FILE` mends it."
            )],
            None => DIALECT_SIGNS.iter().map(|(dialect, signs)| format!("{dialect}: {signs}")).collect(),
        },
        CheckError::NotJson(_) if n_values(text) > 1 => {
            vec!["It has several JSON values. Paste one request; `brickbat check FILE` reads one on each line.".to_owned()]
        }
        CheckError::NotJson(_) => said_by_rules(text),
        CheckError::OtherDialect { dialect, .. } => vec![format!("Choose a profile of {dialect}.")],
        CheckError::NoProfile { .. } => vec!["Choose a profile that is as strict as this host.".to_owned()],
        _ => Vec::new(),
    };
    let is_other_text =
        matches!(error, CheckError::NotJson(_) | CheckError::NoConversation | CheckError::NoDialect);
    Unjudged { reason: error.to_string(), hints, is_other_text }
}

/// Returns the product that stores sessions in this format.
fn stored_by(text: &str) -> Option<Product> {
    let sessions = read(&Files::one(NAME, text)).ok()?;
    sessions.first().map(|session| session.product).filter(|product| *product != Product::Request)
}

/// The maximum size of an error message in bytes.
const MAX_MESSAGE: usize = 64 << 10;

/// Returns what is known about an error message, as hints.
fn said_by_rules(text: &str) -> Vec<String> {
    let of_rules = |rules: &[&'static Rule]| {
        let line = |rule: &&Rule| {
            format!("This error message belongs to `{}`: {} {}", rule.id, rule.summary, rule.why)
        };
        rules.iter().map(line).collect()
    };
    explain::error_pages(&text[..text.floor_char_boundary(MAX_MESSAGE)], &of_rules)
}

/// Returns how many of the first two lines are complete JSON values.
fn n_values(text: &str) -> usize {
    let lines = text.lines().filter(|line| !line.trim().is_empty()).take(2);
    lines.filter(|line| serde_json::from_str::<serde::de::IgnoredAny>(line).is_ok()).count()
}

fn shown(text: &str, checked: &CheckedRequest) -> Value {
    let mut report = CheckReport::new(CheckFormat::Json, Colour::Plain);
    let parts = [report.begin(), report.request(NAME, checked), report.end_of_file(NAME), report.end()];
    let report: Value = serde_json::from_str(&parts.concat()).unwrap_or_default();
    let units = Units::of(text, checked.findings.iter().flat_map(|finding| span(finding).into_iter()));
    let places: Vec<Value> = checked.findings.iter().map(|finding| place(finding, &units)).collect();
    let explained: BTreeMap<&str, String> = checked
        .findings
        .iter()
        .map(|finding| (finding.rule.id, explain::text(finding.rule, None, &Counts::default())))
        .collect();
    json!({
        "report": report,
        "places": places,
        "explained": explained,
        "n_relatives": Profile::newest_of_each_name(checked.providers.dialect()).count(),
    })
}

fn span(finding: &Finding) -> [usize; 2] {
    let at = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX);
    [at(finding.place.offset), at(finding.place.offset.saturating_add(finding.place.length))]
}

fn place(finding: &Finding, units: &Units) -> Value {
    let [start, end] = span(finding).map(|offset| units.at(offset));
    let lines: Vec<Value> = finding
        .excerpt
        .lines
        .iter()
        .map(|line| {
            // In characters, because the page splits the text by characters.
            let marked = line.marked.as_ref().map(|marked| [marked.start, marked.end]);
            json!({ "text": line.text, "marked": marked })
        })
        .collect();
    json!({ "start": start, "end": end, "lines": lines })
}

/// Converts byte offsets in a text to UTF-16 units.
struct Units(BTreeMap<usize, usize>);

impl Units {
    fn of(text: &str, offsets: impl Iterator<Item = usize>) -> Units {
        let mut units: BTreeMap<usize, usize> = offsets.map(|offset| (offset, 0)).collect();
        let (mut byte, mut n_units) = (0, 0);
        for (offset, unit) in &mut units {
            // A place always begins and ends between two characters.
            n_units += text.get(byte..*offset).map_or(0, |part| part.encode_utf16().count());
            byte = *offset;
            *unit = n_units;
        }
        Units(units)
    }

    fn at(&self, offset: usize) -> usize {
        self.0.get(&offset).copied().unwrap_or_default()
    }
}
