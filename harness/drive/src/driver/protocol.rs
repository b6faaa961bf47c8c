//! The small protocol on top of ACP: what stands under `_meta.brickbat`, version 1.
//!
//! `harness/systems/README.md` describes it for authors of adapters.

use std::path::PathBuf;

use agent_client_protocol::v1::schema::InitializeResponse;
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::action::Action;
use super::error::DriverError;
use brickbat_engine::events::{Event, Told};
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::plan::{GivenMessage, PlannedTool, ToolOutcome};
use brickbat_scenario::trace::TurnOutcome;

/// The version of the protocol on top of ACP.
pub const PROTOCOL: u32 = 1;

/// What an adapter says of itself in its answer to `initialize`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct About {
    /// The version of the protocol that it speaks.
    #[schemars(extend("const" = PROTOCOL))]
    pub protocol: u32,
    /// The SDK, as its package is called.
    pub sdk: String,
    /// The SDK's exact version, as loaded.
    pub version: String,
    /// The modes that it offers.
    pub modes: Vec<String>,
    /// What consumes the SDK's own stream in it and can be fed by `_brickbat/events`, such as `ui-messages`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub consumers: Vec<String>,
    /// What it can do.
    pub capabilities: Capabilities,
}

/// What an adapter, or the SDK behind it, can do.
#[derive(Debug, Clone, Default, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Capabilities {
    /// The user can stop a running turn.
    pub cancel: bool,
    /// The SDK asks the provider for streams.
    pub streaming: bool,
    /// The SDK starts tools while the reply is still streaming.
    pub eager_tools: bool,
    /// `_brickbat/barrier` is answered when everything received so far is consumed.
    pub barrier: bool,
    /// `_brickbat/history` answers with the stored history.
    pub history: bool,
    /// A tool with `asks` is put to the user before it runs.
    #[serde(default)]
    pub approvals: bool,
    /// A session with `thinking` asks the model to think.
    #[serde(default)]
    pub thinking: bool,
    /// `session/load` restores a session from its `stateDir` in a new process.
    #[serde(default)]
    pub load: bool,
    /// `_brickbat/give` puts a history into the store, so that `session/load` finds it there.
    #[serde(default)]
    pub given_history: bool,
    /// Two processes can have one session open: each goes on with what is stored when a turn begins.
    #[serde(default)]
    pub shared_session: bool,
    /// `_brickbat/action` with `steer` says something to the running turn.
    #[serde(default)]
    pub steer: bool,
    /// `session/prompt` may come while a turn runs: it is queued, refused, or stops the turn.
    #[serde(default)]
    pub second_prompt: bool,
    /// `_brickbat/action` with `interrupt` lets an exception out of the SDK's loop.
    #[serde(default)]
    pub interrupt: bool,
    /// A session with `maxSteps` ends its turns after so many steps.
    #[serde(default)]
    pub step_limit: bool,
    /// A tool with `ends` ends the turn with its result.
    #[serde(default)]
    pub final_tools: bool,
    /// `_brickbat/action` with `inject` adds context for the model as a hook of the SDK does.
    #[serde(default)]
    pub hooks: bool,
    /// What `_brickbat/action` can do to the history.
    #[serde(default)]
    pub changes: Changes,
}

impl Capabilities {
    /// The names of those that it has, as they stand in the protocol; what can be done to the history begins with `changes.`.
    pub fn names(self) -> Vec<String> {
        let Value::Object(all) = json!(self) else { return Vec::new() };
        let named = all.into_iter().flat_map(|(name, value)| match value {
            Value::Bool(true) => vec![name],
            Value::Object(inner) => inner
                .into_iter()
                .filter(|(_, value)| *value == Value::Bool(true))
                .map(|(inner, _)| format!("{name}.{inner}"))
                .collect(),
            _ => Vec::new(),
        });
        named.collect()
    }
}

/// What can be done to the history of a session, by `_brickbat/action`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Changes {
    /// It can be cut.
    pub trim: bool,
    /// It can be summarised.
    pub summarise: bool,
    /// The user can take back what was said.
    pub rewind: bool,
    /// The user can ask something beside the conversation.
    pub aside: bool,
}

/// What a session is opened with; the version of the protocol is put beside it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = with_protocol)]
pub struct SessionSpec {
    /// The provider's base URL, without `/v1` and without a final slash.
    pub base_url: String,
    /// The dialect that the provider speaks.
    pub dialect: Dialect,
    /// The model's name; the adapter takes a current one of the dialect if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub model: Option<String>,
    /// Whether the provider is to be asked that the model thinks; only adapters that can do so are told.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub thinking: bool,
    /// Replies with calls after which a turn ends; only adapters that can do so are told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32")]
    pub max_steps: Option<u32>,
    /// The mode: how histories are stored and restored.
    pub mode: String,
    /// The tools.
    pub tools: Vec<ToolSpec>,
    /// A folder for what the adapter stores; empty, unless a session is loaded from it.
    pub state_dir: PathBuf,
}

/// A tool of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolSpec {
    /// Its name.
    pub name: String,
    /// What the model is told of it.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub input_schema: Value,
    /// Where the adapter posts the arguments; the answer says how the tool ends.
    pub gate_url: String,
    /// Whether the tool must not pass the SDK's stop on to the gate.
    pub deaf: bool,
    /// Whether the user is asked, with `session/request_permission`, before it runs.
    #[serde(default)]
    pub asks: bool,
    /// Whether the turn ends with its result; only adapters that can do so are told.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ends: bool,
}

