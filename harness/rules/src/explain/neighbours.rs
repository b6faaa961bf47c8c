//! Errors of providers that have nothing to do with the shape of the history.

use super::path::is_beside_history;

/// A kind of error.
pub(super) struct Neighbour {
    /// The reason for the refusal.
    pub(super) name: &'static str,
    /// Distinctive parts of providers' messages, in lower case.
    pub(super) says: &'static [&'static str],
    pub(super) means: &'static str,
    pub(super) advice: &'static str,
    /// A thread or page for each provider that says it.
    pub(super) sources: &'static [&'static str],
}

/// The name of the kind of errors about offered tools.
const OF_TOOLS: &str = "a tool that the request offers is refused";

pub(super) const NEIGHBOURS: &[Neighbour] = &[
    Neighbour {
        name: "the conversation is too long for the model",
        says: &[
            "prompt is too long",
            "maximum context length",
            "context_length_exceeded",
            "exceeds the context window",
            "exceed context limit",
            "exceeds the maximum number of tokens allowed",
            "input is too long for requested model",
            "exceeds context size",
            "exceeds the available context size",
            "maximum prompt length is",
            "exceeded model token limit",
            "context window exceeds limit",
            "range of input length should be",
            "please reduce the length of the messages",
        ],
        means: "The request has more tokens than the model takes. The shape of the history may be right.",
        advice: "Shorten the conversation: start a new one, or let the client compact it. Remove a call and its result \
                 together. `brickbat filters` tests code that shortens histories.",
        sources: &[
            "https://github.com/crewAIInc/crewAI-examples/issues/121",
            "https://github.com/google-gemini/gemini-cli/issues/6678",
            "https://github.com/aws-samples/bedrock-chat/issues/95",
            "https://github.com/RooCodeInc/Roo-Code/issues/3713",
        ],
    },
    Neighbour {
        name: "the provider is overloaded, or the rate limit is reached",
        says: &[
            "overloaded_error",
            "529 overloaded",
            "is overloaded",
            "currently overloaded",
            "engine_overloaded",
            "experiencing high demand",
            "rate_limit_error",
            "rate limit reached for",
            "exceed your account's rate limit",
            "resource_exhausted",
            "too many tokens, please wait",
            "throttlingexception",
        ],
        means: "The provider takes no more requests at present. The request itself was not judged.",
        advice: "Wait, and send the same request again. `brickbat run --filter fault/` tests how an SDK repeats requests.",
        sources: &[
            "https://github.com/anthropics/claude-code/issues/35792",
            "https://github.com/microsoft/autogen/issues/198",
            "https://github.com/hyunhwan-bcm/MARRVEL_MCP/issues/225",
        ],
    },
    Neighbour {
        name: "parameters of the request do not fit the model, or each other",
        says: &[
            "cannot both be specified for this model",
            "cannot specify both 'thinking' and 'reasoning_effort'",
            "is not supported with this model. use 'max_completion_tokens'",
            "may only be set to 1 when thinking is enabled",
            "must be greater than thinking.budget_tokens",
            "doesn't support the toolconfig.toolchoice",
        ],
        means: "A setting such as `temperature`, `max_tokens` or `thinking` is refused. The history was not judged, or is right.",
        advice: "Leave the setting out, or use the one that the text names. A client may set it by default.",
        sources: &[
            "https://github.com/SuzumiyaAkizuki/ComfyUI-NewBie-LLM-Formatter/issues/3",
            "https://github.com/github/app/issues/2384",
            "https://github.com/infiniflow/ragflow/issues/11815",
            "https://github.com/HKUDS/nanobot/issues/3939",
            "https://github.com/microsoft/vscode-copilot-release/issues/8065",
            "https://github.com/vercel/ai/issues/4396",
        ],
    },
    Neighbour {
        name: OF_TOOLS,
        says: &["json schema draft 2020-12"],
        means: "The definition of a tool, its name, its kind or its schema, does not have the form that this provider takes. The \
                conversation was not judged. The number in the path is that of the tool, from 0.",
        advice: "Find the tool by its number, often one of an MCP server. Rename it or simplify its schema, or leave it out. \
                 Chat Completions has the fields of a function under `function`; Responses and Anthropic have them at the top.",
        sources: &[
            "https://github.com/zed-industries/zed/issues/40928",
            "https://github.com/Mintplex-Labs/anything-llm/issues/4169",
            "https://github.com/BerriAI/litellm/issues/21584",
            "https://github.com/kintone/mcp-server/issues/547",
        ],
    },
    Neighbour {
        name: "the key is invalid or missing",
        says: &[
            "authentication_error",
            "invalid x-api-key",
            "invalid authentication credentials",
            "incorrect api key provided",
            "invalid_api_key",
            "api key not valid",
            "gatewayauthenticationerror",
            "unauthenticated request to ai gateway",
            "configure ai_gateway_api_key",
            "ai_loadapikeyerror",
            "api key is missing",
            "security token included in the request is invalid",
        ],
        means: "The provider does not accept the key, and has not read the request.",
        advice: "Check the key, its account, and the address that it is sent to.",
        sources: &[
            "https://github.com/anthropics/claude-code/issues/64667",
            "https://github.com/vercel-labs/just-bash/issues/12",
        ],
    },
    Neighbour {
        name: "the client is too old for the API",
        says: &["the legacy interactions api schema is no longer supported"],
        means: "Google has changed the form of requests to the Interactions API, and this client still sends the old one.",
        advice: "Update the SDK to 2.0.0 or later.",
        sources: &["https://github.com/allenhutchison/gemini-cli-deep-research/issues/73"],
    },
    Neighbour {
        name: "the reply of the model does not have the required form",
        says: &["no object generated"],
        means: "A program asked for a reply of a given form, such as JSON with certain fields, and the model wrote another one. \
                The history was accepted.",
        advice: "Ask again, use a model that supports structured output, or allow the fields that the text names to be missing.",
        sources: &[
            "https://ai-sdk.dev/docs/reference/ai-sdk-errors/ai-no-object-generated-error",
            "https://github.com/egoist/chatwise-releases/issues/307",
        ],
    },
    Neighbour {
        name: "the client does not find the stored session",
        says: &["no conversation found with session id"],
        means: "Claude Code looks for the session in the folder of the project in which it is started. Nothing was sent.",
        advice: "Start it in the folder in which the session began. `brickbat session ~/.claude/projects --list` lists the \
                 sessions that are stored.",
        sources: &["https://github.com/framework/the-framework/issues/778"],
    },
    Neighbour {
        name: "the account has no balance left",
        says: &["credit balance is too low", "exceeded your current quota", "insufficient_quota"],
        means: "The provider does not work for this account at present. The request itself was not judged.",
        advice: "Check the balance and the limits of the account.",
        sources: &["https://github.com/anthropics/claude-code/issues/66314"],
    },
];

