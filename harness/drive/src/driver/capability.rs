//! The table of capabilities: the possible abilities of an adapter, or of the SDK that it adapts.
//!
//! The protocol and its schema, the needs of each scenario and `harness/systems/README.md` are generated
//! from it or compared with it. `README.md` lists what else a new capability requires.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};

use brickbat_scenario::scenario::Need;

/// One possible ability of an adapter.
#[derive(Debug)]
pub struct Capability {
    /// Its key under `capabilities` in the answer to `initialize`. A part before a dot names the object
    /// around it.
    pub key: &'static str,
    /// The need of scenarios that it meets, if scenarios can have one.
    pub need: Option<Need>,
    /// A sentence that describes what it allows.
    pub allows: &'static str,
    /// True if `initialize` must include it. A missing optional one is false.
    pub required: bool,
}

/// Every capability, in the order of the protocol's schema.
pub const CAPABILITIES: [Capability; 37] = [
    required("cancel", Some(Need::Cancel), "The user can stop a running turn."),
    required("streaming", Some(Need::Streaming), "The SDK asks the provider for streams."),
    required(
        "eagerTools",
        Some(Need::EagerTools),
        "The SDK starts tools while the reply is still streaming.",
    ),
    required("barrier", None, "`_brickbat/barrier` is answered when everything received so far is consumed."),
    required("history", None, "`_brickbat/history` answers with the stored history."),
    optional("approvals", Need::Approvals, "The user is asked before a tool with `asks` runs."),
    optional("thinking", Need::Thinking, "A session with `thinking` asks the model to think."),
    optional(
        "serverTools",
        Need::ServerTools,
        "A session with `search` offers the model the web search that the provider runs itself.",
    ),
    optional("load", Need::Resume, "`session/load` restores a session from its `stateDir` in a new process."),
    optional(
        "givenHistory",
        Need::GivenHistory,
        "`_brickbat/give` puts a history into the store, so that `session/load` finds it there.",
    ),
    optional(
        "givenThinking",
        Need::GivenThinking,
        "A given history may contain the model's thinking, with the part of the signature that the store kept.",
    ),
    optional("givenPictures", Need::GivenPictures, "A given history may contain images."),
    optional(
        "givenMarks",
        Need::GivenMarks,
        "A given history may contain entries that exist only in a store: instructions in between, failed replies and compactions.",
    ),
    optional(
        "givenOrphans",
        Need::GivenOrphans,
        "A given history may contain results whose call the store has lost.",
    ),
    optional(
        "givenRawArguments",
        Need::GivenRawArguments,
        "A given history may contain arguments that are not a JSON object.",
    ),
    optional(
        "sharedSession",
        Need::SharedSession,
        "Two processes can have one session open: each continues with what is stored when a turn begins.",
    ),
    optional(
        "saving",
        Need::Saving,
        "The harness is asked before and after each write of the SDK's store, and can hold it.",
    ),
    optional(
        "failingWrites",
        Need::FailingWrites,
        "A write of the SDK's store can be made to fail, with or without an error for the SDK.",
    ),
    optional("steer", Need::Steer, "`_brickbat/action` with `steer` sends a message to the running turn."),
    optional(
        "secondPrompt",
        Need::SecondPrompt,
        "`session/prompt` may come while a turn runs: it is queued, refused, or stops the turn.",
    ),
    optional(
        "interrupt",
        Need::Interrupt,
        "`_brickbat/action` with `interrupt` lets an exception out of the SDK's loop.",
    ),
    optional("stepLimit", Need::StepLimit, "A session with `maxSteps` ends its turns after that many steps."),
    optional("finalTools", Need::FinalTools, "A tool with `ends` ends the turn with its result."),
    optional(
        "handoffs",
        Need::Handoffs,
        "A tool with `handsOver` hands the conversation over to the agent of that name.",
    ),
    optional(
        "subAgents",
        Need::SubAgents,
        "A tool with `agent` is an agent of the SDK's own kind, with all tools that are not agents.",
    ),
    optional(
        "clientTools",
        Need::ClientTools,
        "Calls of a tool with `client` go to the application, which returns their results.",
    ),
    optional(
        "hooks",
        Need::Hooks,
        "`_brickbat/action` with `inject` adds context for the model as an SDK hook does.",
    ),
    optional("changes.trim", Need::Trim, "The history can be cut."),
    optional("changes.summarise", Need::Summarise, "The history can be summarised."),
    optional(
        "changes.inFlight",
        Need::ChangeInFlight,
        "The history can be cut or summarised while tools run, where that can be done at all.",
    ),
    optional(
        "changes.automatic",
        Need::AutoCompaction,
        "The SDK compacts its history by itself when the provider reports 190,000 tokens for a request.",
    ),
    optional("changes.rewind", Need::Rewind, "The user can take back messages."),
    optional("changes.aside", Need::Aside, "The user can ask a question outside the conversation."),
    optional(
        "changes.thinking",
        Need::ThinkingSwitch,
        "The model's thinking can be switched on and off between two turns.",
    ),
    optional(
        "changes.provider",
        Need::ProviderSwitch,
        "The thread can continue with the provider of another dialect between two turns.",
    ),
    optional("changes.tools", Need::ToolChanges, "The list of tools can be changed between two turns."),
    optional(
        "changes.toolsInTurn",
        Need::ToolChangesInTurn,
        "The list of tools can be changed while tools run, so that the next request of the turn offers the new list.",
    ),
];

