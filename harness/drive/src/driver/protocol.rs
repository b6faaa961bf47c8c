//! The small protocol on top of ACP: the content of `_meta.brickbat`, version 1.
//!
//! `harness/systems/README.md` describes it for authors of adapters.

use std::path::PathBuf;

use agent_client_protocol::v1::schema::InitializeResponse;
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::action::SessionAction;
use super::capability::Capabilities;
use super::error::DriverError;
use brickbat_engine::agent::Tool;
use brickbat_engine::events::{Consumed, Event};
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::action::WriteFailure;
use brickbat_scenario::plan::{GivenMessage, PlannedTool, Side, ToolOutcome};
use brickbat_scenario::trace::TurnOutcome;

/// The version of the protocol on top of ACP.
pub const PROTOCOL: u32 = 1;

/// How an adapter describes itself in its answer to `initialize`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct About {
    /// The version of the protocol that it speaks.
    #[schemars(extend("const" = PROTOCOL))]
    pub protocol: u32,
    /// The package name of the SDK.
    pub sdk: String,
    /// The SDK's exact version, as loaded.
    pub version: String,
    /// The modes that it offers.
    pub modes: Vec<String>,
    /// The consumers of the SDK's own stream that `_brickbat/events` can feed, such as `ui-messages`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub consumers: Vec<String>,
    /// Its capabilities.
    pub capabilities: Capabilities,
}

/// The parameters of a session; the version of the protocol is added to them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = with_protocol)]
pub struct SessionSpec {
    /// The provider's base URL, without `/v1` and without a final slash.
    pub base_url: String,
    /// The dialect that the provider speaks.
    pub dialect: Dialect,
    /// The model that requests should name; if it is missing, the adapter chooses a current one of the
    /// dialect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub model: Option<String>,
    /// True to ask the provider for a model that thinks; sent only to adapters with that capability.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub thinking: bool,
    /// True to offer the model the web search that the provider runs itself; sent only to adapters with that
    /// capability.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub search: bool,
    /// Replies with calls after which a turn ends; sent only to adapters with that capability.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32")]
    pub max_steps: Option<u32>,
    /// The mode: how histories are stored and restored.
    pub mode: String,
    /// The tools.
    pub tools: Vec<ToolSpec>,
    /// A folder for what the adapter stores; empty, unless a session is loaded from it.
    pub state_dir: PathBuf,
    /// The URL that the adapter asks before and after each write of the SDK's store. It is sent only to
    /// adapters with that capability, and only if the scenario acts on a write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub saving_url: Option<String>,
}

/// The message that an adapter posts before and after a write of the SDK's store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StoreWrite {
    /// Entries that the write adds to the thread: each user message, each call and each result.
    #[schemars(range(min = 1, max = MAX_ENTRIES))]
    pub entries: u32,
    /// The moment: before or after the write.
    pub side: Side,
    /// After a write that has failed: the entries that the store has kept of it.
    #[serde(default)]
    #[schemars(with = "u32")]
    pub kept: Option<u32>,
}

/// The answer to a message before a write that is to fail. It is sent only to adapters with the capability for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FailingWrite {
    /// The number of entries that the store keeps, from the first. A store that cannot keep a part of a write keeps none.
    pub keep: u32,
    /// The text of the error that the SDK gets from its store after the message that follows the write. Without it, the SDK
    /// gets no error.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", default)]
    pub error: Option<&'static str>,
}

impl FailingWrite {
    /// How a write with this number of entries fails.
    pub fn of(how: WriteFailure, entries: u32) -> FailingWrite {
        let error = how.is_told().then_some("no space left on device");
        FailingWrite { keep: how.keeps(entries), error }
    }

    /// The body of the answer.
    pub fn answer(&self) -> String {
        serde_json::to_string(self).expect("it is a number and a text")
    }
}

/// The maximum number of entries in one write, many times as many as a turn of a scenario has.
const MAX_ENTRIES: u32 = 1000;