/// The kinds of errors that a text quotes.
pub(super) fn in_text(text: &str) -> impl Iterator<Item = &'static Neighbour> {
    let folded = text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    // Markdown and prose write backquotes around names.
    let folded = folded.replace('`', "");
    let parameters = parameters(text);
    let is_tool = |name: &String| ["tools", "functions", "toolconfig"].contains(&name.as_str());
    let of_tools = parameters.as_ref().is_some_and(|names| names.iter().all(is_tool));
    let of_parameter = parameters.is_some() && !of_tools;
    NEIGHBOURS.iter().filter(move |neighbour| {
        let is_of_parameter = of_parameter && neighbour.name.starts_with("parameters");
        is_of_parameter
            || of_tools && neighbour.name == OF_TOOLS
            || neighbour.says.iter().any(|part| folded.contains(part))
    })
}

/// The kind of error that only the status of the reply shows: a text such as `Error code: 429`.
pub(super) fn of_status(text: &str) -> Option<&'static Neighbour> {
    const KINDS: [(&str, &[&str]); 3] = [
        ("the provider is overloaded", &["429", "503", "529"]),
        ("the key is invalid", &["401"]),
        ("the account has no balance", &["402"]),
    ];
    const MARKS: [&str; 12] = [
        "error code: ",
        "status code: ",
        "statuscode: ",
        "status: ",
        "status\":",
        "statuscode\":",
        "api error: ",
        "http ",
        "statuscode=",
        "status_code=",
        "status=",
        "code=",
    ];
    let folded = text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    let has = |status: &&&str| {
        MARKS.iter().any(|mark| {
            folded.match_indices(mark).any(|(at, mark)| {
                let rest = folded[at + mark.len()..].trim_start();
                let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
                rest[..end] == ***status
            })
        })
    };
    let (name, _) = KINDS.iter().find(|(_, statuses)| statuses.iter().any(|status| has(&status)))?;
    NEIGHBOURS.iter().find(|neighbour| neighbour.name.starts_with(name))
}

