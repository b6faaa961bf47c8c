mod curl;

use serde_json::json;

use super::*;
use crate::check::{Start, check_recorded};

const BODY: &str = r#"{"model":"m","messages":[{"role":"user","content":"Hi, it's me."}]}"#;

fn found(text: &str) -> Vec<(String, String, Value)> {
    let of = |pasted: Pasted| {
        let Pasted { exchange, place } = pasted;
        (place, exchange.host + &exchange.path, serde_json::from_slice(&exchange.request).unwrap())
    };
    pasted(text.as_bytes(), &CheckOptions::default()).into_iter().map(of).collect()
}

fn body() -> Value {
    serde_json::from_str(BODY).unwrap()
}

#[test]
fn the_messages_around_one_that_cannot_be_read_are_not_judged() {
    let printed = "MESSAGES [\n  { role: 'user', content: 'What is it famous for?' },\n  { role: 'assistant', tool_calls: [ [Object] ] },\n  \
                   { role: 'tool', tool_call_id: 'call_1', content: 'x' },\n  { role: 'assistant', content: 'It is.' }\n]\n";
    for text in [printed.to_owned(), format!("{printed}and later\n{printed}")] {
        let Searched { found: read, unread, .. } = searched(text.as_bytes(), &CheckOptions::default());
        assert!(read.is_empty() && unread[0].why == Unreadable::Inspected, "{read:?} {unread:?}");
    }
    let quotes = r#"[{"role":"user","content":"5"},{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{"n":"5"}"}}]},{"role":"tool","tool_call_id":"c","content":"x"}]"#;
    let Searched { found: read, unread, .. } = searched(quotes.as_bytes(), &CheckOptions::default());
    assert!(read.is_empty() && unread[0].why == Unreadable::Unescaped, "{read:?} {unread:?}");
}

#[test]
fn the_messages_of_autogen_and_llama_index_are_read_as_python_prints_them() {
    let autogen = "[UserMessage(content='Rain?', source='user', type='UserMessage'), AssistantMessage(content=[FunctionCall(id='c', arguments='{}', \
                   name='w')], thought=None, source='a', type='AssistantMessage'), FunctionExecutionResultMessage(content=[FunctionExecutionResult(\
                   content='yes', name='w', call_id='c', is_error=False)], type='FunctionExecutionResultMessage')]";
    let llama = "[ChatMessage(role=<MessageRole.USER: 'user'>, content='Rain?', additional_kwargs={}), ChatMessage(role=<MessageRole.ASSISTANT: \
                 'assistant'>, content=None, additional_kwargs={'tool_calls': [ChatCompletionMessageToolCall(id='c', function=Function(arguments='{}', \
                 name='w'), type='function')]}), ChatMessage(role=<MessageRole.TOOL: 'tool'>, content=\"yes\", additional_kwargs={'tool_call_id': 'c'})]";
    let blocks = "[ChatMessage(role=<MessageRole.USER: 'user'>, additional_kwargs={}, blocks=[TextBlock(block_type='text', text='Rain?')]), \
                  ChatMessage(role=<MessageRole.ASSISTANT: 'assistant'>, additional_kwargs={}, blocks=[ToolCallBlock(block_type='tool_call', \
                  tool_call_id='c', tool_name='w', tool_kwargs={})]), ChatMessage(role=<MessageRole.TOOL: 'tool'>, additional_kwargs={'tool_call_id': \
                  'c'}, blocks=[TextBlock(block_type='text', text='yes')])]";
    let span = json!({ "attributes": json!({ "llm": { "model_name": "gpt-4o", "input_messages": [
        { "message": { "role": "user", "content": "Rain?" } },
        { "message": { "role": "assistant", "tool_calls": [{ "tool_call": { "id": "c", "function": { "name": "w", "arguments": "{}" } } }] } },
        { "message": { "role": "tool", "content": "yes", "tool_call_id": "c" } },
    ] } }).to_string() });
    let input = json!({ "input": { "value": json!({ "messages": llama.trim_matches(['[', ']']).split(", ChatMessage").enumerate()
        .map(|(n, text)| if n == 0 { text.to_owned() } else { format!("ChatMessage{text}") }).collect::<Vec<_>>() }).to_string() } });
    for text in [autogen.to_owned(), llama.to_owned(), blocks.to_owned(), span.to_string(), input.to_string()]
    {
        let found = found(&text);
        assert_eq!(found.len(), 1, "{text}: {found:?}");
        let messages = &found[0].2["messages"];
        assert_eq!(messages[1]["tool_calls"][0]["function"]["name"], "w", "{text}: {messages}");
        assert_eq!(
            (&messages[2]["tool_call_id"], &messages[2]["content"]),
            (&json!("c"), &json!("yes")),
            "{text}: {messages}"
        );
    }
}