impl StoreWrite {
    /// Reads a message that an adapter has posted.
    pub(crate) fn of(body: &str) -> Result<StoreWrite, DriverError> {
        let wrong = |why: String| DriverError::violation(format!("its message about a write: {why}"), body);
        let write: StoreWrite = serde_json::from_str(body).map_err(|error| wrong(error.to_string()))?;
        match write.entries {
            1..=MAX_ENTRIES if write.kept.is_some_and(|kept| kept > write.entries) => {
                Err(wrong("`kept` is more than `entries`".to_owned()))
            }
            1..=MAX_ENTRIES => Ok(write),
            other => Err(wrong(format!("`entries` is {other}, not 1 to {MAX_ENTRIES}"))),
        }
    }
}

/// A tool of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolSpec {
    /// Its name.
    pub name: String,
    /// The description that the model reads.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub input_schema: Value,
    /// The URL to which the adapter posts the arguments. The answer determines how the tool ends.
    pub gate_url: String,
    /// True if the tool must not pass the SDK's stop on to the gate.
    pub deaf: bool,
    /// True if the user is asked, with `session/request_permission`, before it runs.
    #[serde(default)]
    pub asks: bool,
    /// True if the turn ends with its result; sent only to adapters with that capability.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ends: bool,
    /// The name of the other agent, if the tool hands the conversation over to one; sent only to adapters
    /// with that capability.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub hands_over: Option<String>,
    /// True if the tool is itself an agent. It has all tools that are not agents, and no gate. Its only
    /// argument, `input`, is its task. Sent only to adapters with that capability.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub agent: bool,
    /// True if it runs in the client: the SDK hands its calls to the client, which returns the results. Sent
    /// only to adapters with that capability.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub client: bool,
}

impl ToolSpec {
    /// The tools of a plan, with their gates below this URL.
    pub fn all(tools: &[PlannedTool], base_url: &str) -> Vec<ToolSpec> {
        tools.iter().map(|tool| ToolSpec::new(tool, format!("{base_url}/gate/{}", tool.name))).collect()
    }

    /// The tool for our own agent.
    pub(super) fn tool(&self) -> Tool {
        Tool {
            name: self.name.clone(),
            description: self.description.clone(),
            input_schema: self.input_schema.clone(),
            deaf: self.deaf,
            asks: self.asks,
            ends: self.ends,
            hands_over: self.hands_over.clone(),
            agent: self.agent,
            client: self.client,
        }
    }

    /// A tool in a plan, with its gate.
    pub fn new(tool: &PlannedTool, gate_url: String) -> ToolSpec {
        let description = format!("The tool `{}` of the scenario.", tool.name);
        ToolSpec {
            name: tool.name.clone(),
            description,
            input_schema: tool.input_schema(),
            gate_url,
            deaf: tool.deaf,
            asks: tool.asks,
            ends: tool.ends,
            hands_over: tool.other_agent(),
            agent: tool.agent,
            client: tool.client,
        }
    }
}

impl SessionSpec {
    /// A session without tools and without anything out of the ordinary.
    pub fn plain(base_url: String, dialect: Dialect, state_dir: PathBuf) -> SessionSpec {
        SessionSpec {
            base_url,
            dialect,
            model: None,
            thinking: false,
            search: false,
            max_steps: None,
            mode: String::new(),
            tools: Vec::new(),
            state_dir,
            saving_url: None,
        }
    }

    /// The `_meta` of `session/new` and `session/load`.
    pub fn meta(&self) -> Map<String, Value> {
        let mut brickbat = Map::from_iter([("protocol".to_owned(), json!(PROTOCOL))]);
        if let Value::Object(spec) = json!(self) {
            brickbat.extend(spec);
        }
        Map::from_iter([("brickbat".to_owned(), Value::Object(brickbat))])
    }

    /// Reads the `_meta` of `session/new` as an adapter does, or returns the error in it. Keys that this
    /// version does not know are ignored, because a newer harness may send them.
    pub(super) fn of(meta: Option<&Map<String, Value>>) -> Result<SessionSpec, InvalidSession> {
        let brickbat = meta.and_then(|meta| meta.get("brickbat")).ok_or(InvalidSession::Missing)?;
        // The version comes first, because another version may have other keys.
        match brickbat.get("protocol").and_then(Value::as_u64) {
            Some(protocol) if protocol == u64::from(PROTOCOL) => {}
            _ => return Err(InvalidSession::Protocol),
        }
        let dialect = brickbat.get("dialect").and_then(Value::as_str);
        if let Some(unknown) = dialect.filter(|name| Dialect::from_name(name).is_none()) {
            return Err(InvalidSession::Dialect(unknown.to_owned()));
        }
        Ok(SessionSpec::deserialize(brickbat)?)
    }
}