impl ToolSpec {
    /// A tool of a plan, behind that gate.
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
        }
    }
}

impl SessionSpec {
    /// The `_meta` of `session/new` and `session/load`.
    pub fn meta(&self) -> Map<String, Value> {
        let mut brickbat = Map::from_iter([("protocol".to_owned(), json!(PROTOCOL))]);
        if let Value::Object(spec) = json!(self) {
            brickbat.extend(spec);
        }
        Map::from_iter([("brickbat".to_owned(), Value::Object(brickbat))])
    }

    /// Reads the `_meta` of `session/new` as an adapter does, or says what is wrong with it. Keys that this version
    /// does not know are passed over: a newer harness may send them.
    pub(super) fn of(meta: Option<&Map<String, Value>>) -> Result<SessionSpec, String> {
        let brickbat = meta.and_then(|meta| meta.get("brickbat")).ok_or("`_meta.brickbat` is missing")?;
        // The version first: another one may have other keys.
        match brickbat.get("protocol").and_then(Value::as_u64) {
            Some(protocol) if protocol == u64::from(PROTOCOL) => {}
            _ => return Err(format!("`_meta.brickbat.protocol` is not {PROTOCOL}")),
        }
        let dialect = brickbat.get("dialect").and_then(Value::as_str);
        if let Some(unknown) = dialect.filter(|name| Dialect::from_name(name).is_none()) {
            let known: Vec<&str> = Dialect::ALL.into_iter().map(Dialect::name).collect();
            return Err(format!("unknown dialect `{unknown}`; there is {}", known.join(", ")));
        }
        SessionSpec::deserialize(brickbat).map_err(|error| format!("`_meta.brickbat`: {error}"))
    }
}

/// Adds to a schema what [`SessionSpec::meta`] adds to a session.
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

/// How a turn ended, as an adapter says it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, tag = "kind")]
pub enum Outcome {
    /// The SDK's call returned.
    Returned,
    /// The SDK let its caller see an error.
    Raised {
        /// The error's name in the SDK.
        class: String,
        /// Its text.
        text: String,
    },
    /// The SDK reported that the turn was stopped.
    Cancelled,
}

impl From<Outcome> for TurnOutcome {
    fn from(outcome: Outcome) -> TurnOutcome {
        match outcome {
            Outcome::Returned => TurnOutcome::Returned,
            Outcome::Raised { class, text } => TurnOutcome::Raised { class, text },
            Outcome::Cancelled => TurnOutcome::Cancelled,
        }
    }
}

/// What Brickbat and an adapter say to each other beyond ACP, by the place in which it stands.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "it is there for its schema; the parts are read and written one by one")]
struct Protocol {
    /// `_meta.brickbat` in the answer to `initialize`.
    about: About,
    /// `_meta.brickbat` in `session/new` and `session/load`.
    session: SessionSpec,
    /// `_meta.brickbat.outcome` in the answer to `session/prompt`.
    outcome: Outcome,
    /// What a gate answers: how the tool ends.
    gate: ToolOutcome,
    /// `history` in `_brickbat/give`.
    given: Vec<GivenMessage>,
    /// `action` in the parameters of `_brickbat/action`.
    action: Action,
    /// `events` in the parameters of `_brickbat/events`.
    events: Vec<Event>,
    /// `told` in the answer to `_brickbat/events`.
    told: Told,
}

/// The JSON Schema of the protocol. Its root is no message: each property is what stands at one place.
pub fn schema() -> Value {
    schemars::schema_for!(Protocol).to_value()
}

/// Reads what an adapter says of itself.
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

/// A manifest or an adapter that promises more than ACP's own word is wrong.
pub(super) fn can_load(about: &About, answer: &InitializeResponse) -> Result<(), DriverError> {
    if about.capabilities.load && !answer.agent_capabilities.load_session {
        let missing = "it has the capability `load`, but not ACP's `loadSession`";
        return Err(DriverError::violation(missing, "initialize"));
    }
    Ok(())
}

/// Reads how a turn ended.
pub(super) fn outcome(meta: Option<&Map<String, Value>>) -> Result<TurnOutcome, DriverError> {
    read::<Outcome>("session/prompt", meta, |brickbat| brickbat.get("outcome")).map(TurnOutcome::from)
}

fn read<T: serde::de::DeserializeOwned>(
    method: &str,
    meta: Option<&Map<String, Value>>,
    select: impl Fn(&Value) -> Option<&Value>,
) -> Result<T, DriverError> {
    let brickbat = meta.and_then(|meta| meta.get("brickbat"));
    let found = brickbat.and_then(select).ok_or_else(|| {
        let missing = format!("its answer to {method} says nothing under `_meta.brickbat`");
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
        let planned = PlannedTool {
            name: "lookup".into(),
            params: vec![("key".into(), "string")],
            deaf: true,
            asks: false,
            ends: false,
        };
        let tool = ToolSpec::new(&planned, "http://127.0.0.1:1/gate".into());
        assert_eq!(tool.input_schema["required"], json!(["ref"]));
        assert_eq!(tool.input_schema["properties"]["key"], json!({"type": "string"}));
        assert!(tool.deaf);
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
