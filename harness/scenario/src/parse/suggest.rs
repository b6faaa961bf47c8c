//! Advice for a word that is not known.

/// `did you mean …?` where one of the known words is close enough.
pub fn did_you_mean<S: AsRef<str>>(word: &str, known: &[S]) -> Option<String> {
    closest(word, known).map(|near| format!("did you mean `{near}`?"))
}

/// The closest of the known words, or all of them after `lead`.
pub fn suggestion<S: AsRef<str>>(word: &str, lead: &str, known: &[S]) -> Option<String> {
    did_you_mean(word, known).or_else(|| one_of(lead, known))
}

/// All known words, where there are any and they fit on a line.
pub fn one_of<S: AsRef<str>>(lead: &str, known: &[S]) -> Option<String> {
    let quoted: Vec<String> = known.iter().map(|name| format!("`{}`", name.as_ref())).collect();
    match quoted.len() {
        0 => None,
        1..=MAX_LISTED => Some(format!("{lead} {}", quoted.join(", "))),
        _ => Some(format!("{lead} {} and others", quoted[..MAX_LISTED].join(", "))),
    }
}

/// Words that a hint lists; all keys of any object of the format are fewer.
const MAX_LISTED: usize = 16;

/// Below this likeness (Jaro-Winkler, 0 to 1) a guess confuses more than it helps: `afer` and `after` have 0.95,
/// `stop` and `start` 0.83, `abort` and `reset` 0.47.
const ALIKE: f64 = 0.78;

/// Bytes of a word for which another is guessed: no name is half as long, and a comparison takes the product of both lengths.
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
