//! Templates: texts with conditional lines and placeholders.
//!
//! A line `//? dialect=gemini mode=run|iter` (in Python `#? …`) begins lines that are included only if all
//! its conditions are true, up to `//? end`; `key!=value` is true if the value is different. `{{key}}` is the
//! value of a key.

/// The keys that a template may use, with their values.
pub(super) type Values<'a> = &'a [(&'a str, &'a str)];

/// The reason why a template cannot be filled in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    #[error("line {line}: {source}")]
    Line { line: usize, source: Mistake },
    #[error("a condition has no `end`")]
    NoEnd,
}

/// A mistake in a line of a template.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Mistake {
    #[error("`end` without a condition")]
    NoCondition,
    #[error("conditions do not nest")]
    Nested,
    #[error("`{0}` is not a condition")]
    NotACondition(String),
    #[error("there is no value `{0}`")]
    NoValue(String),
}

/// The filled-in text of a template.
pub(super) fn fill(template: &str, values: Values<'_>) -> Result<String, TemplateError> {
    let mut text = String::new();
    let mut shown = None;
    for (at, line) in template.lines().enumerate() {
        let wrong = |source| TemplateError::Line { line: at + 1, source };
        match (condition(line), shown) {
            (Some("end"), Some(_)) => shown = None,
            (Some("end"), None) => return Err(wrong(Mistake::NoCondition)),
            (Some(_), Some(_)) => return Err(wrong(Mistake::Nested)),
            (Some(words), None) => shown = Some(holds(words, values).map_err(wrong)?),
            (None, Some(false)) => {}
            (None, _) => {
                text.push_str(&line_with(line, values).map_err(wrong)?);
                text.push('\n');
            }
        }
    }
    match shown {
        Some(_) => Err(TemplateError::NoEnd),
        None => Ok(text),
    }
}

/// The words of a line that is a condition.
fn condition(line: &str) -> Option<&str> {
    let line = line.trim();
    let words = line.strip_prefix("//?").or_else(|| line.strip_prefix("#?"))?;
    Some(words.trim())
}

fn holds(words: &str, values: Values<'_>) -> Result<bool, Mistake> {
    let mut all = true;
    for word in words.split_whitespace() {
        let (key, wanted) = word.split_once('=').ok_or_else(|| Mistake::NotACondition(word.to_owned()))?;
        let (key, is_wanted) = key.strip_suffix('!').map_or((key, true), |key| (key, false));
        let value = value(key, values)?;
        all &= wanted.split('|').any(|wanted| wanted == value) == is_wanted;
    }
    Ok(all)
}

/// A line with its placeholders filled in.
fn line_with(line: &str, values: Values<'_>) -> Result<String, Mistake> {
    let mut text = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("{{") {
        // `{{` without a known key is code.
        let Some((key, after)) = after.split_once("}}").filter(|(key, _)| is_key(key)) else {
            text.push_str(before);
            text.push_str("{{");
            rest = after;
            continue;
        };
        text.push_str(before);
        text.push_str(value(key, values)?);
        rest = after;
    }
    text.push_str(rest);
    Ok(text)
}

fn is_key(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase())
}

fn value<'a>(key: &str, values: Values<'a>) -> Result<&'a str, Mistake> {
    let found = values.iter().find(|(known, _)| *known == key);
    found.map(|(_, value)| *value).ok_or_else(|| Mistake::NoValue(key.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALUES: Values<'static> = &[("mode", "run"), ("model", "m-1")];

    #[test]
    fn lines_are_included_if_their_conditions_are_true() {
        let template =
            "a\n  //? mode=run|iter\n  b {{model}}\n  //? end\n#? mode!=run\nc\n#? end\nd {{ x }} {{1}}";
        assert_eq!(fill(template, VALUES), Ok("a\n  b m-1\nd {{ x }} {{1}}\n".to_owned()));
    }

    #[test]
    fn mistakes_are_reported_with_their_line() {
        for (template, words) in [
            ("a\n//? end", "line 2: `end` without a condition"),
            ("//? mode=run\n//? mode=run", "line 2: conditions do not nest"),
            ("//? mode=run", "a condition has no `end`"),
            ("//? mode", "line 1: `mode` is not a condition"),
            ("//? dialect=x", "line 1: there is no value `dialect`"),
            ("{{dialect}}", "line 1: there is no value `dialect`"),
        ] {
            assert_eq!(fill(template, VALUES).unwrap_err().to_string(), words, "{template}");
        }
    }
}