const fn required(key: &'static str, need: Option<Need>, allows: &'static str) -> Capability {
    Capability { key, need, allows, required: true }
}

const fn optional(key: &'static str, need: Need, allows: &'static str) -> Capability {
    Capability { key, need: Some(need), allows, required: false }
}

/// The capabilities of one adapter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities([bool; CAPABILITIES.len()]);

impl Default for Capabilities {
    /// No capabilities.
    fn default() -> Capabilities {
        Capabilities([false; CAPABILITIES.len()])
    }
}

impl Capabilities {
    /// All capabilities.
    pub fn all() -> Capabilities {
        Capabilities([true; CAPABILITIES.len()])
    }

    /// The same capabilities with or without the one that has this key.
    #[must_use]
    pub fn with(mut self, key: &str, has: bool) -> Capabilities {
        self.0[index(key)] = has;
        self
    }

    /// True if the capability with this key is present.
    pub fn has(self, key: &str) -> bool {
        self.0[index(key)]
    }

    /// True if the capability that a scenario needs is present.
    pub fn meets(self, need: Need) -> bool {
        CAPABILITIES.iter().zip(self.0).any(|(row, has)| has && row.need == Some(need))
    }

    /// The keys of the capabilities that are present.
    pub fn keys(self) -> Vec<&'static str> {
        CAPABILITIES.iter().zip(self.0).filter(|(_, has)| *has).map(|(row, _)| row.key).collect()
    }
}

fn index(key: &str) -> usize {
    CAPABILITIES.iter().position(|row| row.key == key).expect("a key of the table")
}

impl Serialize for Capabilities {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut all = Map::new();
        for (row, has) in CAPABILITIES.iter().zip(self.0) {
            match row.key.split_once('.') {
                Some((group, key)) => all.entry(group).or_insert_with(|| json!({}))[key] = json!(has),
                None => drop(all.insert(row.key.to_owned(), json!(has))),
            }
        }
        all.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Capabilities {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Capabilities, D::Error> {
        let mut claims = BTreeMap::new();
        for (key, value) in Map::<String, Value>::deserialize(deserializer)? {
            match value {
                Value::Object(group) => {
                    claims.extend(group.into_iter().map(|(inner, value)| (format!("{key}.{inner}"), value)));
                }
                value => drop(claims.insert(key, value)),
            }
        }
        let mut capabilities = Capabilities::default();
        for (row, has) in CAPABILITIES.iter().zip(&mut capabilities.0) {
            *has = match claims.remove(row.key) {
                Some(Value::Bool(has)) => has,
                Some(other) => {
                    return Err(Error::custom(format!("`{}` is {other}, not true or false", row.key)));
                }
                None if row.required => return Err(Error::missing_field(row.key)),
                None => false,
            };
        }
        match claims.into_keys().next() {
            Some(unknown) => Err(Error::custom(format!("unknown capability `{unknown}`"))),
            None => Ok(capabilities),
        }
    }
}

impl JsonSchema for Capabilities {
    fn schema_name() -> Cow<'static, str> {
        "Capabilities".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut properties = properties("");
        let mut changes = generator.subschema_for::<Changes>();
        changes.insert(
            "description".to_owned(),
            "A change that `_brickbat/action` can make to the history.".into(),
        );
        changes.insert("default".to_owned(), json!(Capabilities::default())["changes"].take());
        properties.insert("changes".to_owned(), changes.to_value());
        let required: Vec<&str> = CAPABILITIES.iter().filter(|row| row.required).map(|row| row.key).collect();
        schemars::json_schema!({
            "type": "object",
            "additionalProperties": false,
            "properties": properties,
            "required": required,
            "description": "What an adapter, or the SDK that it adapts, can do.",
        })
    }
}

