//! Request bodies that a strict provider rejects.

/// Bodies that a provider rejects, each with the rule that the rejection names.
pub(crate) const ILLEGAL: &[(&str, &str)] = &[
    ("anthropic-messages/request-shape", r#"{"messages":[{"role":"user"}]}"#),
    ("anthropic-messages/request-shape", r#"{"messages":{"role":"user","content":"Hallo"}}"#),
    ("anthropic-messages/messages-empty", r#"{"messages":[]}"#),
    ("anthropic-messages/unknown-role", r#"{"messages":[{"role":"tool","content":"12 degrees"}]}"#),
    (
        "anthropic-messages/tool-use-field-required",
        r#"{"messages":[{"role":"user","content":"Time?"},
            {"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"clock"}]},
            {"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"noon"}]}]}"#,
    ),
    (
        "anthropic-messages/tool-id-pattern",
        r#"{"messages":[{"role":"user","content":"Time?"},
            {"role":"assistant","content":[{"type":"tool_use","id":"clock:0","name":"clock","input":{}}]},
            {"role":"user","content":[{"type":"tool_result","tool_use_id":"clock:0","content":"noon"}]}]}"#,
    ),
    (
        "anthropic-messages/tool-name-pattern",
        r#"{"messages":[{"role":"user","content":"Time?"},
            {"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"","input":{}}]},
            {"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"noon"}]}]}"#,
    ),
    (
        "anthropic-messages/tool-input-not-object",
        r#"{"messages":[{"role":"user","content":"Time?"},
            {"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"clock","input":"{\"zone\":\"UTC\"}"}]},
            {"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"noon"}]}]}"#,
    ),
    (
        "anthropic-messages/tool-result-id-required",
        r#"{"messages":[{"role":"user","content":"Time?"},
            {"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"clock","input":{}}]},
            {"role":"user","content":[{"type":"tool_result","content":"noon"}]}]}"#,
    ),
    (
        "anthropic-messages/thinking-field-required",
        r#"{"messages":[{"role":"user","content":"Time?"},
            {"role":"assistant","content":[{"type":"thinking","thinking":"Noon, I guess."},{"type":"text","text":"Noon."}]},
            {"role":"user","content":"Sure?"}]}"#,
    ),
    (
        "anthropic-messages/tool-names-not-unique",
        r#"{"tools":[{"name":"clock","input_schema":{"type":"object"}},{"name":"clock","input_schema":{"type":"object"}}],
            "messages":[{"role":"user","content":"Time?"}]}"#,
    ),
    (
        "anthropic-messages/text-empty",
        r#"{"messages":[{"role":"user","content":[{"type":"text","text":"Time?"},{"type":"text","text":""}]}]}"#,
    ),
    (
        "anthropic-messages/text-blank",
        r#"{"messages":[{"role":"user","content":[{"type":"text","text":" \n\t"}]}]}"#,
    ),
    (
        "anthropic-messages/user-message-empty",
        r#"{"messages":[{"role":"user","content":"Time?"},{"role":"assistant","content":"Noon."},{"role":"user","content":[]}]}"#,
    ),
    (
        "anthropic-messages/assistant-message-empty",
        r#"{"messages":[{"role":"user","content":"Time?"},{"role":"assistant","content":""},{"role":"user","content":"Well?"}]}"#,
    ),
    (
        "anthropic-messages/system-message-first",
        r#"{"messages":[{"role":"system","content":"Be brief."},{"role":"assistant","content":"Yes."},{"role":"user","content":"Time?"}]}"#,
    ),
    (
        "anthropic-messages/system-message-not-after-user",
        r#"{"messages":[{"role":"user","content":"Time?"},{"role":"assistant","content":"Noon."},{"role":"system","content":"Be brief."}]}"#,
    ),
    (
        "anthropic-messages/tool-use-outside-assistant",
        r#"{"messages":[{"role":"user","content":[{"type":"tool_use","id":"t1","name":"clock","input":{}}]}]}"#,
    ),
    (
        "anthropic-messages/tool-result-outside-user",
        r#"{"messages":[{"role":"user","content":"Time?"},
            {"role":"assistant","content":[{"type":"tool_result","tool_use_id":"t1","content":"noon"}]},
            {"role":"user","content":"Well?"}]}"#,
    ),
    (
        "anthropic-messages/tool-use-id-duplicate",
        r#"{"messages":[{"role":"user","content":"Time?"},
            {"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"clock","input":{}},
                {"type":"tool_use","id":"t1","name":"calendar","input":{}}]},
            {"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"noon"}]}]}"#,
    ),
    (
        "anthropic-messages/tool-result-missing",
        r#"{"messages":[{"role":"user","content":"Time and date?"},
            {"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"clock","input":{}},
                {"type":"tool_use","id":"t2","name":"calendar","input":{}}]},
            {"role":"user","content":[{"type":"tool_result","tool_use_id":"t2","content":"May"}]},
            {"role":"user","content":"And the time?"}]}"#,
    ),
    (
        "anthropic-messages/tool-result-missing",
        r#"{"messages":[{"role":"user","content":"Time?"},
            {"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"clock","input":{}}]}]}"#,
    ),
    (
        "anthropic-messages/tool-result-not-first",
        r#"{"messages":[{"role":"user","content":"Time?"},
            {"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"clock","input":{}}]},
            {"role":"user","content":"Hurry."},
            {"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"noon"}]}]}"#,
    ),
    (
        "anthropic-messages/tool-result-duplicate",
        r#"{"messages":[{"role":"user","content":"Time?"},
            {"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"clock","input":{}}]},
            {"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"stopped"},
                {"type":"tool_result","tool_use_id":"t1","content":"noon"}]}]}"#,
    ),
    (
        "anthropic-messages/tool-result-orphan",
        r#"{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"noon"}]}]}"#,
    ),
    (
        "anthropic-messages/thinking-missing",
        r#"{"thinking":{"type":"enabled","budget_tokens":2048},"messages":[{"role":"user","content":"Time?"},
            {"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"clock","input":{}}]},
            {"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"noon"}]}]}"#,
    ),
    (
        "anthropic-messages/thinking-not-first",
        r#"{"thinking":{"type":"enabled","budget_tokens":2048},"messages":[{"role":"user","content":"Time?"},
            {"role":"assistant","content":[{"type":"text","text":"Hm."},{"type":"thinking","thinking":"Noon.","signature":"c2ln"}]},
            {"role":"user","content":"Well?"}]}"#,
    ),
    (
        "anthropic-messages/thinking-when-disabled",
        r#"{"thinking":{"type":"disabled"},"messages":[{"role":"user","content":"Time?"},
            {"role":"assistant","content":[{"type":"thinking","thinking":"Noon.","signature":"c2ln"},{"type":"text","text":"It is"}]}]}"#,
    ),
    (
        "anthropic-messages/final-text-trailing-space",
        r#"{"model":"claude-3-5-haiku-20241022","messages":[{"role":"user","content":"Time?"},{"role":"assistant","content":"It is "}]}"#,
    ),
    (
        "anthropic-messages/prefill-not-supported",
        r#"{"model":"claude-opus-4-6","messages":[{"role":"user","content":"Time?"},{"role":"assistant","content":"It is"}]}"#,
    ),
    ("openai-chat/request-shape", r#"{"messages":[{"role":"user","content":12}]}"#),
    ("openai-chat/request-shape", r#"{"model":"gpt-5"}"#),
    ("openai-chat/messages-empty", r#"{"messages":[]}"#),
    ("openai-chat/unknown-role", r#"{"messages":[{"role":"human","content":"Time?"}]}"#),
    (
        "openai-chat/tool-calls-empty",
        r#"{"messages":[{"role":"user","content":"Time?"},{"role":"assistant","content":"Noon.","tool_calls":[]}]}"#,
    ),
    (
        "openai-chat/tool-call-shape",
        r#"{"messages":[{"role":"assistant","tool_calls":[{"id":"t1","type":"function","function":{"name":"clock","arguments":{}}}]},
            {"role":"tool","tool_call_id":"t1","content":"noon"}]}"#,
    ),
    (
        "openai-chat/call-id-too-long",
        r#"{"messages":[{"role":"assistant","tool_calls":[{"type":"function","function":{"name":"clock","arguments":"{}"},
            "id":"t1234567890123456789012345678901234567890123456789012345678901234"}]},
            {"role":"tool","tool_call_id":"t1234567890123456789012345678901234567890123456789012345678901234","content":"noon"}]}"#,
    ),
    (
        "openai-chat/function-name-pattern",
        r#"{"messages":[{"role":"assistant","tool_calls":[{"id":"t1","type":"function","function":{"name":"wall clock","arguments":"{}"}}]},
            {"role":"tool","tool_call_id":"t1","content":"noon"}]}"#,
    ),
    (
        "openai-chat/tool-call-id-required",
        r#"{"messages":[{"role":"assistant","tool_calls":[{"id":"t1","type":"function","function":{"name":"clock","arguments":"{}"}}]},
            {"role":"tool","content":"noon"}]}"#,
    ),
    (
        "openai-chat/tool-message-orphan",
        r#"{"messages":[{"role":"user","content":"Time?"},{"role":"assistant","content":"A moment."},
            {"role":"tool","tool_call_id":"t1","content":"noon"}]}"#,
    ),
    (
        "openai-chat/tool-message-unknown-id",
        r#"{"messages":[{"role":"assistant","tool_calls":[{"id":"t1","type":"function","function":{"name":"clock","arguments":"{}"}}]},
            {"role":"tool","tool_call_id":"t2","content":"noon"},{"role":"tool","tool_call_id":"t1","content":"noon"}]}"#,
    ),
    (
        "openai-chat/tool-message-missing",
        r#"{"messages":[{"role":"assistant","tool_calls":[{"id":"t1","type":"function","function":{"name":"clock","arguments":"{}"}},
                {"id":"t2","type":"function","function":{"name":"calendar","arguments":"{}"}}]},
            {"role":"tool","tool_call_id":"t2","content":"May"},{"role":"user","content":"And the time?"},
            {"role":"tool","tool_call_id":"t1","content":"noon"}]}"#,
    ),
    (
        "openai-chat/tool-message-duplicate",
        r#"{"messages":[{"role":"assistant","tool_calls":[{"id":"t1","type":"function","function":{"name":"clock","arguments":"{}"}}]},
            {"role":"tool","tool_call_id":"t1","content":"stopped"},{"role":"tool","tool_call_id":"t1","content":"noon"}]}"#,
    ),
    (
        "openai-chat/content-null",
        r#"{"messages":[{"role":"user","content":"Time?"},{"role":"assistant","content":null},{"role":"user","content":"Well?"}]}"#,
    ),
    (
        "openai-responses/tool-output-missing",
        r#"{"input":[{"role":"user","content":"Time?"},{"type":"function_call","call_id":"t1","name":"clock","arguments":"{}"},
            {"role":"user","content":"Well?"}]}"#,
    ),
    (
        "openai-responses/tool-output-orphan",
        r#"{"input":[{"role":"user","content":"Time?"},{"type":"function_call_output","call_id":"t1","output":"noon"}]}"#,
    ),
    (
        "gemini/response-count",
        r#"{"contents":[{"role":"user","parts":[{"text":"Time?"}]},
            {"role":"model","parts":[{"functionCall":{"name":"clock","args":{}}},{"functionCall":{"name":"clock","args":{}}}]},
            {"role":"user","parts":[{"functionResponse":{"name":"clock","response":{"output":"noon"}}}]}]}"#,
    ),
    (
        "gemini/response-not-after-call",
        r#"{"contents":[{"role":"user","parts":[{"functionResponse":{"name":"clock","response":{"output":"noon"}}}]}]}"#,
    ),
    (
        "mistral/call-and-result-counts",
        r#"{"messages":[{"role":"user","content":"Time?"},
            {"role":"assistant","content":"","tool_calls":[{"id":"abcdefghi","function":{"name":"clock","arguments":"{}"}}]},
            {"role":"user","content":"Well?"}]}"#,
    ),
    ("bedrock-converse/request-shape", r#"{"messages":[{"role":"user","content":"Time?"}]}"#),
    (
        "bedrock-converse/document-without-text",
        r#"{"modelId":"anthropic.claude-haiku-4-5-20251001-v1:0",
            "messages":[{"role":"user","content":[{"document":{"format":"pdf","name":"a","source":{"bytes":"AAAA"}}}]}]}"#,
    ),
];