/// Fields of a body that contain the history.
const HISTORIES: [&str; 7] =
    ["messages", "contents", "input", "inputs", "system", "systeminstruction", "system_instruction"];

/// Returns whether an error of Google's, of OpenAI's or of pydantic's is about a field of the body that is not the history.
pub(super) fn names_parameter(text: &str) -> bool {
    parameters(text).is_some()
}

/// The fields of the body that an error is about. None if one of them is the history, or none is named.
fn parameters(text: &str) -> Option<Vec<String>> {
    let lower = text.to_lowercase();
    let plain: String = lower.chars().filter(|c| !matches!(c, '\'' | '"' | '\\' | ' ' | '`')).collect();
    let name =
        |rest: &str| -> String { rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect() };
    // Without `at '…'`, the field is one of the body.
    let quoted: String = lower.chars().filter(|c| *c != '\\').collect::<String>().replace(['"', '`'], "'");
    let of_google = quoted.split("unknown name '").skip(1).filter_map(|rest| {
        let (own, rest) = rest.split_once('\'')?;
        match rest.trim_start().strip_prefix("at '") {
            Some(path) => Some(name(path)),
            None => rest.starts_with(": cannot find field").then(|| name(own)),
        }
    });
    let of_openai = quoted.split("unknown parameter: '").skip(1).map(name);
    let of_pydantic =
        ["loc:(body,", "loc:[body,"].into_iter().flat_map(|mark| plain.split(mark).skip(1).map(name));
    let named: Vec<String> = of_google.chain(of_openai).chain(of_pydantic).collect();
    let is_history = |name: &String| name.is_empty() || HISTORIES.contains(&name.as_str());
    if named.iter().any(is_history) {
        return None;
    }
    // The words of these sentences stand for the history too, so only known parameters count.
    let after = [
        "missing required parameter: '",
        "invalid type for '",
        "invalid '",
        "invalid value at '",
        "'param': '",
        "'param':'",
    ];
    let of_openai = after.into_iter().flat_map(|mark| quoted.split(mark).skip(1).map(name));
    let before =
        [": field required", ": input should be", ": string should", ": extra inputs are", ": missing field"];
    let of_anthropic = before.into_iter().flat_map(|mark| {
        quoted.match_indices(mark).map(|(at, _)| {
            let is_of_path = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '[' | ']' | '*');
            let begin = quoted[..at]
                .rfind(|c| !is_of_path(c))
                .map_or(0, |before| quoted.ceil_char_boundary(before + 1));
            name(&quoted[begin..at])
        })
    });
    let others: Vec<String> = of_openai.chain(of_anthropic).collect();
    if !others.iter().all(|name| is_beside_history(name)) {
        return None;
    }
    let all: Vec<String> = named.into_iter().chain(others).collect();
    (!all.is_empty()).then_some(all)
}

/// The page about a kind of error.
pub(super) fn page(neighbour: &Neighbour) -> String {
    let Neighbour { name, means, advice, sources, .. } = neighbour;
    let sources: String = sources.iter().map(|source| format!("  {source}\n")).collect();
    format!(
        "This error is not about the history: {name}.\n\n{means}\n\nwhat to do\n{advice}\n\nsources\n{sources}"
    )
}

#[cfg(test)]
mod tests {
    use super::super::rules_saying;
    use super::*;