#[test]
fn json_inside_prose_is_found_with_its_line() {
    for (text, line) in [
        (format!("12:00 DEBUG sending request {BODY} attempt=1"), 1),
        (format!("# Bug\n\nIt fails [sometimes]:\n```json\n{BODY}\n```\nWhy?"), 5),
    ] {
        assert_eq!(found(&text), [(format!("line {line}"), String::new(), body())], "{text}");
        assert_eq!(pasted(text.as_bytes(), &CheckOptions::default())[0].exchange.line, line);
    }
}

#[test]
fn a_request_in_an_export_is_found_at_its_pointer() {
    for (export, pointer, address) in [
        (
            json!({ "request": { "url": "https://a.example/v1/messages", "body": body() } }),
            "/request/body",
            "a.example/v1/messages",
        ),
        (json!({ "request": { "body": BODY } }), "/request/body", ""),
        (json!({ "custom_id": "1", "url": "/v1/messages", "body": body() }), "/body", "/v1/messages"),
        (json!({ "observations": [{ "input": body() }] }), "/observations/0/input", ""),
        (json!([{ "a/b": { "messages": body()["messages"] } }]), "/0/a~1b", ""),
    ] {
        let found = found(&export.to_string());
        assert_eq!(found, [(pointer.to_owned(), address.to_owned(), found[0].2.clone())], "{export}");
    }
}

fn chat(found: &str) -> Value {
    serde_json::from_slice(&pasted(found.as_bytes(), &CheckOptions::default())[0].exchange.request).unwrap()
}

#[test]
fn literals_and_calls_in_a_text_are_read() {
    let python = "import openai\nclient.chat.completions.create(model='gpt-5', messages=[{'role': 'user', 'content': None}], tools=tools)\n";
    assert_eq!(
        found(python),
        [(
            "line 2, where 1 value is left out; nothing that depends on it is reported".to_owned(),
            String::new(),
            json!({ "model": "gpt-5", "messages": [{ "role": "user", "content": null }] })
        )]
    );
    for (text, place, address) in [
        (
            "DEBUG Request options: {'method': 'post', 'url': '/chat/completions', 'json_data': {'messages': [{'role': 'user', 'content': 'Hi', }]}}",
            "/json_data of the value in line 1",
            "/chat/completions",
        ),
        (
            "await fetch(\"https://api.openai.com/v1/chat/completions\", { method: 'POST', body: JSON.stringify({ messages: [{ role: 'user', content: 'Hi' }] }) })",
            "/body of the value in line 1",
            "api.openai.com/v1/chat/completions",
        ),
        (
            "level=debug body=\"{\\\"messages\\\":[{\\\"role\\\":\\\"user\\\",\\\"content\\\":\\\"Hi\\\"}]}\" n=1",
            "line 1",
            "",
        ),
    ] {
        let messages = json!({ "messages": [{ "role": "user", "content": "Hi" }] });
        assert_eq!(found(text), [(place.to_owned(), address.to_owned(), messages)], "{text}");
    }
}

/// A user's message, a call and its result, as OpenAI's body has them.
fn pair() -> Value {
    json!({ "model": "gpt-5", "messages": [
        { "role": "user", "content": "Rain?" },
        { "role": "assistant", "content": null, "tool_calls": [
            { "id": "c", "type": "function", "function": { "name": "w", "arguments": "{}" } }
        ] },
        { "role": "tool", "tool_call_id": "c", "content": "no" },
    ] })
}

fn value(name: &str, value: &str) -> Value {
    json!({ "key": name, "value": { "stringValue": value } })
}

