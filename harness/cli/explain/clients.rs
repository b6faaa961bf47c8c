//! The errors with which known SDKs give a conversation up by themselves, before anything is sent.

/// An error of an SDK.
pub(super) struct ClientError {
    /// The name of its class, or what it is known by.
    pub(super) name: &'static str,
    /// The SDK.
    pub(super) sdk: &'static str,
    /// A part of its message that nothing else says.
    pub(super) says: &'static str,
    /// What it means.
    pub(super) means: &'static str,
    /// What can be done with the SDK as it is.
    pub(super) advice: &'static str,
    /// Where it was seen, or is documented.
    pub(super) sources: &'static [&'static str],
}

/// Every error that is known.
pub(super) const CLIENT_ERRORS: &[ClientError] = &[
    ClientError {
        name: "AI_MissingToolResultsError",
        sdk: "Vercel AI SDK 6 and later",
        says: "missing for tool call",
        means: "The messages hold a tool call without a result. The SDK looks before it sends, so no request is made, and \
                each turn of the conversation raises the same error.",
        advice: "Convert the messages with `convertToModelMessages(messages, { ignoreIncompleteToolCalls: true })`, which \
                 drops such calls, or store an `output-error` part for each open call when a turn is stopped. For a \
                 conversation that is stored already, add such a part to each open call.",
        sources: &[
            "https://github.com/vercel/ai/issues/10638",
            "https://github.com/cloudflare/agents/issues/1649",
        ],
    },
    ClientError {
        name: "UserError",
        sdk: "pydantic-ai",
        says: "unprocessed tool calls",
        means: "The message history ends with tool calls that have no result, so a new prompt is not accepted. Nothing is \
                sent.",
        advice: "Append a `ModelRequest` with a `ToolReturnPart` for each open call, one that says that the call was \
                 interrupted, or pass the calls' results with `deferred_tool_results`. Drop the last response only if none \
                 of its tools ran.",
        sources: &[
            "https://github.com/pydantic/pydantic-ai/issues/7977",
            "https://github.com/alchemiststudiosDOTai/tunacode/issues/258",
        ],
    },
    ClientError {
        name: "INVALID_CHAT_HISTORY",
        sdk: "LangGraph",
        says: "do not have a corresponding ToolMessage",
        means: "An `AIMessage` in the state has tool calls, and no `ToolMessage` answers them. The prebuilt agent looks \
                before it calls the model.",
        advice: "Update the state: add a `ToolMessage` for each open call, or remove the `AIMessage` with \
                 `RemoveMessage` if none of its tools ran. When the graph is resumed after an interrupt, pass `None` as \
                 the input, not a new message.",
        sources: &[
            "https://docs.langchain.com/oss/python/langgraph/errors/INVALID_CHAT_HISTORY",
            "https://github.com/langchain-ai/langgraph-swarm-py/issues/26",
        ],
    },
    ClientError {
        name: "MaxTurnsExceeded",
        sdk: "OpenAI Agents SDK",
        says: "Max turns",
        means: "The run has made as many requests as `max_turns` allows, and stops. What the last reply called may be \
                without results in the session.",
        advice: "Look at the end of the session before the next run: each `function_call` needs its \
                 `function_call_output`. `brickbat check` says whether the provider would accept it.",
        sources: &["https://openai.github.io/openai-agents-python/ref/exceptions/"],
    },
    ClientError {
        name: "ModelBehaviorError",
        sdk: "OpenAI Agents SDK",
        says: "ModelBehaviorError",
        means: "The model did what the SDK does not accept: it called a tool that does not exist, or sent what is no JSON. \
                The run ends, and the call may stay in the session without an output.",
        advice: "Look at the end of the session before the next run: each `function_call` needs its \
                 `function_call_output`.",
        sources: &["https://openai.github.io/openai-agents-python/ref/exceptions/"],
    },
    ClientError {
        name: "InvalidMessageStructureException",
        sdk: "mistral-common",
        says: "Not the same number of function calls and responses",
        means: "A batch of calls has fewer or more results than calls. Mistral's own library looks before it sends, and the \
                provider says the same.",
        advice: "Give each call exactly one `tool` message, right after the message that calls.",
        sources: &[
            "https://github.com/mistralai/client-ts/issues/106",
            "https://github.com/partITech/php-mistral/issues/57",
        ],
    },
    ClientError {
        name: "API Error: 400 due to tool use concurrency issues",
        sdk: "Claude Code",
        says: "due to tool use concurrency issues",
        means: "It is Claude Code's own text for a refusal of Anthropic: a `tool_use` without a `tool_result`, or a result \
                without its call, is in the session.",
        advice: "`/rewind` goes back to before the broken turn; what was said after it is lost. `brickbat explain \
                 tool-result-missing` says what the provider refuses.",
        sources: &[
            "https://github.com/anthropics/claude-code/issues/9433",
            "https://github.com/anthropics/claude-agent-sdk-python/issues/265",
        ],
    },
];

/// The errors that a text names or quotes.
pub(super) fn in_text(text: &str) -> impl Iterator<Item = &'static ClientError> {
    CLIENT_ERRORS.iter().filter(move |error| {
        let is_named = error.name.eq_ignore_ascii_case(text.trim());
        // A class name that others have too, such as `UserError`, says nothing by itself inside a longer text.
        let is_quoted = text.to_lowercase().contains(&error.says.to_lowercase());
        let is_distinct = error.name.len() > 12 && text.contains(error.name);
        is_named || is_quoted || is_distinct
    })
}

/// The page of an error.
pub(super) fn page(error: &ClientError) -> String {
    let ClientError { name, sdk, means, advice, sources, .. } = error;
    let sources: String = sources.iter().map(|source| format!("  {source}\n")).collect();
    format!("{name}: an error of {sdk}\n\n{means}\n\nwhat to do\n{advice}\n\nsources\n{sources}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_found_by_its_name_and_by_what_it_says() {
        for error in CLIENT_ERRORS {
            for text in [error.name.to_owned(), format!("Error: {} xyz", error.says)] {
                assert!(in_text(&text).any(|found| found.name == error.name), "{text}");
            }
        }
        assert_eq!(in_text("tool-result-missing").count(), 0);
    }
}
