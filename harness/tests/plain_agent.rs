//! The driver with agents that speak ACP themselves: what they are given, and what their answers mean.
//!
//! The agents are shell scripts that print canned lines.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::path::Path;
use std::time::Duration;

use brickbat_drive::driver::manifest::FileSource;
use brickbat_drive::driver::{
    Adapter, DriverError, Launch, Manifest, PlainAgent, ProcessLimits, Session, SessionEvent, SessionSpec,
    ToolSpec,
};
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::plan::PlannedTool;
use brickbat_scenario::trace::TurnOutcome;
use serde_json::Value;

/// Sends nothing under `_meta.brickbat`; `$1` handles a prompt, with `$id` as the prompt's id.
const AGENT: &str = r#"
say() { printf '%s\n' "$1"; }
answer() { say '{"jsonrpc":"2.0","id":"'"$id"'",'"$1"'}'; }
stop() { answer '"result":{"stopReason":"'"$1"'"}'; }
while read -r line; do
    id=$(printf '%s' "$line" | sed 's/.*"id":"\([^"]*\)".*/\1/')
    case $line in
        *'"method":"initialize"'*)
            answer '"result":{"protocolVersion":1,"agentInfo":{"name":"Sh","version":"1.2.3"},"agentCapabilities":{"loadSession":true}}' ;;
        *'"method":"authenticate"'*) printf '%s' "$line" > "$ASKED.login"; eval "$LOGIN" ;;
        *'"method":"session/new"'*)
            printf '%s' "$line" > "$ASKED"; echo "$URL" >> "$ASKED.urls"; answer '"result":{"sessionId":"s"}' ;;
        *'"method":"session/load"'*) printf '%s' "$line" > "$ASKED"; answer '"result":{}' ;;
        *'"method":"session/cancel"'*) id=$turn; stop cancelled ;;
        *'"method":"session/prompt"'*) turn=$id; eval "$1" ;;
    esac
done
"#;

const SHEET: &str = r#"
name: sh
sdk: sh
description: A shell.
versions: [{ version: 1.2.3 }]
dialects: [anthropic-messages, openai-chat]
modes: [{ name: acp, description: The only one. }]
command: [sh, agent.sh]
acp:
  capabilities: { cancel: true, streaming: true, eagerTools: false, load: true }
  tools: "mcp__{server}__{tool}"
  words:
    anthropic-messages: { package: "@a/anthropic" }
    openai-chat: { package: "@a/openai" }
  config:
    - { path: conf/agent.toml, content: "url = '${baseUrl}/v1'\nuse = '${package}' # ${dialect} {x}\nkey = '${apiKey}'\n" }
"#;

/// Longer than a healthy shell needs on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

fn agent(sheet: &str) -> PlainAgent {
    let manifest = Manifest::parse("system.yaml", sheet, &FileSource::Folder("/".into())).unwrap().remove(0);
    PlainAgent {
        plain: manifest.acp.unwrap(),
        sdk: "sh".into(),
        version: "0.0.0".into(),
        modes: vec!["acp".into()],
        dialect: Dialect::AnthropicMessages,
        relay: "/opt/brickbat".into(),
    }
}

fn launch(folder: &Path, on_prompt: &str) -> Launch {
    let asked = folder.join("asked").to_str().unwrap().to_owned();
    Launch {
        program: "/bin/sh".into(),
        args: ["-c", AGENT, "agent", on_prompt].map(str::to_owned).to_vec(),
        folder: "/".into(),
        installed: None,
        env: [("ASKED".to_owned(), asked)].into(),
        supervisor: env!("CARGO_BIN_EXE_brickbat").into(),
        scratch: None,
        limits: ProcessLimits { start: PATIENCE, answer: PATIENCE, ..ProcessLimits::STANDARD },
    }
}

fn spec(folder: &Path, dialect: Dialect) -> SessionSpec {
    let tool = PlannedTool { deaf: true, ..PlannedTool::new("lookup", Vec::new()) };
    SessionSpec {
        mode: "acp".into(),
        tools: vec![ToolSpec::new(&tool, "http://127.0.0.1:9/p/7/gate/lookup".into())],
        ..SessionSpec::plain("http://127.0.0.1:9/p/7".into(), dialect, folder.to_owned())
    }
}

async fn session(folder: &Path, on_prompt: &str) -> Session {
    let adapter = Adapter::start_plain(&launch(folder, on_prompt), agent(SHEET)).await.unwrap();
    assert_eq!(adapter.about().version, "1.2.3", "the agent's own word counts");
    adapter.open(&spec(folder, Dialect::OpenaiChat)).await.unwrap()
}