#[test]
fn the_messages_of_traces_are_written_as_a_request() {
    let parts = json!([
        { "role": "user", "parts": [{ "type": "text", "content": "Rain?" }] },
        { "role": "assistant", "parts": [{ "type": "tool_call", "id": "c", "name": "w", "arguments": {} }] },
        { "role": "tool", "parts": [{ "type": "tool_call_response", "id": "c", "response": "no" }] },
    ]);
    let model = value("gen_ai.request.model", "gpt-5");
    let langchain = json!([[
        { "lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "HumanMessage"], "kwargs": { "content": "Rain?" } },
        { "lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "AIMessage"], "kwargs": {
            "content": "", "tool_calls": [{ "name": "w", "args": {}, "id": "c", "type": "tool_call" }] } },
        { "lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "ToolMessage"], "kwargs": {
            "content": "no", "tool_call_id": "c" } },
    ]]);
    let ai_sdk = json!([
        { "role": "user", "content": [{ "type": "text", "text": "Rain?" }] },
        { "role": "assistant", "content": [{ "type": "tool-call", "toolCallId": "c", "toolName": "w", "input": {} }] },
        { "role": "tool", "content": [{ "type": "tool-result", "toolCallId": "c", "toolName": "w", "output": { "type": "text", "value": "no" } }] },
    ]);
    for export in [
        json!({ "resourceSpans": [{ "scopeSpans": [{ "spans": [{ "attributes": [
            model, value("gen_ai.input.messages", &parts.to_string())] }] }] }] }),
        json!({ "attributes": { "gen_ai.request.model": "gpt-5", "gen_ai.input.messages": parts } }),
        json!({ "attributes": [
            model,
            value("gen_ai.prompt.0.role", "user"), value("gen_ai.prompt.0.content", "Rain?"),
            value("gen_ai.prompt.1.role", "assistant"), value("gen_ai.prompt.1.tool_calls.0.id", "c"),
            value("gen_ai.prompt.1.tool_calls.0.name", "w"), value("gen_ai.prompt.1.tool_calls.0.arguments", "{}"),
            value("gen_ai.prompt.2.role", "tool"), value("gen_ai.prompt.2.content", "no"),
            value("gen_ai.prompt.2.tool_call_id", "c"),
        ] }),
        json!({ "attributes": {
            "llm.model_name": "gpt-5",
            "llm.input_messages.0.message.role": "user", "llm.input_messages.0.message.content": "Rain?",
            "llm.input_messages.1.message.role": "assistant",
            "llm.input_messages.1.message.tool_calls.0.tool_call.id": "c",
            "llm.input_messages.1.message.tool_calls.0.tool_call.function.name": "w",
            "llm.input_messages.1.message.tool_calls.0.tool_call.function.arguments": "{}",
            "llm.input_messages.2.message.role": "tool", "llm.input_messages.2.message.content": "no",
            "llm.input_messages.2.message.tool_call_id": "c",
        } }),
        json!({ "attributes": [model], "events": [
            { "name": "gen_ai.user.message", "attributes": [value("content", "Rain?")] },
            { "name": "gen_ai.assistant.message", "attributes": [value("tool_calls",
                r#"[{"id":"c","type":"function","function":{"name":"w","arguments":"{}"}}]"#)] },
            { "name": "gen_ai.tool.message", "attributes": [value("id", "c"), value("content", "no")] },
        ] }),
        json!({ "inputs": { "messages": langchain }, "extra": { "metadata": { "ls_model_name": "gpt-5" } } }),
        json!({ "metadata": { "model": "gpt-5" }, "input": ai_sdk }),
    ] {
        let mut request = chat(&export.to_string());
        request.as_object_mut().unwrap().remove("tools");
        assert_eq!(request, pair(), "{export}");
    }
}

#[test]
fn a_list_that_begins_with_the_newest_item_is_read_backwards() {
    let call = json!({ "type": "function_call", "call_id": "c", "name": "w", "arguments": "{}" });
    let output = json!({ "type": "function_call_output", "call_id": "c", "output": "no" });
    let list = |data: Value| json!({ "object": "list", "data": data }).to_string();
    for data in [json!([output, call]), json!([call, output])] {
        assert_eq!(chat(&list(data)), json!([call, output]));
    }
}

#[test]
fn the_model_around_a_request_is_kept() {
    let export = json!({ "metadata": { "model": "gpt-5" }, "input": body()["messages"] }).to_string();
    assert_eq!(
        pasted(export.as_bytes(), &CheckOptions::default())[0].exchange.model.as_deref(),
        Some("gpt-5")
    );
}

#[test]
fn what_is_no_request_is_not_taken() {
    for text in
        ["", "no JSON", "{", "[[[[", r#"{"messages":[]}"#, r#"{"messages":["a"]}"#, r#"{"input":"Hi"}"#]
    {
        assert_eq!(found(text), [], "{text}");
    }
    for deep in ["[", "{\"a\":", "f(a=", "[{'a':", "{\\\"a\\\":", "\"[\\\""] {
        assert_eq!(found(&deep.repeat(100_000)), [], "{deep}");
    }
    assert_eq!(pasted(b"\xff\xfe{", &CheckOptions::default()), []);
}

#[test]
fn every_block_of_a_page_is_found_beside_a_command() {
    let page = format!(
        "```sh\ncurl https://api.example.com/v1/messages -d '{}'\n```\nAnd:\n```json\n{BODY}\n```\n```python\nx = {}\n```\n",
        BODY.replace('\'', "'\\''"),
        BODY.replace("it's", "it is"),
    );
    let places: Vec<String> = found(&page).into_iter().map(|(place, ..)| place).collect();
    assert_eq!(places, ["the curl command", "line 6", "line 9"]);
}

#[test]
fn a_command_of_the_aws_command_line_names_its_dialect_and_model() {
    for text in [
        "> aws bedrock-runtime converse --model-id amazon.nova-lite-v1:0 --messages '[{\"role\": \"user\", \"content\": [{\"text\": \"Hi\"}]}]'\n\nAn error occurred",
        "aws bedrock-runtime converse --region=us-east-1 \\\n  --cli-input-json '{\"modelId\":\"amazon.nova-lite-v1:0\",\"messages\":[{\"role\":\"user\",\"content\":[{\"text\":\"Hi\"}]}]}'",
    ] {
        let request = json!({ "messages": [{ "role": "user", "content": [{ "text": "Hi" }] }] });
        let address = "bedrock-runtime.us-east-1.amazonaws.com/model/amazon.nova-lite-v1:0/converse";
        assert_eq!(found(text), [("the aws command".to_owned(), address.to_owned(), request)], "{text}");
    }
}

#[test]
fn the_maps_of_elixir_ruby_and_php_are_read() {
    for text in [
        "%{\n  \"messages\" => [%{\"content\" => \"\", \"role\" => \"user\"}],\n  \"model\" => \"m\"\n}",
        "body = {:messages=>[{:content=>\"\", \"role\"=>\"user\"}], model: 'm'}",
        "$client->chat()->create(['messages' => [['content' => '', 'role' => 'user',]], 'model' => 'm',]);",
        "$body = array('messages' => array(array('content' => '', 'role' => 'user')), 'model' => 'm');",
    ] {
        let request = json!({ "messages": [{ "content": "", "role": "user" }], "model": "m" });
        assert_eq!(chat(text), request, "{text}");
    }
}

#[test]
fn the_messages_that_frameworks_print_are_written_as_a_request() {
    for text in [
        "[HumanMessage(content='Rain?', additional_kwargs={}), AIMessage(content='', tool_calls=[{'name': 'w', 'args': {}, 'id': 'c'}]), ToolMessage(content='no', tool_call_id='c')]",
        "human: HumanMessage(content='Rain?')\nai: AIMessage(content='', tool_calls=[{'name': 'w', 'args': {}, 'id': 'c'}])\ntool: ToolMessage(content='no', tool_call_id='c')\n",
        "[ModelRequest(parts=[UserPromptPart(content='Rain?', timestamp=datetime.datetime(2026, 1, 2))]), ModelResponse(parts=[ToolCallPart(tool_name='w', args='{}', tool_call_id='c')], usage=RequestUsage()), ModelRequest(parts=[ToolReturnPart(tool_name='w', content='no', tool_call_id='c')])]",
        "Msg 0: Msg(id='a', name='user', content='Rain?', role='user')\nMsg 1: Msg(id='b', content=[{'type': 'tool_use', 'id': 'c', 'name': 'w', 'input': {}}], role='assistant')\nMsg 2: Msg(id='d', name='system', content=[{'type': 'tool_result', 'id': 'c', 'name': 'w', 'output': [{'type': 'text', 'text': 'no'}]}], role='system')\n",
    ] {
        let request = chat(text);
        assert_eq!(request["messages"], pair()["messages"], "{text}");
    }
}

#[test]
fn messages_with_words_between_them_are_no_conversation() {
    let message = r#"{"role":"user","content":"Hi"}"#;
    assert_eq!(found(&format!("{message}\n{message}\n")).len(), 1);
    let words =
        "This message is accepted, and the next one is not, which I cannot explain to myself or to others.";
    assert_eq!(found(&format!("{message}\n{words}\n{message}\n")), []);
    assert_eq!(found(&format!("messages: [\n{message},\n...\n{message}\n]")), []);
}

#[test]
fn what_cannot_be_read_is_reported_with_its_line_and_reason() {
    for (text, line, why) in [
        // https://github.com/openops-cloud/openops/pull/1205
        (
            "const messages = [\n  { role: 'user', content: 'Hi' },\n  { role: 'tool', content: [...] }\n];",
            3,
            Unreadable::LeftOut,
        ),
        (
            "curl https://h/v1/x -d '{\n\"tools\":[...],\n\"messages\":[{\"role\":\"user\"}}'",
            2,
            Unreadable::LeftOut,
        ),
        ("body: {\"messages\": [{\"role\": \"user\", \"content\": \"Hi", 1, Unreadable::Cut),
        ("x = {'messages': [{'role': 'user', 'content': a + b}]}", 1, Unreadable::Foreign),
    ] {
        let Searched { found: read, unread, .. } = searched(text.as_bytes(), &CheckOptions::default());
        assert_eq!((read.len(), unread), (0, vec![Unread { line, why }]), "{text}");
    }
}

#[test]
fn messages_in_yaml_are_read() {
    let list = "- role: system\n  content: Be brief.\n- role: user\n  content: 'Rain in {{town}}?'\n";
    let [system, user] = [("system", "Be brief."), ("user", "Rain in {{town}}?")]
        .map(|(role, content)| json!({ "role": role, "content": content }));
    assert_eq!(found(list), [("line 1".to_owned(), String::new(), json!([system, user]))]);
    let indented = list.replace('\n', "\n      ");
    for config in [
        format!(
            "description: A test\nprompts:\n  - messages:\n      {indented}\nproviders: [openai:gpt-5]\n"
        ),
        format!("prompts:\n  - |\n    {}\n", json!({ "messages": [system, user] })),
    ] {
        let messages: Vec<Value> =
            found(&config).into_iter().map(|(.., request)| request["messages"].clone()).collect();
        assert_eq!(messages, [json!([system, user])], "{config}");
    }
    assert_eq!(found("role: admin\nmessages: none\n"), []);
}

/// The requests of a text for the provider at a host.
fn sent_to(host: &str, text: &str) -> Vec<Pasted> {
    let address = Address { host: host.to_owned(), path: String::new() };
    pasted(text.as_bytes(), &CheckOptions { address, ..CheckOptions::default() })
}

const BEDROCK: &str = "bedrock-runtime.us-east-1.amazonaws.com";

#[test]
fn the_messages_of_a_framework_are_written_for_the_provider_that_is_named() {
    let langchain = "[\n HumanMessage(content='Rain?'),\n AIMessage(content='', tool_calls=[{'name': 'w', 'args': {'x': 1}, 'id': 'c', 'type': 'tool_call'}]),\n ToolMessage(content='no', tool_call_id='c')]";
    for (host, pointer, expected) in [
        ("api.anthropic.com", "/messages/1/content/0/type", json!("tool_use")),
        ("api.openai.com", "/messages/2/role", json!("tool")),
        (BEDROCK, "/messages/2/content/0/toolResult/toolUseId", json!("c")),
        ("generativelanguage.googleapis.com", "/contents/1/parts/0/functionCall/args/x", json!(1)),
        ("openrouter.ai", "/messages/2/role", json!("tool")),
        ("", "/messages/2/role", json!("tool")),
    ] {
        let found = sent_to(host, langchain);
        let body: Value = serde_json::from_slice(&found[0].exchange.request).unwrap();
        assert_eq!(body.pointer(pointer), Some(&expected), "{host}: {body}");
    }
    let signed = chat(&format!("llm = ChatGoogleGenerativeAI(model='gemini-3-pro')\nmessages = {langchain}"));
    assert_eq!(signed["contents"][1]["parts"][0]["thoughtSignature"], "skip_thought_signature_validator");
    let two = format!("llm = ChatOpenAI() if cheap else ChatAnthropic()\nmessages = {langchain}");
    assert_eq!(chat(&two)["messages"][2]["role"], "tool");
}

#[test]
fn results_inside_a_message_of_the_assistant_follow_their_call_or_are_not_sent() {
    let list = |executed: bool| {
        let call = json!({ "type": "tool-call", "toolCallId": "c", "toolName": "w", "input": {}, "providerExecuted": executed });
        let result = json!({ "type": "tool-result", "toolCallId": "c", "toolName": "w", "output": { "type": "json", "value": 1 } });
        let text = json!({ "type": "text", "text": "Dry." });
        format!(
            "Prompt:\n{}\n",
            json!([{ "role": "user", "content": "Rain?" }, { "role": "assistant", "content": [call, result, text] }])
        )
    };
    let roles = |found: &Pasted| -> Vec<String> {
        let body: Value = serde_json::from_slice(&found.exchange.request).unwrap();
        let messages = body["messages"].as_array().unwrap();
        messages.iter().map(|message| message["role"].as_str().unwrap().to_owned()).collect()
    };
    for (host, is_executed, expected, is_lost) in [
        ("", true, &["user", "assistant", "tool", "assistant"][..], false),
        ("", false, &["user", "assistant", "user"], true),
        (BEDROCK, true, &["user", "assistant", "user"], true),
        ("api.anthropic.com", true, &["user", "assistant", "user", "assistant"], false),
    ] {
        let found = sent_to(host, &list(is_executed));
        assert_eq!(roles(&found[0]), expected, "{host} {is_executed}");
        assert_eq!(found[0].place.contains("the AI SDK does not send"), is_lost, "{}", found[0].place);
    }
}

/// The rules that a text breaks for these options, and the places of its requests.
fn broken(text: &str, options: &CheckOptions) -> (Vec<&'static str>, Vec<String>) {
    let start = Start { line: 1, offset: 0 };
    let (mut rules, mut places) = (Vec::new(), Vec::new());
    for Pasted { exchange, place } in pasted(text.as_bytes(), options) {
        let checked = check_recorded(&exchange, start, options).unwrap();
        rules.extend(checked.findings.iter().map(|finding| finding.rule.id));
        places.push(place);
    }
    (rules, places)
}

fn at(host: &str) -> CheckOptions {
    CheckOptions {
        address: Address { host: host.to_owned(), path: String::new() },
        ..CheckOptions::default()
    }
}

#[test]
fn what_depends_on_a_value_that_is_left_out_is_not_reported() {
    for (host, text) in [
        (
            "api.anthropic.com",
            "client.messages.create(model=MODEL, max_tokens=99, tools=tools, messages=[\n {'role': 'user', 'content': question},\n {'role': 'assistant', 'content': [thinking, call]},\n {'role': 'user', 'content': [{'type': 'tool_result', 'tool_use_id': call.id, 'content': 'x'}]}])",
        ),
        (
            "api.anthropic.com",
            "body = {'model': 'claude-opus-4-5', 'max_tokens': 9, 'messages': [*history, {'role': 'user', 'content': [{'type': 'tool_result', 'tool_use_id': 'toolu_1', 'content': 'x'}]}]}",
        ),
        (
            "api.openai.com",
            "const body = { model, messages: [{ role: 'user', content: `a` }, { role: 'assistant', tool_calls: response.tool_calls }, { role: 'tool', tool_call_id: id, content }] };",
        ),
        (
            BEDROCK,
            "```json\n{\"messages\": [{\"role\": \"user\", \"content\": [{\"toolResult\": {..., \"toolUseId\": \"t1\"}}]}]}\n```",
        ),
    ] {
        let (rules, places) = broken(text, &at(host));
        let rules: Vec<&str> =
            rules.into_iter().filter(|rule| !rule.ends_with("tool-result-orphan")).collect();
        assert!(
            !places.is_empty() && places[0].contains("left out; nothing that depends on"),
            "{text}: {places:?}"
        );
        assert_eq!(rules, [""; 0], "{text}");
    }
    // The rest is judged.
    let text = "create(model=m, messages=[{'role': 'user', 'content': q}, {'role': 'assistant', 'tool_calls': [{'id': 'c', 'type': 'function', 'function': {'name': 'w', 'arguments': json.dumps(a)}}]}, {'role': 'user', 'content': q}])";
    assert_eq!(broken(text, &at("api.openai.com")).0, ["openai-chat/tool-message-missing"]);
}

#[test]
fn an_excerpt_is_judged_without_what_it_does_not_show() {
    let call = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"w","arguments":"{}"}}]}"#;
    let result = r#"{"role":"tool","tool_call_id":"c","content":"no"}"#;
    let user = r#"{"role":"user","content":"Why?"}"#;
    for (host, text, expected) in [
        ("api.openai.com", format!("```json\n{call}\n```"), &[][..]),
        ("api.openai.com", result.to_owned(), &[]),
        ("api.openai.com", format!("{result},\n{user}"), &[]),
        (
            "api.openai.com",
            format!("The call:\n{call},\n{user},\n{result}\n"),
            &["openai-chat/tool-message-orphan", "openai-chat/tool-message-missing"],
        ),
        ("api.mistral.ai", format!("{result},\n{user}"), &["mistral/call-id-form", "mistral/role-order"]),
    ] {
        let (mut rules, places) = broken(&text, &at(host));
        rules.sort_unstable();
        let mut expected = expected.to_vec();
        expected.sort_unstable();
        assert!(places[0].contains("an excerpt of"), "{places:?}");
        assert_eq!(rules, expected, "{text}");
    }
    let block = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"x"}]}"#;
    assert_eq!(broken(block, &at("api.anthropic.com")).0, [""; 0]);
    let stored = r#"{"role":"assistant","provider":"x","content":[{"type":"thinking","thinking":"a"},{"type":"tool_use","id":"t","name":"w","input":{}}]}"#;
    assert_eq!(found(stored), [], "a product's message");
    let cut = format!("{{\"messages\":[{call},{user},{result}");
    assert_eq!(found(&cut), [], "the messages of a request that is cut");
    // A message that does not show its dialect is left.
    assert_eq!(found(user), []);
}