    #[test]
    fn an_error_about_length_load_key_or_balance_is_called_that() {
        for (text, name) in [
            ("API Error: 400 prompt is too long: 203456 tokens > 200000 maximum", "too long"),
            (
                "This model's maximum context length is 8192 tokens. However, your messages resulted in 8227",
                "too long",
            ),
            ("input length and `max_tokens` exceed context limit: 196395 + 64000 > 204698", "too long"),
            ("API Error: 529 Overloaded. This is a server-side issue", "overloaded"),
            ("Too many tokens,\nplease wait before trying again.", "overloaded"),
            ("401 {\"error\":{\"type\":\"authentication_error\"}}", "key"),
            ("Your credit balance is too low to access the Anthropic API.", "balance"),
            (
                "`temperature` and `top_p` cannot both be specified for this model. Please use only one.",
                "parameters",
            ),
            ("`max_tokens` must be greater than `thinking.budget_tokens`", "parameters"),
            (r#"400 Invalid JSON payload received. Unknown name "store": Cannot find field."#, "parameters"),
            (r#"{"message": "Unknown parameter: 'prompt_cache_retention'."}"#, "parameters"),
            ("max_tokens: Field required", "parameters"),
            (
                r#"{"message": "Required", "param": "text.format", "code": "missing_required_parameter"}"#,
                "parameters",
            ),
            ("400 metadata.user_id: Input should be a valid string", "parameters"),
            ("tools.8.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'", "a tool"),
            ("[400]: Missing required parameter: 'tools[0].name'.", "a tool"),
            ("Invalid 'functions[6].name': string does not match pattern.", "a tool"),
            (
                r#"Invalid JSON payload received. Unknown name "const" at 'tools[0].function_declarations[1].parameters': Cannot find field."#,
                "a tool",
            ),
            (
                "[{'type': 'literal_error', 'loc': ('body', 'response_format', 'type'), 'msg': '…'}]",
                "parameters",
            ),
            (
                r#"{"detail":[{"loc":["body","max_tokens"],"msg":"Input should be a valid integer"}]}"#,
                "parameters",
            ),
            ("AI_NoObjectGeneratedError: No object generated: could not parse the response.", "reply"),
            ("No conversation found with session ID: 0c7e", "stored session"),
            ("errorMessage=\"429 The engine is currently overloaded, please try again later\"", "overloaded"),
            ("Error [GatewayAuthenticationError]: Unauthenticated request to AI Gateway.", "key"),
            ("request (53192 tokens) exceeds context size (50176 tokens)", "too long"),
            ("ツールのinput_schemaがJSON Schema draft 2020-12に非準拠", "a tool"),
            ("The legacy Interactions API schema is no longer supported.", "too old"),
        ] {
            let found: Vec<_> = in_text(text).map(|neighbour| neighbour.name).collect();
            assert!(matches!(found[..], [found] if found.contains(name)), "{text}: {found:?}");
        }
    }

    #[test]
    fn a_text_in_any_script_can_be_read() {
        for before in ["报错：", "「", "“", "é", "\u{1f600}"] {
            for rule in crate::Rule::all() {
                for sentence in rule.sentences {
                    let text = format!("{before}{}", sentence.replace(['{', '}'], ""));
                    let _ = (in_text(&text).count(), of_status(&text), rules_saying(&text));
                }
            }
        }
        assert_eq!(in_text("报错：messages.3.content: Input should be a valid string").count(), 0);
        assert_eq!(in_text("报错：max_tokens: Field required").count(), 1);
        assert_eq!(in_text("tools[17].function: missing field `parameters`").count(), 1);
    }

    #[test]
    fn a_status_alone_shows_the_kind_of_an_error() {
        for (text, name) in [
            ("Error code: 429 - {'detail': 'slow down'}", Some("overloaded")),
            ("API Error: 401 no entry", Some("key")),
            ("{\"status\": 402}", Some("balance")),
            ("request failed attempt=3 statusCode=429", Some("overloaded")),
            ("the year 429", None),
            ("Error code: 4290", None),
        ] {
            let found = of_status(text).map(|neighbour| neighbour.name);
            assert_eq!(found.is_some(), name.is_some(), "{text}: {found:?}");
            assert!(
                name.is_none_or(|name| found.is_some_and(|found| found.contains(name))),
                "{text}: {found:?}"
            );
        }
    }

    #[test]
    fn an_unknown_name_inside_the_history_is_about_the_history() {
        for text in [
            r#"Invalid JSON payload received. Unknown name "type" at 'contents[1].parts[0]': Cannot find field."#,
            r#"Invalid JSON payload received. Unknown name "messages": Cannot find field."#,
            r#"{"detail":[{"loc":["body","messages",2,"content"],"msg":"Input should be a valid string"}]}"#,
            "messages.1.content.0: Field required",
            "Missing required parameter: 'input[3].call_id'.",
            "***.signature: Field required",
            r#"{"message": "Required", "param": "input[3].id"}"#,
            "Invalid `signature` in `thinking` block",
        ] {
            assert_eq!(in_text(text).count(), 0, "{text}");
        }
    }

    #[test]
    fn no_error_about_a_history_is_taken_for_one() {
        for rule in crate::Rule::all() {
            for sentence in rule.sentences {
                assert_eq!(in_text(sentence).count(), 0, "{}: {sentence}", rule.id);
            }
        }
        for part in NEIGHBOURS.iter().flat_map(|neighbour| neighbour.says) {
            assert!(rules_saying(part).is_empty(), "{part}");
        }
    }
}
