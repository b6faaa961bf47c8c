//! New ids for calls, and new names for tools, wherever they appear.

use serde_json::{Map, Value, json};

use super::body::Body;
use super::shapes::shape_of;

/// The fields with the id of a call, in the call.
const CALLS: [&str; 3] = ["id", "call_id", "toolUseId"];

/// The fields with the id of a call, in the result.
const RESULTS: [&str; 4] = ["tool_use_id", "tool_call_id", "call_id", "toolUseId"];

/// Gives a call and its result another id.
pub(super) fn rename_id(body: &mut Body) -> Option<()> {
    let old = id_at(body)?;
    let text = body.value.to_string();
    let form = body.dialect.codec().call_id;
    let new = (1..10_000).map(|n| form.numbered(n)).find(|id| !text.contains(id.as_str()))?;
    // Calls with one id take turns with their results; the first call and its result are renamed.
    let mut state = State { old, new, n_calls: 0, n_results: 0 };
    state.visit(body.value);
    (state.n_calls > 0).then_some(())
}

/// Gives the second of two calls with one id, and its result, another id.
pub(super) fn rename_second_id(body: &mut Body) -> Option<()> {
    let old = id_at(body)?;
    let text = body.value.to_string();
    let form = body.dialect.codec().call_id;
    let new = (1..10_000).map(|n| form.numbered(n)).find(|id| !text.contains(id.as_str()))?;
    let mut count = Count { old: &old, n_calls: 0, n_results: 0 };
    count.visit(body.value);
    // The results belong to the calls in their order only if each call has one.
    if (count.n_calls, count.n_results) != (2, 2) {
        return None;
    }
    let mut state = Second { old, new, n_calls: 0, n_results: 0 };
    state.visit(body.value);
    Some(())
}

fn id_at(body: &mut Body) -> Option<String> {
    if let Some(Value::String(id)) = body.spot() {
        return Some(id.clone());
    }
    let names = [&RESULTS[..], &CALLS[..]].concat();
    let fields =
        body.around(|fields| names.iter().any(|name| fields.get(*name).is_some_and(Value::is_string)))?;
    names.iter().find_map(|name| Some(fields.get(*name)?.as_str()?.to_owned()))
}

/// Returns whether an object is a call, and the name of the field with its id.
fn id_field(fields: &Map<String, Value>) -> Option<(bool, &'static str)> {
    let kind = fields.get("type").and_then(Value::as_str).unwrap_or_default();
    if fields.contains_key("tool_call_id") {
        return Some((false, "tool_call_id"));
    }
    if fields.contains_key("tool_use_id") {
        return Some((false, "tool_use_id"));
    }
    match kind {
        _ if kind.ends_with("_output") && fields.contains_key("call_id") => return Some((false, "call_id")),
        _ if fields.contains_key("call_id") => return Some((true, "call_id")),
        "tool_use" | "server_tool_use" => return Some((true, "id")),
        _ => {}
    }
    if fields.contains_key("toolUseId") {
        return Some((fields.contains_key("input") || fields.contains_key("name"), "toolUseId"));
    }
    (fields.contains_key("function") && fields.contains_key("id")).then_some((true, "id"))
}

/// Goes through the calls and results with an id, in order.
trait Visit {
    fn old(&self) -> &str;

    fn meet(&mut self, is_call: bool, id: &mut Value);

    fn visit(&mut self, value: &mut Value) {
        match value {
            Value::Object(fields) => {
                if let Some((is_call, name)) = id_field(fields)
                    && let Some(id) = fields.get_mut(name)
                    && id.as_str() == Some(self.old())
                {
                    self.meet(is_call, id);
                }
                // The arguments and outputs of tools are theirs.
                let own = ["input", "arguments", "args"];
                let is_call =
                    fields.contains_key("toolUseId") || fields.get("type") == Some(&json!("tool_use"));
                for (name, value) in fields.iter_mut() {
                    if !(is_call && own.contains(&name.as_str())) {
                        self.visit(value);
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.visit(item)),
            _ => {}
        }
    }
}

struct State {
    old: String,
    new: String,
    n_calls: usize,
    n_results: usize,
}

impl Visit for State {
    fn old(&self) -> &str {
        &self.old
    }

    fn meet(&mut self, is_call: bool, id: &mut Value) {
        let n = if is_call { &mut self.n_calls } else { &mut self.n_results };
        *n += 1;
        // Several calls without an id are renamed one by one.
        if *n == 1 || !self.old.is_empty() {
            *id = json!(self.new);
        }
    }
}

struct Count<'o> {
    old: &'o str,
    n_calls: usize,
    n_results: usize,
}

impl Visit for Count<'_> {
    fn old(&self) -> &str {
        self.old
    }