#[test]
fn messages_in_the_lines_of_a_log_are_one_conversation() {
    let prefix =
        "2026/11/30 10:00:00 client.go:61: [INFO] plugin example/client:0.1@d2f84b9c7a: instance 01 log:";
    let messages = pair()["messages"].as_array().unwrap().clone();
    let lines: String =
        messages.iter().enumerate().map(|(n, message)| format!("{prefix}   [{n}] {message}\n")).collect();
    let found = found(&format!("{prefix} Messages (3):\n{lines}{prefix} Error code: 400\n"));
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].2, pair()["messages"]);
    let contents = "Contents:\n{\"parts\":[{\"text\":\"Rain?\"}],\"role\":\"user\"}\n{\"parts\":[{\"function_call\":{\"name\":\"w\",\"args\":{}}}],\"role\":\"model\"}\n-----\n";
    assert_eq!(chat(contents)[1]["role"], "model");
}

#[test]
fn the_gutter_of_a_traceback_is_no_part_of_the_program() {
    let text = "Cell In[2], line 1\n----> 1 client.chat.completions.create(\n      2     model=\"gpt-5\",\n      3     messages=[\n      4         {\"role\": \"user\", \"content\": \"Hi\"}\n      5     ])\n\nFile x.py:7, in create(...)\n      6 def create():\n----> 7     raise Error()\n";
    let linked = text.replacen("> 1 ", "> [1](vscode-notebook-cell:?n=1&line=1) ", 1);
    for text in [text, &linked] {
        assert_eq!(
            chat(text),
            json!({ "model": "gpt-5", "messages": [{ "role": "user", "content": "Hi" }] })
        );
    }
}