/// The errors of an adapter for the `_meta` of a session.
#[derive(Debug, thiserror::Error)]
pub(super) enum InvalidSession {
    #[error("`_meta.brickbat` is missing")]
    Missing,
    #[error("`_meta.brickbat.protocol` is not {PROTOCOL}")]
    Protocol,
    #[error("unknown dialect `{0}`; there is {known}", known = Dialect::ALL.map(Dialect::name).join(", "))]
    Dialect(String),
    #[error("`_meta.brickbat`: {0}")]
    Malformed(#[from] serde_json::Error),
}

/// Adds to a schema the key that [`SessionSpec::meta`] adds to a session.
fn with_protocol(schema: &mut Schema) {
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        let version =
            json!({ "description": "The version of the protocol.", "type": "integer", "const": PROTOCOL });
        properties.shift_insert(0, "protocol".to_owned(), version);
    }
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        required.insert(0, json!("protocol"));
    }
}

/// The end of a turn, as reported by an adapter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, tag = "kind")]
#[schemars(rename = "Outcome")]
pub enum OutcomeMessage {
    /// The SDK's call returned.
    Returned,
    /// The SDK showed its caller an error.
    Raised {
        /// The error's name in the SDK.
        class: String,
        /// Its message.
        text: String,
    },
    /// The SDK reported that the turn was stopped.
    Cancelled,
}

impl From<OutcomeMessage> for TurnOutcome {
    fn from(outcome: OutcomeMessage) -> TurnOutcome {
        match outcome {
            OutcomeMessage::Returned => TurnOutcome::Returned,
            OutcomeMessage::Raised { class, text } => TurnOutcome::Raised { class, text },
            OutcomeMessage::Cancelled => TurnOutcome::Cancelled,
        }
    }
}

/// The number of bytes that the adapter has read from one of its sockets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Reading {
    /// The port of the socket.
    pub port: u16,
    /// The port that it is connected to.
    pub to: u16,
    /// The bytes that were read from it since it was connected.
    pub bytes: u64,
}

/// The messages between Brickbat and an adapter beyond ACP, by the position at which they occur.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "it is there for its schema; the parts are read and written one by one")]
struct Protocol {
    /// `_meta.brickbat` in the answer to `initialize`.
    about: About,
    /// `_meta.brickbat` in `session/new` and `session/load`.
    session: SessionSpec,
    /// `_meta.brickbat.outcome` in the answer to `session/prompt`.
    outcome: OutcomeMessage,
    /// `_meta.brickbat.repaired` in the answer to `session/prompt`; may be left out.
    repaired: Vec<String>,
    /// `read` in the answer to `_brickbat/barrier`; may be left out.
    read: Vec<Reading>,
    /// The answer of a gate: how the tool ends.
    gate: ToolOutcome,
    /// The body of a post to `savingUrl`.
    saving: StoreWrite,
    /// The answer to a post to `savingUrl` before a write that is to fail.
    failing: FailingWrite,
    /// `history` in `_brickbat/give`.
    given: Vec<GivenMessage>,
    /// `action` in the parameters of `_brickbat/action`.
    action: SessionAction,
    /// `events` in the parameters of `_brickbat/events`.
    events: Vec<Event>,
    /// `told` in the answer to `_brickbat/events`.
    told: Consumed,
}

/// The JSON Schema of the protocol. Its root is not a message: each property describes the content at one
/// position.
pub fn schema() -> Value {
    schemars::schema_for!(Protocol).to_value()
}

/// Reads how an adapter describes itself.
pub(super) fn about(meta: Option<&Map<String, Value>>) -> Result<About, DriverError> {
    let about: About = read("initialize", meta, |brickbat| Some(brickbat))?;
    match about.protocol {
        PROTOCOL => Ok(about),
        other => Err(DriverError::violation(
            format!("it speaks version {other} of the protocol, and this is version {PROTOCOL}"),
            "initialize",
        )),
    }
}