/// The object `changes`.
struct Changes;

impl JsonSchema for Changes {
    fn schema_name() -> Cow<'static, str> {
        "Changes".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({
            "type": "object",
            "additionalProperties": false,
            "properties": properties("changes."),
            "description": "What can be done to the history of a session, by `_brickbat/action`.",
        })
    }
}

/// The schemas of the keys that have this prefix and no further dot.
fn properties(prefix: &str) -> Map<String, Value> {
    let mut properties = Map::new();
    for row in &CAPABILITIES {
        let Some(key) = row.key.strip_prefix(prefix).filter(|key| !key.contains('.')) else { continue };
        let mut property = json!({ "type": "boolean", "description": row.allows });
        if !row.required {
            property["default"] = json!(false);
        }
        properties.insert(key.to_owned(), property);
    }
    properties
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_capability_is_in_the_schema_and_in_the_manual() {
        let manual = include_str!("../../../systems/README.md");
        let rows: Vec<String> = CAPABILITIES
            .iter()
            .map(|row| {
                let need = row.need.map(|need| format!("`{}`", need.name())).unwrap_or_default();
                format!("| `{}` | {need} | {} |", row.key, row.allows).replace("|  |", "| |")
            })
            .collect();
        let table = manual.split("| capability | need | what it allows |\n").nth(1).unwrap();
        let documented: Vec<&str> = table.lines().skip(1).take_while(|line| line.starts_with('|')).collect();
        assert_eq!(documented, rows);
        let schema: Value =
            serde_json::from_str(include_str!("../../../systems/protocol.schema.json")).unwrap();
        let keys = |name: &str| schema["$defs"][name]["properties"].as_object().unwrap().clone();
        let changes = keys("Changes").into_iter().map(|(key, _)| format!("changes.{key}"));
        let in_schema: Vec<String> = keys("Capabilities")
            .into_iter()
            .map(|(key, _)| key)
            .filter(|key| key != "changes")
            .chain(changes)
            .collect();
        assert_eq!(in_schema, Capabilities::all().keys());
    }

    #[test]
    fn every_need_is_met_by_one_capability() {
        let schema = schemars::schema_for!(Need).to_value().to_string();
        let manual = include_str!("../../../../scenarios/README.md");
        let mut names = BTreeSet::new();
        for row in &CAPABILITIES {
            let Some(need) = row.need else { continue };
            let name = need.name();
            assert!(names.insert(name), "two capabilities meet {name}");
            assert!(
                schema.contains(&format!("\"{name}\"")) && manual.contains(&format!("`{name}`")),
                "{name}"
            );
            assert!(Capabilities::default().with(row.key, true).meets(need), "{name}");
        }
        assert_eq!(schema.matches("\"const\"").count(), names.len(), "{schema}");
    }

    #[test]
    fn capabilities_survive_a_round_trip() {
        let some = Capabilities::default().with("eagerTools", true).with("changes.trim", true);
        let mut written = json!(some);
        assert_eq!(written["changes"]["trim"], true);
        assert_eq!(Capabilities::deserialize(&written).unwrap(), some);
        written.as_object_mut().unwrap().remove("changes");
        assert_eq!(Capabilities::deserialize(&written).unwrap().keys(), ["eagerTools"]);
        for (wrong, why) in [
            (json!({ "cancel": true }), "missing field `streaming`"),
            (json!({ "cancel": 1 }), "`cancel` is 1, not true or false"),
        ] {
            assert_eq!(Capabilities::deserialize(wrong).unwrap_err().to_string(), why);
        }
        written["resume"] = json!(true);
        assert!(Capabilities::deserialize(written).unwrap_err().to_string().contains("`resume`"));
    }
}
