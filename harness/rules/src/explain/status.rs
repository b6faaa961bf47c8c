//! Errors that show nothing but the status of the reply.

use super::neighbours::{self, NEIGHBOURS};
use super::reported::{Reported, Subject};

/// A status without a reason.
struct Status {
    code: &'static str,
    /// Its phrases, in lower case. The first is that of the standard (<https://www.rfc-editor.org/rfc/rfc9110#section-15>).
    phrases: &'static [&'static str],
    kind: Kind,
}

/// The meaning of a status.
enum Kind {
    /// The beginning of the name of a kind of errors that are not about the history.
    Neighbour(&'static str),
    /// It can be about the history: the meaning, the advice, and a thread.
    Open { means: &'static str, advice: &'static str, source: &'static str },
}

const UNREACHED: Kind = Kind::Neighbour("the address of the API is wrong");
const FAILED: Kind = Kind::Neighbour("the server or a gateway before it has failed");
const OVERLOADED: Kind = Kind::Neighbour("the provider is overloaded");

const STATUSES: &[Status] = &[
    Status {
        code: "400",
        phrases: &["bad request"],
        kind: Kind::Open {
            means: "The server refuses the request. The reason is in the body of the reply.",
            advice: "Print the body of the reply, and explain it. Without it, `brickbat check FILE` judges the request.",
            source: "https://github.com/open-webui/open-webui/issues/14613",
        },
    },
    Status { code: "401", phrases: &["unauthorized"], kind: Kind::Neighbour("the key is invalid") },
    Status {
        code: "402",
        phrases: &["payment required"],
        kind: Kind::Neighbour("the account has no balance"),
    },
    Status { code: "403", phrases: &["forbidden"], kind: Kind::Neighbour("the key is invalid") },
    Status { code: "404", phrases: &["not found", "page not found"], kind: UNREACHED },
    Status { code: "405", phrases: &["method not allowed"], kind: UNREACHED },
    Status { code: "408", phrases: &["request timeout"], kind: FAILED },
    Status {
        code: "413",
        phrases: &["content too large", "payload too large", "request entity too large"],
        kind: Kind::Open {
            means: "The body is larger than the server, or a proxy before it, accepts. The images and the results of a history \
                    add up, so every later request is refused as well.",
            advice: "Remove or shrink old images and long results, or raise the limit of the proxy, such as nginx's \
                     `client_max_body_size`.",
            source: "https://nginx.org/en/docs/http/ngx_http_core_module.html#client_max_body_size",
        },
    },
    Status {
        code: "422",
        phrases: &["unprocessable entity", "unprocessable content"],
        kind: Kind::Open {
            means: "The server can read the body, but a field does not have the form that it expects. The body of the reply names \
                    the field, often in `detail` and `loc`.",
            advice: "Print the body of the reply, and explain it. Without it, `brickbat check FILE` judges the request.",
            source: "https://github.com/microsoft/autogen/issues/1829",
        },
    },
    Status { code: "429", phrases: &["too many requests"], kind: OVERLOADED },
    Status { code: "500", phrases: &["internal server error"], kind: FAILED },
    Status { code: "502", phrases: &["bad gateway"], kind: FAILED },
    Status {
        code: "503",
        phrases: &["service unavailable", "service temporarily unavailable"],
        kind: OVERLOADED,
    },
    Status { code: "504", phrases: &["gateway timeout", "gateway time-out"], kind: FAILED },
    Status { code: "529", phrases: &["overloaded"], kind: OVERLOADED },
];

/// Words that clients write around a status.
const AROUND: &[&str] = &[
    "an",
    "and",
    "api",
    "at",
    "body",
    "by",
    "caused",
    "call",
    "client",
    "code",
    "data",
    "detail",
    "error",
    "exception",
    "failed",
    "for",
    "from",
    "http",
    "https",
    "invalid",
    "is",
    "llm",
    "message",
    "no",
    "none",
    "null",
    "of",
    "post",
    "provider",
    "request",
    "response",
    "returned",
    "server",
    "status",
    "statuscode",
    "the",
    "to",
    "type",
    "unexpected",
    "url",
    "with",
    "chat",
    "completions",
    "v1",
];

/// The page about a text with a status and its phrase. `alone` requires that the text says nothing else.
pub(super) fn page(text: &str, alone: bool) -> Option<String> {
    let lower = text.to_lowercase();
    let lower = lower.split_whitespace().filter(|word| !word.contains("://")).collect::<Vec<_>>().join(" ");
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric() && c != '-').filter(|word| word.len() > 1).collect();
    STATUSES.iter().find_map(|status| {
        let phrase = longest_phrase(status, &words)?;
        let is_other = |word: &&&str| {
            **word != status.code
                && !phrase.contains(word)
                && !AROUND.contains(word)
                && !word.ends_with("error")
                && !word.ends_with("exception")
        };
        let says_more = words.iter().filter(is_other).count() > 1;
        (!alone || !says_more).then(|| status.page(phrase.join(" ")))
    })
}

/// The words of the longest phrase that is next to the code.
fn longest_phrase<'w>(status: &Status, words: &[&'w str]) -> Option<Vec<&'w str>> {
    let phrases = status.phrases.iter().map(|phrase| phrase.split(' ').collect::<Vec<_>>());
    let found = phrases.filter_map(|phrase| {
        let at = words.windows(phrase.len()).position(|part| part == phrase)?;
        let around = &words[at.saturating_sub(3)..words.len().min(at + phrase.len() + 3)];
        around.contains(&status.code).then(|| words[at..at + phrase.len()].to_vec())
    });
    found.max_by_key(Vec::len)
}