/// Rejects a manifest or an adapter that promises more than its ACP capabilities.
pub(super) fn can_load(about: &About, answer: &InitializeResponse) -> Result<(), DriverError> {
    if about.capabilities.has("load") && !answer.agent_capabilities.load_session {
        let missing = "it has the capability `load`, but not ACP's `loadSession`";
        return Err(DriverError::violation(missing, "initialize"));
    }
    Ok(())
}

/// Reads how a turn ended.
pub(super) fn outcome(meta: Option<&Map<String, Value>>) -> Result<TurnOutcome, DriverError> {
    read::<OutcomeMessage>("session/prompt", meta, |brickbat| brickbat.get("outcome")).map(TurnOutcome::from)
}

/// Reads what the adapter has repaired in a turn, in the application's place: a name for each repair.
pub(super) fn repaired(meta: Option<&Map<String, Value>>) -> Result<Vec<String>, DriverError> {
    let found = meta.and_then(|meta| meta.get("brickbat")?.get("repaired"));
    let names = found.map_or(Ok(Vec::new()), Vec::deserialize).map_err(|error| {
        DriverError::violation(
            format!("`repaired` in its answer to session/prompt: {error}"),
            found.unwrap_or(&Value::Null),
        )
    })?;
    match names.len() {
        0..=MAX_REPAIRS => Ok(names),
        other => {
            Err(DriverError::violation(format!("`repaired` has {other} names, more than {MAX_REPAIRS}"), ""))
        }
    }
}

/// The maximum number of repairs in one turn, many times as many as an adapter makes.
const MAX_REPAIRS: usize = 100;

fn read<T: serde::de::DeserializeOwned>(
    method: &str,
    meta: Option<&Map<String, Value>>,
    select: impl Fn(&Value) -> Option<&Value>,
) -> Result<T, DriverError> {
    let brickbat = meta.and_then(|meta| meta.get("brickbat"));
    let found = brickbat.and_then(select).ok_or_else(|| {
        let missing = format!("its answer to {method} contains nothing under `_meta.brickbat`");
        DriverError::violation(missing, brickbat.map(Value::to_string).unwrap_or_default())
    })?;
    T::deserialize(found).map_err(|error| {
        DriverError::violation(format!("`_meta.brickbat` in its answer to {method}: {error}"), found)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_planned_tool_requires_its_marker() {
        let planned =
            PlannedTool { deaf: true, ..PlannedTool::new("lookup", vec![("key".into(), "string")]) };
        let tool = ToolSpec::new(&planned, "http://127.0.0.1:1/gate".into());
        assert_eq!(tool.input_schema["required"], json!(["ref"]));
        assert_eq!(tool.input_schema["properties"]["key"], json!({"type": "string"}));
        assert!(tool.deaf);
    }

    #[test]
    fn a_write_needs_entries_and_a_side() {
        let write = StoreWrite::of(r#"{"entries":3,"side":"after"}"#);
        assert_eq!(write, Ok(StoreWrite { entries: 3, side: Side::After, kept: None }));
        for wrong in [
            "",
            "[]",
            r#"{"entries":0,"side":"after"}"#,
            r#"{"entries":1001,"side":"before"}"#,
            r#"{"entries":1,"side":"during"}"#,
        ] {
            assert!(StoreWrite::of(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn repairs_are_names_and_may_be_left_out() {
        let meta = |value: Value| json!({ "brickbat": { "repaired": value } }).as_object().cloned();
        assert_eq!(repaired(None), Ok(Vec::new()));
        assert_eq!(repaired(meta(json!(["drop-cut-call"])).as_ref()), Ok(vec!["drop-cut-call".to_owned()]));
        for wrong in [json!("drop"), json!([1]), json!(vec!["a"; MAX_REPAIRS + 1])] {
            assert!(repaired(meta(wrong.clone()).as_ref()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_outcome_must_be_one_of_three() {
        let meta = |outcome: Value| json!({"brickbat": {"outcome": outcome}}).as_object().cloned();
        assert_eq!(outcome(meta(json!({"kind": "cancelled"})).as_ref()), Ok(TurnOutcome::Cancelled));
        let raised = TurnOutcome::Raised { class: "E".into(), text: "t".into() };
        assert_eq!(outcome(meta(json!({"kind": "raised", "class": "E", "text": "t"})).as_ref()), Ok(raised));
        assert!(outcome(meta(json!({"kind": "fine"})).as_ref()).is_err());
        assert!(outcome(None).is_err());
    }
}
