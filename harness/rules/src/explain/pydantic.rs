//! The refusals of pydantic in a Python client. They have the words of servers that validate with pydantic, too.

use super::reported::{Reported, Subject};
use super::said::unescaped;

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

/// The words about a field that a server does not take, such as Mistral's. `None` if the text has none.
///
/// The list `loc` is the path, with the role of the message or the kind of the part after its number.
pub(super) fn extra_field(text: &str) -> Option<Reported> {
    let text = unescaped(text).replace("\\\"", "\"");
    let (before, after) = text.split_once("extra_forbidden")?;
    let of = |part: &str| Some(part.split_once("loc")?.1.split_once('[')?.1.split_once(']')?.0.to_owned());
    // The kind comes before the path in most releases of FastAPI.
    let loc = of(after).or_else(|| of(&before[before.rfind('{')?..]))?;
    let names = loc.split(',').map(|name| name.trim_matches([' ', '"', '\'', '\n']));
    let mut path = String::new();
    let mut is_after_number = false;
    for name in names.filter(|name| *name != "body") {
        let is_number = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
        // A kind behind a number is not a field.
        if is_number {
            path.push_str(&format!("[{name}]"));
        } else if !(is_after_number && KINDS.contains(&name)) {
            path.push_str(if path.is_empty() { "" } else { "." });
            path.push_str(name);
        }
        is_after_number = is_number;
    }
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '[' | ']');
    if path.is_empty() || path.len() > 120 || !path.chars().all(is_plain) {
        return None;
    }
    let of_history = path.starts_with("messages") || path.starts_with("input");
    Some(Reported {
        says: "extra_forbidden: Extra inputs are not permitted".to_owned(),
        by: "Mistral, and other servers that validate with pydantic".to_owned(),
        about: if of_history { Subject::History } else { Subject::Neighbour },
        rule: of_history.then(|| "openai-chat/unknown-message-field".to_owned()),
        means: format!("The server does not take the field `{path}`, even if it is null."),
        advice: match of_history {
            true => "Leave the field out of every message, or update the client: it stores a field of another provider, or \
                     one of its own.",
            false => "Leave the field out of the request, or update the client. The conversation was not judged.",
        }
        .to_owned(),
        source: Some("https://github.com/zeroclaw-labs/zeroclaw/pull/3620".to_owned()),
    })
}

/// The names of kinds, which follow the number of a message or a part.
const KINDS: [&str; 8] =
    ["system", "user", "assistant", "tool", "developer", "text", "image_url", "function"];

#[cfg(test)]
mod tests {
    use super::*;

    /// From zeroclaw-labs/zeroclaw#2693 and OpenHands/OpenHands-CLI#83.
    #[test]
    fn the_path_of_an_extra_field_is_named() {
        let named = |text: &str| extra_field(text).map(|own| (own.about, own.means));
        let of_message = r#"{"detail":[{"type":"extra_forbidden","loc":["body","messages",6,"assistant","tool_calls",0,"name"],"msg":"Extra inputs are not permitted","input":null}]}"#;
        let means =
            "The server does not take the field `messages[6].tool_calls[0].name`, even if it is null.";
        assert_eq!(named(of_message), Some((Subject::History, means.to_owned())));
        let escaped = of_message.replace('"', "\\\"");
        assert_eq!(named(&escaped), Some((Subject::History, means.to_owned())));
        let of_body = "{'type': 'extra_forbidden', 'loc': ['body', 'metadata'], 'msg': 'Extra inputs are not permitted'}";
        assert_eq!(named(of_body).unwrap().0, Subject::Neighbour);
        for text in [
            "extra_forbidden",
            "extra_forbidden loc [",
            "extra_forbidden loc [\"a b\"]",
            "{ loc [] extra_forbidden",
        ] {
            assert_eq!(named(text), None, "{text}");
        }
    }

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