    fn meet(&mut self, is_call: bool, _: &mut Value) {
        *(if is_call { &mut self.n_calls } else { &mut self.n_results }) += 1;
    }
}

struct Second {
    old: String,
    new: String,
    n_calls: usize,
    n_results: usize,
}

impl Visit for Second {
    fn old(&self) -> &str {
        &self.old
    }

    fn meet(&mut self, is_call: bool, id: &mut Value) {
        let n = if is_call { &mut self.n_calls } else { &mut self.n_results };
        *n += 1;
        if *n == 2 {
            *id = json!(self.new);
        }
    }
}

/// Gives a tool a name that the provider accepts, wherever it is called or offered.
pub(super) fn rename_tool(body: &mut Body) -> Option<()> {
    let fields = body.around(|fields| fields.get("name").is_some_and(Value::is_string))?;
    let old = fields.get("name")?.as_str()?.to_owned();
    let is_dotted = shape_of(body.dialect).has_dots;
    let clean = |c: char| {
        if c.is_ascii_alphanumeric() || c == '_' || c == '-' || is_dotted && c == '.' { c } else { '_' }
    };
    // Models have ended the name of a tool with NUL (<https://github.com/openai/codex/issues/24369>).
    let mut new: String =
        old.trim_matches(|c: char| c.is_control() || c.is_whitespace()).chars().map(clean).take(64).collect();
    if new.is_empty() {
        new = "unnamed".to_owned();
    } else if !new.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        new = format!("_{new}").chars().take(64).collect();
    }
    // Two tools that are offered must not become one.
    let tools =
        body.value.get("tools").or_else(|| body.value.get("toolConfig")).unwrap_or(&Value::Null).to_string();
    let is_offered = |name: &str| tools.contains(&format!("\"name\":{}", json!(name)));
    if new == old || is_offered(&old) && is_offered(&new) {
        return None;
    }
    rename(body.value, &old, &new);
    Some(())
}

/// The fields of calls, of results with the name of their tool, and of tools that are offered.
const OF_TOOLS: [&str; 8] =
    ["input", "arguments", "args", "response", "parameters", "input_schema", "inputSchema", "tool_call_id"];

fn rename(value: &mut Value, old: &str, new: &str) {
    match value {
        Value::Object(fields) => {
            let name = fields.get("name").and_then(Value::as_str);
            // A request of Responses has a field `input`, too, and no name.
            let is_tool = name.is_some()
                && (OF_TOOLS.iter().any(|name| fields.contains_key(*name))
                    || matches!(
                        fields.get("type").and_then(Value::as_str),
                        Some("tool" | "function" | "tool_use")
                    ));
            if is_tool && name == Some(old) {
                fields.insert("name".to_owned(), json!(new));
            }
            for (name, value) in fields.iter_mut() {
                let is_its_own =
                    is_tool && matches!(name.as_str(), "input" | "args" | "response" | "arguments");
                if !is_its_own {
                    rename(value, old, new);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| rename(item, old, new)),
        _ => {}
    }
}

/// Copies the name of a call into its response. Gemini pairs them by their order.
pub(super) fn copy_name(body: &mut Body) -> Option<()> {
    let index = body.index()?;
    let parts = |content: &Value| content.get("parts").and_then(Value::as_array).cloned().unwrap_or_default();
    let list = body.list()?;
    let names: Vec<Value> = parts(list.get(index.checked_sub(1)?)?)
        .iter()
        .filter_map(|part| {
            part.get("functionCall").or_else(|| part.get("function_call"))?.get("name").cloned()
        })
        .collect();
    let mut n = 0;
    for part in list.get_mut(index)?.get_mut("parts")?.as_array_mut()? {
        let Some(fields) = part.as_object_mut() else { continue };
        let key = ["functionResponse", "function_response"].into_iter().find(|key| fields.contains_key(*key));
        let Some(response) = key.and_then(|key| fields.get_mut(key)?.as_object_mut()) else { continue };
        let is_empty = response.get("name").and_then(Value::as_str).is_none_or(str::is_empty);
        if is_empty {
            response.insert("name".to_owned(), names.get(n).filter(|name| **name != json!(""))?.clone());
            return Some(());
        }
        n += 1;
    }
    None
}
