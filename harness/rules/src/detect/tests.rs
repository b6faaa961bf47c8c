use super::*;

fn named(body: &str) -> Option<&'static str> {
    clues(body.as_bytes())?.dialect
}

#[test]
fn blocks_roles_and_fields_identify_a_dialect() {
    let cases = [
        (
            ANTHROPIC,
            r#"[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"tool_use","id":"a"}]}]"#,
        ),
        (CHAT, r#"{"messages":[{"role":"tool","content":"42","tool_call_id":"call_1"}]}"#),
        (CHAT, r#"{"model":"llama-4","messages":[{"role":"system","content":"Be brief."}]}"#),
        (ANTHROPIC, r#"{"model":"claude-sonnet-5","messages":[{"role":"user","content":"hi"}]}"#),
        (
            ANTHROPIC,
            r#"{"messages":[{"content":"hi","role":"user"}],"system":[{"type":"text","text":"Be brief."}]}"#,
        ),
        (CHAT, r#"{"messages":[{"role":"user","content":"hi"}],"model":"anthropic/claude-sonnet-5"}"#),
        (RESPONSES, r#"{"model":"gpt-5","input":"hi","stream":false}"#),
        (RESPONSES, r#"{"model":"gpt-5","input":[{"role":"user","content":"hi"}]}"#),
        (RESPONSES, r#"[{"role":"user","content":"hi"},{"type":"function_call","call_id":"c"}]"#),
        (RESPONSES, r#"[{"role":"user","content":[{"type":"input_text","text":"hi"}]}]"#),
        (GEMINI, r#"{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}"#),
        (GEMINI, r#"{"contents":[{"parts":[{"text":"hi"}]}]}"#),
        (GEMINI, r#"{"contents":[{"role":"user","parts":[{"text":"hi"}]},{"role":"model"}]}"#),
        (GEMINI, r#"{"contents":[{"role":"user","parts":[]}],"generationConfig":{}}"#),
        (GEMINI, r#"[{"role":"user","parts":[{"text":"hi"}]}]"#),
        (BEDROCK, r#"{"messages":[{"role":"user","content":[{"text":"hi"}]}]}"#),
        (BEDROCK, r#"[{"role":"assistant","content":[{"toolUse":{"toolUseId":"a"}}]}]"#),
        (BEDROCK, r#"{"messages":[],"toolConfig":{"tools":[]}}"#),
        (MISTRAL, r#"{"model":"mistral-large-latest","messages":[{"role":"user","content":"hi"}]}"#),
        (MISTRAL, r#"[{"role":"assistant","tool_calls":[{"id":"D681PevKs","function":{}}]}]"#),
        (
            CHAT,
            r#"[{"role":"assistant","tool_calls":[{"id":"call_a","function":{}},{"id":"D681PevKs","function":{}}]}]"#,
        ),
        (
            CHAT,
            r#"{"model":"gpt-5","messages":[{"role":"assistant","tool_calls":[{"id":"D681PevKs","function":{}}]}]}"#,
        ),
        // A framework's message in a request with a token limit is a mistake of the client.
        (
            ANTHROPIC,
            r#"{"model":"claude-opus-5","max_tokens":9,"messages":[{"role":"assistant","content":[{"type":"tool-call"}]}]}"#,
        ),
    ];
    for (dialect, body) in cases {
        assert_eq!(named(body), Some(dialect), "{body}");
        assert_eq!(detect(body.as_bytes()), Dialect::from_name(dialect), "{body}");
    }
}

#[test]
fn a_text_that_several_dialects_allow_stays_undecided() {
    let open = [
        r#"[{"role":"user","content":"hi"}]"#,
        r#"[{"role":"system","content":"Be brief."},{"role":"user","content":"hi"}]"#,
        r#"[{"role":"developer","content":"Be brief."}]"#,
        r#"[{"role":"user","content":[{"text":"hi"}]}]"#,
        r#"[{"role":"assistant","content":null}]"#,
        r#"{"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]}"#,
        r#"{"system":"Be brief.","messages":[{"role":"user","content":"hi"}]}"#,
        r#"{"model":"claude-sonnet-5","messages":[{"role":"system","content":"Be brief."}]}"#,
        r#"{"model":"text-embedding-3-small","input":["hi"],"encoding_format":"float"}"#,
        r#"{"model":"omni-moderation-latest","input":[{"type":"text","text":"hi"}]}"#,
        r#"{"model":"gpt-5","request":{"messages":[]}}"#,
        r#"{"contents":[]}"#,
        "null",
        "[",
        "",
    ];
    for body in open {
        assert_eq!(detect(body.as_bytes()), None, "{body}");
    }
}

/// Messages as frameworks store them: <https://ai.pydantic.dev/message-history/>,
/// <https://ai-sdk.dev/docs/reference/ai-sdk-core/model-message>,
/// <https://ai-sdk.dev/docs/ai-sdk-ui/chatbot>, <https://docs.ag-ui.com/concepts/messages>,
/// <https://a2a-protocol.org/latest/specification/>,
/// <https://docs.langchain.com/oss/python/langchain/messages>,
/// <https://github.com/ollama/ollama/blob/main/docs/api.md>.
#[test]
fn messages_stored_by_frameworks_match_no_dialect() {
    let foreign = [
        r#"[{"parts":[{"content":"hi","part_kind":"user-prompt"}],"kind":"request"}]"#,
        r#"{"messages":[{"parts":[{"tool_name":"f","args":{},"tool_call_id":"a","part_kind":"tool-call"}],"kind":"response"}]}"#,
        r#"[{"id":"1","role":"user","parts":[{"type":"text","text":"hi"}]}]"#,
        r#"{"contents":[{"role":"user","parts":[{"type":"text","text":"hi"}]}]}"#,
        r#"[{"role":"user","content":"hi"},{"role":"tool","content":[{"type":"tool-result","toolCallId":"a"}]}]"#,
        r#"{"model":"claude-opus-5","messages":[{"role":"assistant","content":[{"type":"tool-call","toolCallId":"a"}]}]}"#,
        r#"[{"id":"m","role":"assistant","toolCalls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","toolCallId":"a","content":"x"}]"#,
        r#"[{"role":"user","parts":[{"kind":"text","text":"hi"}],"messageId":"m"}]"#,
        r#"[{"role":"assistant","content":"","tool_calls":[{"name":"f","args":{},"id":"a","type":"tool_call"}]}]"#,
        r#"[{"type":"ai","content":"","tool_calls":[{"name":"f","args":{},"id":"a"}]}]"#,
        r#"[{"role":"assistant","content":"","tool_calls":[{"function":{"name":"f","arguments":{}}}]},{"role":"tool","tool_name":"f","content":"x"}]"#,
        r#"[{"type":"TOOL_CALL_START","toolCallId":"a"}]"#,
        r#"{"info":{},"messages":[{"info":{"role":"user"},"parts":[{"type":"text","text":"hi"}]}]}"#,
    ];
    for body in foreign {
        assert_eq!(named(body), None, "{body}");
    }
}

#[test]
fn signs_of_two_dialects_stay_undecided() {
    let call = r#"{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{}}]}"#;
    let result = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]}"#;
    assert_eq!(named(&format!("[{call},{result}]")), None);
    assert_eq!(
        named(&format!(r#"{{"messages":[{call}],"tools":[{{"name":"f","input_schema":{{}}}}]}}"#)),
        None
    );
}

#[test]
fn known_but_unsupported_apis_have_names() {
    for (body, name) in [
        (r#"{"model":"gemini-3-flash","input":"hi","store":false}"#, Some("Gemini Interactions")),
        (
            r#"{"agent":"deep-research","input":[{"role":"user","content":"hi"}]}"#,
            Some("Gemini Interactions"),
        ),
        (r#"{"agent_id":"ag_1","inputs":"hi"}"#, Some("Mistral Conversations")),
        (r#"{"items":[{"type":"message","role":"user","content":"hi"}]}"#, Some("OpenAI Conversations")),
        (
            r#"{"items":[{"id":"i","type":"message","role":"user","content":["hi"],"interrupted":false}]}"#,
            Some("LiveKit's ChatContext"),
        ),
        (r#"{"model":"gpt-5","input":"hi","store":false}"#, None),
        (r#"{"items":[{"type":"message"}]}"#, None),
        ("[", None),
    ] {
        assert_eq!(unspoken(body.as_bytes()), name, "{body}");
        assert!(name.is_none() || detect(body.as_bytes()).is_none(), "{body}");
    }
}

#[test]
fn the_last_of_repeated_lists_counts() {
    let body = r#"{"messages":[{"role":"tool","tool_call_id":"x"}],"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]}]}"#;
    assert_eq!(named(body), Some(ANTHROPIC));
}

#[test]
fn every_dialect_lists_its_signs() {
    for (name, signs) in DIALECT_SIGNS {
        assert!(Dialect::from_name(name).is_some() && !signs.is_empty(), "{name}");
    }
    for dialect in Dialect::ALL {
        let is_listed = DIALECT_SIGNS.iter().any(|(name, _)| *name == dialect.name());
        assert_eq!(is_listed, dialect.name() != "toy", "{dialect}: list its signs in `DIALECT_SIGNS`");
    }
}

#[test]
fn ids_of_nine_characters_are_those_of_mistral_only_with_a_capital() {
    let body = |id: &str| {
        let call = serde_json::json!({ "id": id, "type": "function", "function": { "name": "w", "arguments": "{}" } });
        serde_json::json!({ "messages": [
            { "role": "user", "content": "Rain?" },
            { "role": "assistant", "content": "", "tool_calls": [call] },
            { "role": "tool", "tool_call_id": id, "content": "no" },
        ] })
    };
    // Groq's, as in a public log, and Mistral's.
    for (id, dialect) in [("fcmtvpzhs", Dialect::OpenaiChat), ("D681PevKs", Dialect::Mistral)] {
        assert_eq!(detect(body(id).to_string().as_bytes()), Some(dialect), "{id}");
    }
}