#[test]
fn a_value_that_cannot_be_read_does_not_hide_the_others() {
    let result = r#"{"role":"tool","tool_call_id":"c","content":"no"}"#;
    let text = format!(
        "[{{\"role\": \"assistant\", \"tool_calls\": ...}}]\n\nand then:\n{result},\n{{\"role\":\"user\",\"content\":\"x\"}}\n"
    );
    let Searched { found: read, unread, .. } = searched(text.as_bytes(), &CheckOptions::default());
    assert_eq!((read.len(), unread.len()), (1, 1), "{read:?} {unread:?}");
}

#[test]
fn the_constructors_and_printouts_of_frameworks_are_read() {
    for text in [
        "messages = [\n  HumanMessage(\"Rain?\"),\n  AIMessage(\"\", tool_calls=[{\"name\": \"w\", \"args\": {}, \"id\": \"c\"}]),\n  ToolMessage(\"no\", tool_call_id=\"c\"),\n]\ntrim(messages)\n",
        "[\n  HumanMessage {\n    \"content\": \"Rain?\",\n    \"additional_kwargs\": {}\n  },\n  AIMessage {\n    \"content\": \"\",\n    \"tool_calls\": [\n      {\n        \"name\": \"w\",\n        \"args\": {},\n        \"id\": \"c\"\n      }\n    ]\n  },\n  ToolMessage {\n    \"content\": \"no\",\n    \"tool_call_id\": \"c\"\n  }\n]\n",
        "================================ Human Message =================================\n\nRain?\n================================== Ai Message ==================================\nTool Calls:\n  w (c)\n Call ID: c\n  Args:\n================================= Tool Message =================================\nName: w\n\nno\n",
        "[#<RubyLLM::Message:0x0001 @content=#<RubyLLM::Content:0x2 @attachments=[], @text=\"Rain?\">, @role=:user, @tool_call_id=nil, @tool_calls=nil>,\n #<RubyLLM::Message:0x3 @content=\"\", @role=:assistant, @tool_call_id=nil, @tool_calls={\"c\"=>#<RubyLLM::ToolCall:0x4 @arguments={}, @id=\"c\", @name=\"w\">}>,\n #<RubyLLM::Message:0x5 @content=\"no\", @role=:tool, @tool_call_id=\"c\", @tool_calls=nil>]\n",
        "$messages = [\n  new UserMessage('Rain?'),\n  new AssistantMessage('', toolCalls: [new ToolCall(id: 'c', name: 'w', arguments: '{}')]),\n  new ToolResultMessage([new ToolResult(toolCallId: 'c', toolName: 'w', args: [], result: 'no')]),\n];\n",
        "ctx = ChatContext([\n  ChatMessage(role=\"user\", content=[\"Rain?\"]),\n  FunctionCall(call_id=\"c\", name=\"w\", arguments=\"{}\"),\n  FunctionCallOutput(call_id=\"c\", name=\"w\", output=\"no\", is_error=False),\n])\n",
        "context = Context.new([\n  Context.user(\"Rain?\"),\n  %Message{role: :assistant, content: nil, tool_calls: [%{id: \"c\", type: \"function\", function: %{name: \"w\", arguments: \"{}\"}}]},\n  %Message{role: :tool, tool_call_id: \"c\", content: \"no\"}\n])\n",
    ] {
        let found = found(text);
        assert_eq!(found.len(), 1, "{text}");
        let request = &found[0].2;
        let messages = request.get("messages").unwrap_or(request);
        assert_eq!(*messages, pair()["messages"], "{text}");
    }
    let swift = "[\n  Kit.Item(role: \"user\", content: [Kit.Part.text(Kit.Text(text: \"it\\'s\", type: \"input_text\"))]),\n  Kit.Item(role: \"assistant\", content: [Kit.Part.text(Kit.Text(text: \"b\", type: \"input_text\"))])\n]\n";
    assert_eq!(chat(swift)[0]["content"], json!([{ "text": "it's", "type": "input_text" }]));
    // Messages of LiveKit that follow one another without brackets.
    let items = "ChatMessage(id='item_1', type='message', role='user', content=['Rain?'], interrupted=False), FunctionCall(id='item_2', type='function_call', call_id='c', arguments='{}', name='w'), FunctionCallOutput(id='item_3', name='w', type='function_call_output', call_id='c', output='no')";
    let found = found(items);
    assert!(found[0].0.contains("an excerpt of 3 messages"), "{found:?}");
}

#[test]
fn the_model_that_replies_name_is_that_of_the_request() {
    let text = "[HumanMessage(content='Rain?'), AIMessage(content='No.', response_metadata={'model_name': 'llama-3.3-70b-versatile', \
                'model_provider': 'groq'})]";
    let found = found(text);
    assert_eq!(found[0].2["model"], "llama-3.3-70b-versatile", "{found:?}");
}
