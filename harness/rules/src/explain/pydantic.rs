//! The refusals of pydantic in a Python client. They have the words of servers that validate with pydantic, too.

use super::reported::{Reported, Subject};

/// Classes of servers. The others belong to clients.
const OF_SERVERS: [&str; 4] = ["Request", "Params", "Body", "ValidatorIterator"];

/// The words about a value that a class of a Python client does not take. `None` if the text has none.
///
/// pydantic names the class, and the type and the value of the input (<https://docs.pydantic.dev/latest/errors/errors/>).
pub(super) fn refusal(text: &str) -> Option<Reported> {
    let has_input = text.contains("[type=") && text.contains("input_type=");
    let words = ["validation error for ", "validation errors for "];
    let after = words.iter().find_map(|words| Some(text.split_once(words)?.1)).filter(|_| has_input)?;
    let end = after.find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '.')).unwrap_or(after.len());
    let class = Some(&after[..end]).filter(|class| !class.is_empty())?;
    if OF_SERVERS.iter().any(|name| class.ends_with(name)) {
        return None;
    }
    Some(Reported {
        says: format!("validation error for {class}"),
        by: "pydantic, in a Python client".to_owned(),
        about: Subject::Client,
        rule: None,
        means: format!(
            "The client builds a `{class}`, from a reply of the model or from what it has stored, and a field does not have \
             the type that the class takes. The line after the name has the path of the field."
        ),
        advice: "Look at the value of that field: in a reply, the server or the model is the cause, so ask again or update \
                 the server; in a stored message, correct it or take the message out."
            .to_owned(),
        source: Some("https://github.com/vllm-project/vllm/issues/18239".to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From langchain-ai/langchain#27632 and vllm-project/vllm#18239, without their values.
    #[test]
    fn a_class_of_a_client_is_told_from_one_of_a_server() {
        let text = |class: &str| {
            format!(
                "1 validation error for {class}\ntool_calls.0.args\n  Input should be a valid dictionary [type=dict_type, \
                 input_value='x', input_type=str]"
            )
        };
        for class in ["AIMessage", "ToolMessage", "ChatCompletion"] {
            let found = refusal(&text(class)).map(|own| own.says);
            assert_eq!(found, Some(format!("validation error for {class}")));
        }
        for class in ["ChatCompletionRequest", "ValidatorIterator"] {
            assert_eq!(refusal(&text(class)), None, "{class}");
        }
        assert_eq!(refusal("messages.0: Input should be a valid dictionary"), None);
    }
}
