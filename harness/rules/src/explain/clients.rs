//! The errors with which known SDKs reject a conversation themselves, before they send anything.

/// An SDK error.
pub struct ClientError {
    /// The name of its class, or its common name.
    pub name: &'static str,
    /// The SDK.
    pub sdk: &'static str,
    /// A distinctive part of its message.
    pub says: &'static str,
    /// The meaning.
    pub means: &'static str,
    /// Advice for users of the SDK.
    pub advice: &'static str,
    /// Where it was observed or is documented.
    pub sources: &'static [&'static str],
}

/// The AI SDK's error for a value of the wrong type, in stored messages and elsewhere.
pub(super) const TYPES: &str = "AI_TypeValidationError";

/// Every known error.
pub const CLIENT_ERRORS: &[ClientError] = &[
    ClientError {
        name: "AI_MissingToolResultsError",
        sdk: "Vercel AI SDK 6 and later",
        says: "missing for tool call",
        means: "The messages contain a tool call without a result. The SDK checks this before it sends, so no request is \
                made, and every turn of the conversation raises the same error.",
        advice: "Convert the messages with `convertToModelMessages(messages, { ignoreIncompleteToolCalls: true })`, which \
                 drops such calls, or store an `output-error` part for each open call when a turn is stopped. In a stored \
                 conversation, add such a part to each open call.",
        sources: &[
            "https://github.com/vercel/ai/issues/10638",
            "https://github.com/cloudflare/agents/issues/1649",
        ],
    },
    ClientError {
        name: TYPES,
        sdk: "Vercel AI SDK",
        says: "type validation failed",
        means: "A value does not have the type that the SDK expects. `validateUIMessages` raises it for stored messages, \
                for example if the `state` of a part does not allow its `approval`, or if a failed call (`output-error`) has `rawInput` and no \
                `input`, which later releases of `ai` take. The conversation then cannot be loaded.",
        advice: "`brickbat session FILE` judges stored messages, and `brickbat repair FILE` writes a repaired copy. The \
                 text after the error's name says which part is wrong.",
        sources: &[
            "https://ai-sdk.dev/docs/reference/ai-sdk-core/validate-ui-messages",
            "https://github.com/assistant-ui/assistant-ui/issues/4195",
            "https://github.com/vercel/ai/pull/11393",
        ],
    },
    ClientError {
        name: "previous_message_id",
        sdk: "Claude Code",
        says: "diagnostics.previous_message_id: must be the",
        means: "Claude Code names the reply before. It takes the last stored one, which can be a reply that it wrote itself \
                after an error, with the model `<synthetic>`. Its id is not one of the API's. The history is not the cause.",
        advice: "Update Claude Code, or take the last lines with `\"model\":\"<synthetic>\"` out of a copy of the session file.",
        sources: &[
            "https://github.com/anthropics/claude-code/issues/58427",
            "https://github.com/anthropics/claude-code/issues/96033",
        ],
    },
    ClientError {
        name: "no user/tool message found",
        sdk: "Continue",
        says: "error parsing chat history: no user/tool message found",
        means: "Continue takes the last message of the history for the next turn, and it is neither the user's nor a \
                tool's: a reply was stopped, or the list is empty. Nothing is sent.",
        advice: "Update Continue, or start a new session. `brickbat session FILE` judges a session in \
                 `~/.continue/sessions`.",
        sources: &[
            "https://github.com/continuedev/continue/blob/main/core/llm/countTokens.ts",
            "https://github.com/continuedev/continue/issues/11641",
            "https://github.com/continuedev/continue/issues/9783",
        ],
    },
    ClientError {
        name: "no tool call found to match tool output",
        sdk: "Continue",
        says: "error parsing chat history: no tool call found to match tool output",
        means: "The history ends with a tool's result, and the message before it has no call with this id. Nothing is sent.",
        advice: "Update Continue, or start a new session. `brickbat session FILE` judges a session in \
                 `~/.continue/sessions`.",
        sources: &["https://github.com/continuedev/continue/blob/main/core/llm/countTokens.ts"],
    },
    ClientError {
        name: "AI_InvalidPromptError",
        sdk: "Vercel AI SDK",
        says: "messages must not be empty",
        means: "The prompt is not a list of `ModelMessage`s: the messages of a user interface were passed on unchanged, \
                or the list is empty. Nothing is sent.",
        advice: "Convert stored messages with `convertToModelMessages` before you pass them to the model.",
        sources: &["https://ai-sdk.dev/docs/reference/ai-sdk-errors/ai-invalid-prompt-error"],
    },
    ClientError {
        name: "System message must be at the beginning",
        sdk: "chat templates of open models, as vLLM, llama.cpp and LM Studio run them",
        says: "system message must be at the beginning",
        means: "A `system` message comes after other messages. The API of the server allows this, but the model's template \
                raises an exception.",
        advice: "Move the text into the first system message, or send it as a user's message.",
        sources: &["https://github.com/continuedev/continue/issues/12963"],
    },
    ClientError {
        name: "AI_NoSuchToolError",
        sdk: "Vercel AI SDK",
        says: "model tried to call unavailable tool",
        means: "The model called a tool that this request does not offer. The call stays in the messages, and may have no \
                result.",
        advice: "Offer the same tools in every turn of a conversation, and store an `output-error` part for such a call.",
        sources: &["https://ai-sdk.dev/docs/reference/ai-sdk-errors/ai-no-such-tool-error"],
    },
    ClientError {
        name: "AI_InvalidToolInputError",
        sdk: "Vercel AI SDK 5 and later",
        says: "invalid input for tool",
        means: "The arguments of a call do not match the schema of the tool, or are not JSON. The call stays in the \
                messages.",
        advice: "Store the call with an `output-error` part, so that the next request has a result for it.",
        sources: &["https://ai-sdk.dev/docs/reference/ai-sdk-errors/ai-invalid-tool-input-error"],
    },
    ClientError {
        name: "AI_MessageConversionError",
        sdk: "Vercel AI SDK",
        says: "messageconversionerror",
        means: "`convertToModelMessages` cannot convert a stored message: a part has a state or a form that it does not \
                know. Nothing is sent.",
        advice: "`brickbat session FILE` judges stored messages, and names the part.",
        sources: &["https://ai-sdk.dev/docs/reference/ai-sdk-errors/ai-message-conversion-error"],
    },
    ClientError {
        name: "INVALID_TOOL_RESULTS",
        sdk: "LangChain.js",
        says: "invalid_tool_results",
        means: "The messages have a call without its `ToolMessage`, a second one, or one without a call. LangChain reports \
                the provider's refusal under this name.",
        advice: "Give each call in `tool_calls` exactly one `ToolMessage` with its `tool_call_id`, directly after.",
        sources: &["https://docs.langchain.com/oss/javascript/langchain/errors/INVALID_TOOL_RESULTS"],
    },
    ClientError {
        name: "invalid_encrypted_content",
        sdk: "OpenAI's Responses API, as Codex and other clients show it",
        says: "the encrypted content",
        means: "A reasoning item has `encrypted_content` of another account, organisation or deployment, or it was changed. \
                The provider cannot decrypt it, and refuses every request that contains it.",
        advice: "Remove the reasoning items of the other account from the history, and the `id` of the items that follow \
                 them; or continue with the account that received them.",
        sources: &[
            "https://github.com/openai/codex/issues/8145",
            "https://github.com/smallmain/vscode-unify-chat-provider/issues/178",
        ],
    },
    ClientError {
        name: "container_id is required",
        sdk: "Anthropic's code execution tool",
        says: "container_id is required",
        means: "The history has calls that code in a container made and that wait for results, and the request does not name \
                the container.",
        advice: "Send the `id` of `container` from the reply with the calls as `container` in the next request.",
        sources: &[
            "https://github.com/anthropics/anthropic-sdk-python/issues/1801",
            "https://github.com/anthropics/anthropic-sdk-typescript/issues/1114",
        ],
    },
    ClientError {
        name: "Conversation blocks and tool result blocks cannot be provided in the same turn",
        sdk: "Amazon Bedrock, with models that are not Claude, such as Llama",
        says: "cannot be provided in the same turn",
        means: "A message has text next to the results of tools, or next to calls. Claude takes both in one message, other \
                models on Bedrock do not.",
        advice: "Send the results alone, and the text in a message of its own after the next reply.",
        sources: &[
            "https://github.com/strands-agents/harness-sdk/issues/1223",
            "https://github.com/quarkiverse/quarkus-langchain4j/issues/1983",
        ],
    },
    ClientError {
        name: "advisor_tool_result has no server_tool_use",
        sdk: "Claude Code and its users",
        says: "has no server_tool_use",
        means: "The result of Anthropic's advisor is in the history without its call directly before it: a command, a rename \
                or a compaction parted the two. The provider refuses every request that contains it.",
        advice: "`brickbat explain server-tool-result-orphan` describes the provider's rule, and `brickbat check --fix FILE` \
                 puts the two together in a request.",
        sources: &["https://github.com/anthropics/claude-code/issues/92509"],
    },
    ClientError {
        name: "UserError",
        sdk: "pydantic-ai",
        says: "unprocessed tool calls",
        means: "The message history ends with tool calls without results, so a new prompt is not accepted. Nothing is \
                sent.",
        advice: "Append a `ModelRequest` with a `ToolReturnPart` for each open call that reports the interruption, \
                 or pass the calls' results with `deferred_tool_results`. Drop the last response only if none \
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
        means: "An `AIMessage` in the state has tool calls without a `ToolMessage`. The prebuilt agent checks this before \
                it calls the model.",
        advice: "Update the state: add a `ToolMessage` for each open call, or, if none of its tools ran, remove the \
                 `AIMessage` with `RemoveMessage`. When you resume the graph after an interrupt, pass `None` as \
                 the input instead of a new message.",
        sources: &[
            "https://docs.langchain.com/oss/python/langgraph/errors/INVALID_CHAT_HISTORY",
            "https://github.com/langchain-ai/langgraph-swarm-py/issues/26",
        ],
    },
    ClientError {
        name: "MaxTurnsExceeded",
        sdk: "OpenAI Agents SDK",
        says: "Max turns",
        means: "The run has made as many requests as `max_turns` allows, and stops. The calls of the last reply may have \
                no results in the session.",
        advice: "Check the end of the session before the next run: each `function_call` needs its \
                 `function_call_output`. `brickbat check` shows whether the provider would accept it.",
        sources: &["https://openai.github.io/openai-agents-python/ref/exceptions/"],
    },
    ClientError {
        name: "ModelBehaviorError",
        sdk: "OpenAI Agents SDK",
        says: "ModelBehaviorError",
        means: "The model did something that the SDK does not accept: it called a tool that does not exist, or sent \
                invalid JSON. The run ends, and the call may stay in the session without an output.",
        advice: "Check the end of the session before the next run: each `function_call` needs its \
                 `function_call_output`.",
        sources: &["https://openai.github.io/openai-agents-python/ref/exceptions/"],
    },
    ClientError {
        name: "InvalidMessageStructureException",
        sdk: "mistral-common",
        says: "Not the same number of function calls and responses",
        means: "A batch of calls has fewer or more results than calls. Mistral's own library checks this before it sends, \
                and the provider reports the same error.",
        advice: "Give each call exactly one `tool` message, right after the message with the calls.",
        sources: &[
            "https://github.com/mistralai/client-ts/issues/106",
            "https://github.com/partITech/php-mistral/issues/57",
        ],
    },
    ClientError {
        name: "API Error: 400 due to tool use concurrency issues",
        sdk: "Claude Code",
        says: "due to tool use concurrency issues",
        means: "Claude Code's own text for a refusal by Anthropic: the session has a `tool_use` without a `tool_result`, \
                or a result without its call.",
        advice: "`/rewind` returns to the point before the broken turn; everything after it is lost. `brickbat explain \
                 tool-result-missing` describes the provider's rule.",
        sources: &[
            "https://github.com/anthropics/claude-code/issues/9433",
            "https://github.com/anthropics/claude-agent-sdk-python/issues/265",
        ],
    },
    ClientError {
        name: "roles must alternate between user and assistant",
        sdk: "Anthropic until 2024, and programs that still check it",
        says: "roles must alternate between",
        means: "Two messages of the user, or two of the assistant, follow each other. Anthropic accepts this by now and joins \
                the messages, so a program between you and the provider may have raised the error.",
        advice: "Update that program, or join successive messages of one role.",
        sources: &[
            "https://github.com/BerriAI/litellm/issues/3474",
            "https://platform.claude.com/docs/en/api/messages",
        ],
    },
    ClientError {
        name: "Model produced invalid sequence as part of ToolUse",
        sdk: "Amazon Nova at Bedrock",
        says: "invalid sequence as part of tooluse",
        means: "The model wrote a call that Bedrock cannot read, so the reply ends with an error, often in the middle of a \
                stream. The history is not the cause, and a repeated request often succeeds.",
        advice: "Send the request again with `temperature` 0, as Amazon's guide for tool use advises. Names of tools with \
                 a hyphen, and schemas with many levels, make it more likely. Do not store the broken reply.",
        sources: &[
            "https://github.com/strands-agents/harness-sdk/issues/649",
            "https://github.com/SEMOSS/Semoss/pull/2892",
        ],
    },
    ClientError {
        name: "all elements in history must have a message",
        sdk: "Cohere's chat API, version 1",
        says: "all elements in history must have a message",
        means: "An entry of `chat_history` has no text, such as a reply that only has calls.",
        advice: "Use version 2 of the API, which takes calls without text. In version 1, put a text into the entry.",
        sources: &["https://github.com/langchain-ai/langchain-cohere/pull/15"],
    },
    ClientError {
        name: "cannot specify both message and tool_results in multistep mode",
        sdk: "Cohere's chat API, version 1",
        says: "cannot specify both message and tool_results",
        means: "A request that returns results also has a text in `message`.",
        advice: "Send the results with an empty `message`, and the user's text in a later request; or use version 2 of the API.",
        sources: &["https://github.com/cohere-ai/cohere-python/issues/525"],
    },
    ClientError {
        name: "message must be at least 1 token long or tool results must be specified",
        sdk: "Cohere's chat API, version 1",
        says: "message must be at least 1 token long",
        means: "The request has neither a text in `message` nor results.",
        advice: "Send the user's text, or the results of the calls of the last reply.",
        sources: &["https://github.com/kwaroran/Risuai/issues/504"],
    },
    ClientError {
        name: "Duplicate call_ids submitted",
        sdk: "OpenAI's Assistants API",
        says: "duplicate call_ids submitted",
        means: "Two outputs of one submission answer the same call. OpenAI has replaced this API by Responses.",
        advice: "Submit one output for each call of the batch.",
        sources: &["https://github.com/VRSEN/agency-swarm/issues/151"],
    },
];

/// The errors that a text names or quotes.
pub(super) fn in_text(text: &str) -> impl Iterator<Item = &'static ClientError> {
    CLIENT_ERRORS.iter().filter(move |error| {
        let is_named = error.name.eq_ignore_ascii_case(text.trim());
        // A class name that other SDKs use too, such as `UserError`, proves nothing inside a longer text.
        let is_quoted = text.to_lowercase().contains(&error.says.to_lowercase());
        let is_distinct = error.name.len() > 12 && text.contains(error.name);
        is_named || is_quoted || is_distinct
    })
}

/// The page about an error.
pub(super) fn page(error: &ClientError) -> String {
    let ClientError { name, sdk, means, advice, sources, .. } = error;
    let sources: String = sources.iter().map(|source| format!("  {source}\n")).collect();
    format!("{name}: an error of {sdk}\n\n{means}\n\nwhat to do\n{advice}\n\nsources\n{sources}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_found_by_its_name_and_by_its_message() {
        for error in CLIENT_ERRORS {
            for text in [error.name.to_owned(), format!("Error: {} xyz", error.says)] {
                assert!(in_text(&text).any(|found| found.name == error.name), "{text}");
            }
        }
        assert_eq!(in_text("tool-result-missing").count(), 0);
    }
}
