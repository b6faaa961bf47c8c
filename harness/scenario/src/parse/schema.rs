//! The JSON Schema of scenario files, for editors.

use serde_json::{Map, Value, json};

use crate::scenario::{GivenHistory, Scenario};

/// The schema of [`Scenario`], except that it accepts a `$name` placeholder for any value.
pub fn schema() -> Value {
    let mut root = schemars::schema_for!(Scenario).to_value();
    let vary = root.pointer("/properties/vary").cloned();
    accept_placeholders(&mut root);
    // `vary` gives the placeholders their values, so it cannot contain any itself.
    if let (Some(place), Some(vary)) = (root.pointer_mut("/properties/vary"), vary) {
        *place = vary;
    }
    if let Some(definitions) = root.pointer_mut("/$defs").and_then(Value::as_object_mut) {
        definitions.insert("Placeholder".to_owned(), placeholder());
    }
    root
}

/// The schema of the files that `given` names. They contain no placeholders.
pub fn history_schema() -> Value {
    schemars::schema_for!(GivenHistory).to_value()
}

fn placeholder() -> Value {
    json!({
        "description": "Stands for a value of `vary`.",
        "type": "string",
        "pattern": "^\\$[a-z][a-z0-9_]*$",
    })
}

/// Walks a schema and wraps every schema that describes a value of the file.
fn accept_placeholders(schema: &mut Value) {
    let Value::Object(keywords) = schema else { return };
    for (keyword, inner) in keywords.iter_mut() {
        match (keyword.as_str(), inner) {
            ("properties", Value::Object(properties)) => properties.values_mut().for_each(wrap),
            ("$defs", Value::Object(definitions)) => definitions.values_mut().for_each(accept_placeholders),
            ("items" | "additionalProperties", inner) => wrap(inner),
            ("prefixItems", Value::Array(items)) => items.iter_mut().for_each(wrap),
            ("anyOf" | "oneOf" | "allOf", Value::Array(schemas)) => {
                schemas.iter_mut().for_each(accept_placeholders);
            }
            _ => {}
        }
    }
}

fn wrap(schema: &mut Value) {
    accept_placeholders(schema);
    let Value::Object(keywords) = schema else { return };
    if accepts_any_string(keywords) {
        return;
    }
    let mut outer = Map::new();
    for keyword in ["description", "default"] {
        if let Some(value) = keywords.shift_remove(keyword) {
            outer.insert(keyword.to_owned(), value);
        }
    }
    let own = Value::Object(std::mem::take(keywords));
    outer.insert("anyOf".to_owned(), json!([own, { "$ref": "#/$defs/Placeholder" }]));
    *keywords = outer;
}

fn accepts_any_string(keywords: &Map<String, Value>) -> bool {
    let is_string = match keywords.get("type") {
        Some(Value::String(name)) => name == "string",
        Some(Value::Array(names)) => names.iter().any(|name| name == "string"),
        _ => keywords.is_empty(),
    };
    is_string && !["enum", "const", "pattern"].iter().any(|keyword| keywords.contains_key(*keyword))
}
