//! Exceptions of programs, which no provider says.

/// The beginnings of exceptions about values of another form than a program expects, in lower case.
const EXCEPTIONS: [(&str, &str); 14] = [
    ("typeerror:", "JavaScript or Python"),
    ("keyerror:", "Python"),
    ("attributeerror:", "Python"),
    ("indexerror:", "Python"),
    ("referenceerror:", "JavaScript"),
    ("nullpointerexception", "Java or Kotlin"),
    ("classcastexception", "Java or Kotlin"),
    ("nosuchelementexception", "Java or Kotlin"),
    ("nullreferenceexception", ".NET"),
    ("invalidcastexception", ".NET"),
    ("keynotfoundexception", ".NET"),
    ("nomethoderror", "Ruby"),
    ("must be of type", "PHP"),
    ("panic: runtime error", "Go"),
];

/// The page about an exception.
pub(super) fn page(text: &str) -> Option<String> {
    let lower = text.to_lowercase();
    let (_, language) = EXCEPTIONS.iter().find(|(part, _)| lower.contains(part))?;
    Some(format!(
        "This is an exception of a program in {language}, and not the reply of a provider.\n\nThe program met a value of another \
         form than it expects: a stored message without a field, a reply in another form, or a result that is missing. \
         Brickbat does not know this one.\n\nwhat to do\nLook at the last own line of the stack trace. If it reads a stored \
         conversation, judge the store: `brickbat session PATH`. If it reads a reply, look at the status and the text of the \
         reply first.\n"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exception_is_told_from_the_reply_of_a_provider() {
        for text in [
            "TypeError: 'NoneType' object is not subscriptable",
            "java.lang.NullPointerException: Cannot invoke \"String.length()\" because \"content\" is null",
            "panic: runtime error: index out of range [0] with length 0",
        ] {
            assert!(page(text).is_some_and(|page| page.contains("not the reply of a provider")), "{text}");
        }
        assert_eq!(page("messages.1: tool_use ids were found without tool_result blocks"), None);
    }
}
