//! Suggestions for unknown names.

/// `did you mean …?` if one of the known words is close enough.
pub fn did_you_mean<S: AsRef<str>>(word: &str, known: &[S]) -> Option<String> {
    closest(word, known).map(|near| format!("did you mean `{near}`?"))
}

/// The closest of the known words, or otherwise all of them after `lead`.
pub fn suggestion<S: AsRef<str>>(word: &str, lead: &str, known: &[S]) -> Option<String> {
    did_you_mean(word, known).or_else(|| one_of(lead, known))
}

/// The known words, up to a maximum number; `None` if there are none.
pub fn one_of<S: AsRef<str>>(lead: &str, known: &[S]) -> Option<String> {
    let quoted: Vec<String> = known.iter().map(|name| format!("`{}`", name.as_ref())).collect();
    match quoted.len() {
        0 => None,
        1..=MAX_LISTED => Some(format!("{lead} {}", quoted.join(", "))),
        _ => Some(format!("{lead} {} and others", quoted[..MAX_LISTED].join(", "))),
    }
}

/// The maximum number of words that a hint lists. Every object in the format has fewer keys.
const MAX_LISTED: usize = 16;

/// Below this similarity (Jaro-Winkler, 0 to 1) a guess confuses more than it helps: `afer` and `after` have
/// 0.95, `stop` and `start` 0.83, `abort` and `reset` 0.47.
const ALIKE: f64 = 0.78;

/// The maximum length, in bytes, of a word for which a suggestion is made. No name is half as long, and
/// comparison time grows with the product of both lengths.
pub const MAX_GUESSED: usize = 200;

fn closest<'a, S: AsRef<str>>(word: &str, known: &'a [S]) -> Option<&'a str> {
    if word.len() > MAX_GUESSED {
        return None;
    }
    known
        .iter()
        .map(|name| (strsim::jaro_winkler(word, name.as_ref()), name.as_ref()))
        .filter(|(likeness, _)| *likeness >= ALIKE)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}