impl Status {
    fn page(&self, phrase: String) -> String {
        match &self.kind {
            Kind::Neighbour(name) => {
                let own = NEIGHBOURS.iter().find(|neighbour| neighbour.name.starts_with(name));
                own.map(neighbours::page).unwrap_or_default()
            }
            Kind::Open { means, advice, source } => Reported {
                says: format!("{} {}", self.code, titled(&phrase)),
                by: "HTTP servers and clients".to_owned(),
                about: Subject::Frame,
                rule: (self.code == "413").then(|| "openai-chat/body-too-large".to_owned()),
                means: (*means).to_owned(),
                advice: (*advice).to_owned(),
                source: Some((*source).to_owned()),
            }
            .page(),
        }
    }
}

/// A phrase as servers write it.
fn titled(phrase: &str) -> String {
    let word = |word: &str| word[..1].to_uppercase() + &word[1..];
    phrase.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_and_its_phrase_have_a_page() {
        for status in STATUSES {
            for phrase in status.phrases {
                let text = format!("{} {phrase}", status.code);
                let page = page(&text, true).unwrap_or_else(|| panic!("{text} has no page"));
                assert!(page.lines().count() > 3, "{text}: {page}");
            }
        }
    }

    #[test]
    fn clients_write_words_around_a_status() {
        for text in [
            "openai.NotFoundError: 404 page not found",
            "Invalid response data: 404 page not found (status: 404)",
            "Client error '422 Unprocessable Entity' for url 'http://localhost:8000/v1/chat/completions'",
            "aiohttp.ClientResponseError: 422, message='Unprocessable Entity', url='https://h/v1/chat/completions'",
            "Error code: 404 - {'detail': 'Not Found'}",
            "502 Server Error: Bad Gateway for url: https://h/v1/chat/completions",
        ] {
            assert!(page(text, true).is_some(), "{text}");
        }
    }

    #[test]
    fn a_text_with_a_reason_says_more_than_its_status() {
        let text = "422 Unprocessable Entity: messages.1 has calls without results";
        assert!(page(text, true).is_none());
        assert!(page(text, false).is_some());
        assert!(page("the year 422", false).is_none());
        assert!(page("Item not found: it was one of 4040", false).is_none());
    }
}