async fn ending(on_prompt: &str) -> SessionEvent {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path(), on_prompt).await;
    session.prompt("hello").await.unwrap();
    session.next().await.unwrap()
}

fn raised(class: &str, text: &str) -> SessionEvent {
    SessionEvent::Ended(TurnOutcome::Raised { class: class.into(), text: text.into() })
}

#[tokio::test]
async fn the_harnesss_model_replaces_the_manifests() {
    let folder = tempfile::tempdir().unwrap();
    let sheet = SHEET.replace(r#"package: "@a/openai" "#, r#"package: "@a/openai", model: theirs "#);
    let agent = agent(&sheet.replace("use = '${package}'", "use = '${package} ${model}'"));
    for (model, expected) in [(None, "@a/openai theirs"), (Some("named"), "@a/openai named")] {
        let spec =
            SessionSpec { model: model.map(str::to_owned), ..spec(folder.path(), Dialect::OpenaiChat) };
        let adapter = Adapter::start_plain(&launch(folder.path(), ""), agent.clone()).await.unwrap();
        let _session = adapter.open(&spec).await.unwrap();
        let config = std::fs::read_to_string(folder.path().join("work/conf/agent.toml")).unwrap();
        assert!(config.contains(&format!("use = '{expected}'")), "{config}");
    }
}

#[tokio::test]
async fn each_session_gets_a_folder_its_config_and_the_tools() {
    let folder = tempfile::tempdir().unwrap();
    let _session = session(folder.path(), "").await;
    let work = folder.path().join("work");
    let config = std::fs::read_to_string(work.join("conf/agent.toml")).unwrap();
    let expected =
        "url = 'http://127.0.0.1:9/p/7/v1'\nuse = '@a/openai' # openai-chat {x}\nkey = 'brickbat'\n";
    assert_eq!(config, expected);

    let asked: Value = serde_json::from_slice(&std::fs::read(folder.path().join("asked")).unwrap()).unwrap();
    assert_eq!(asked["params"]["cwd"], work.to_str().unwrap());
    let server = &asked["params"]["mcpServers"][0];
    assert_eq!((&server["name"], &server["command"]), (&"brickbat".into(), &"/opt/brickbat".into()));
    let list = server["args"][2].as_str().unwrap();
    let tools = brickbat_drive::driver::mcp::read_tools(Path::new(list)).unwrap();
    assert_eq!(tools, spec(folder.path(), Dialect::OpenaiChat).tools);
}

#[test]
fn the_model_knows_the_tools_under_names_of_the_agent() {
    assert_eq!(agent(SHEET).plain.tools.name("lookup"), "mcp__brickbat__lookup");
}

#[tokio::test]
async fn the_outcome_follows_from_the_acp_answer() {
    assert_eq!(ending("stop end_turn").await, SessionEvent::Ended(TurnOutcome::Returned));
    assert_eq!(
        ending("stop max_tokens").await,
        raised("max_tokens", "the agent reports that the reply was cut off")
    );
    assert_eq!(ending("stop refusal").await, raised("refusal", "the agent reports that the model refused"));
    let error =
        |data: &str| format!(r#"answer '"error":{{"code":-32603,"message":"Internal error"{data}}}'"#);
    assert_eq!(ending(&error("")).await, raised("-32603", "Internal error"));
    let named = error(r#","data":{"name":"APIError","why":"overloaded"}"#);
    let text = r#"Internal error: {"name":"APIError","why":"overloaded"}"#;
    assert_eq!(ending(&named).await, raised("APIError", text));
}

#[tokio::test]
async fn a_turn_is_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path(), "").await;
    session.prompt("hello").await.unwrap();
    session.cancel().await.unwrap();
    assert_eq!(session.next().await, Some(SessionEvent::Ended(TurnOutcome::Cancelled)));
}

#[tokio::test]
async fn a_session_is_loaded_in_its_folder_with_its_tools() {
    let folder = tempfile::tempdir().unwrap();
    drop(session(folder.path(), "").await);
    let heir = Adapter::start_plain(&launch(folder.path(), "stop end_turn"), agent(SHEET)).await.unwrap();
    assert!(heir.about().capabilities.has("load"));
    let mut session = heir.load("s", &spec(folder.path(), Dialect::OpenaiChat)).await.unwrap();
    let asked: Value = serde_json::from_slice(&std::fs::read(folder.path().join("asked")).unwrap()).unwrap();
    assert_eq!((&asked["method"], &asked["params"]["sessionId"]), (&"session/load".into(), &"s".into()));
    assert_eq!(asked["params"]["cwd"], folder.path().join("work").to_str().unwrap());
    assert_eq!(asked["params"]["mcpServers"][0]["name"], "brickbat");
    session.prompt("hello").await.unwrap();
    assert_eq!(session.next().await, Some(SessionEvent::Ended(TurnOutcome::Returned)));
}

#[tokio::test]
async fn a_manifest_that_promises_more_than_the_agent_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut launch = launch(folder.path(), "");
    launch.args[1] = AGENT.replace(r#""loadSession":true"#, r#""loadSession":false"#);
    let error = Adapter::start_plain(&launch, agent(SHEET)).await.unwrap_err();
    assert!(error.to_string().contains("not ACP's `loadSession`"), "{error}");
}

#[tokio::test]
async fn the_error_names_a_word_that_the_manifest_lacks() {
    let folder = tempfile::tempdir().unwrap();
    let sheet = SHEET.replace("${package}", "${packet}");
    let adapter = Adapter::start_plain(&launch(folder.path(), ""), agent(&sheet)).await.unwrap();
    let error = adapter.open(&spec(folder.path(), Dialect::OpenaiChat)).await.unwrap_err();
    assert!(matches!(error, DriverError::Install { .. }), "{error}");
    assert!(error.to_string().contains("no `packet` under `words` for the dialect openai-chat"), "{error}");
}

#[tokio::test]
async fn each_session_has_its_own_process_if_the_address_is_fixed_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let mut launch = launch(folder.path(), r#"answer '"error":{"code":-32603,"message":"${dialect}"}'"#);
    let scratch = folder.path().join("scratch");
    for part in ["home", "tmp"] {
        std::fs::create_dir_all(scratch.join(part)).unwrap();
    }
    launch.scratch = Some(scratch.clone());
    launch.env.insert("URL".into(), "${baseUrl}/v1 ${package} ${folder} ${home}".into());
    let adapter = Adapter::start_plain(&launch, agent(SHEET)).await.unwrap();
    let mut first = adapter.open(&spec(folder.path(), Dialect::OpenaiChat)).await.unwrap();
    let other = SessionSpec {
        base_url: "http://127.0.0.1:9/p/8".into(),
        ..spec(folder.path(), Dialect::AnthropicMessages)
    };
    let second = adapter.open(&other).await.unwrap();
    let urls = std::fs::read_to_string(folder.path().join("asked.urls")).unwrap();
    let places = format!("{} {}", folder.path().join("work").display(), scratch.join("home").display());
    assert_eq!(
        urls,
        format!(
            "http://127.0.0.1:9/p/7/v1 @a/openai {places}\nhttp://127.0.0.1:9/p/8/v1 @a/anthropic {places}\n"
        )
    );

    // The placeholders in its command are filled in, too, and the end of one process is not that of the
    // other.
    second.kill().await.unwrap();
    assert!(!adapter.is_over());
    first.prompt("hello").await.unwrap();
    assert_eq!(first.next().await.unwrap(), raised("-32603", "openai-chat"));
}

#[tokio::test]
async fn the_harness_logs_in_with_the_manifests_method() {
    let folder = tempfile::tempdir().unwrap();
    let agent = agent(&SHEET.replace("acp:\n", "acp:\n  authenticate: api-key\n"));
    let mut launch = launch(folder.path(), "");
    launch.env.insert("LOGIN".into(), r#"answer '"result":{}'"#.into());
    Adapter::start_plain(&launch, agent.clone()).await.unwrap();
    let login = std::fs::read(folder.path().join("asked.login")).unwrap();
    let login: Value = serde_json::from_slice(&login).unwrap();
    assert_eq!(login["params"]["methodId"], "api-key");

    let refused = r#"answer '"error":{"code":-32602,"message":"no such method"}'"#;
    launch.env.insert("LOGIN".into(), refused.into());
    let error = Adapter::start_plain(&launch, agent).await.unwrap_err();
    assert!(
        error.to_string().contains("authenticate") && error.to_string().contains("no such method"),
        "{error}"
    );
}

#[test]
fn mistakes_in_a_manifest_are_reported() {
    for (from, to, text) in [
        ("conf/agent.toml", "../agent.toml", "a path inside the working folder"),
        ("conf/agent.toml", "/etc/agent.toml", "a path inside the working folder"),
        ("mcp__{server}__{tool}", "mcp__{server}", "a pattern with one `{tool}`"),
        ("eagerTools: false", "eager: false", "unknown key `eager`"),
        ("cancel: true, ", "", "the key `cancel` is missing"),
        ("acp:", "tools: '{tool}'\nacp:", "write this under `acp`"),
    ] {
        let sheet = SHEET.replace(from, to);
        let error = Manifest::parse("system.yaml", &sheet, &FileSource::Folder("/".into()))
            .expect_err(to)
            .to_string();
        assert!(error.contains(text), "{to}: {error}");
    }
}
