//! Arguments that fit a JSON Schema.
//!
//! It supports the part of JSON Schema that tool declarations use: types, `enum`, `const`, properties,
//! `required`, items, lengths, bounds, `multipleOf`, formats, alternatives, `allOf` and references inside the
//! schema. A `pattern` is respected only if an example or a default matches it. Every schema gets a value; if
//! no small value fits, for example because the schema requires itself, the value does not fit.
//!
//! Values are harmless if their names are understood: a command only prints a word, and nothing listens at an
//! address.

mod numbers;
mod strings;

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use brickbat_scenario::random::Random;

/// A value that fits a schema.
pub fn fill(schema: &Value, random: &mut Random) -> Value {
    let mut filling = Filling { root: schema, random, n_left: MAX_VALUES };
    filling.value(schema, "", 0)
}

/// The maximum number of values in one argument list. Real tools take a dozen; a hostile schema could ask for
/// millions.
const MAX_VALUES: usize = 500;

/// Below this depth optional values are left out. Real schemas have up to six levels.
const MAX_OPTIONAL_DEPTH: usize = 4;

/// Below this depth a schema is not followed, because it requires itself.
const MAX_DEPTH: usize = 24;

/// The maximum number of items in one list, regardless of the schema.
const MAX_ITEMS: u64 = 64;

/// Attempts to find an item that is not in the list yet.
const MAX_TRIES: usize = 8;

struct Filling<'s, 'r> {
    root: &'s Value,
    random: &'r mut Random,
    n_left: usize,
}

impl Filling<'_, '_> {
    /// A value for a schema. `name` is the name of the property.
    fn value(&mut self, schema: &Value, name: &str, depth: usize) -> Value {
        self.n_left = self.n_left.saturating_sub(1);
        if depth > MAX_DEPTH || self.n_left == 0 {
            return Value::Null;
        }
        let schema = self.plain(schema, depth);
        if let Some(value) = schema.get("const") {
            return value.clone();
        }
        if let Some(values) = schema.get("enum").and_then(Value::as_array).filter(|values| !values.is_empty())
        {
            // Gemini's schemas may contain an empty word for "none of these".
            let said: Vec<&Value> = values.iter().filter(|value| !value.is_null() && **value != "").collect();
            return self.random.pick(&said).map_or(Value::Null, |value| (*value).clone());
        }
        match kind(&schema, depth) {
            "object" => self.object(&schema, depth),
            "array" => self.array(&schema, name, depth),
            "integer" => numbers::integer(&schema, self.random),
            "number" => numbers::number(&schema, self.random),
            "boolean" => Value::Bool(self.random.below(2) == 1),
            "null" => Value::Null,
            _ => Value::String(strings::string(&schema, name, self.random)),
        }
    }

    fn object(&mut self, schema: &Value, depth: usize) -> Value {
        let empty = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
        let required: Vec<&str> = schema
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let n_least = schema.get("minProperties").and_then(Value::as_u64).unwrap_or_default();
        let mut filled = Map::new();
        for (name, property) in properties {
            let is_required = required.contains(&name.as_str());
            let n_missing = n_least.saturating_sub(filled.len() as u64);
            let is_given =
                is_required || n_missing > 0 || (depth < MAX_OPTIONAL_DEPTH && self.random.below(4) == 0);
            if is_given && (is_required || self.n_left > 1) {
                filled.insert(name.clone(), self.value(property, name, depth + 1));
            }
        }
        let others = schema.get("additionalProperties").filter(|schema| schema.is_object());
        for name in required.iter().filter(|name| !properties.contains_key(**name)) {
            let value = self.value(others.unwrap_or(&json!({ "type": "string" })), name, depth + 1);
            filled.insert((*name).to_owned(), value);
        }
        Value::Object(filled)
    }

    fn array(&mut self, schema: &Value, name: &str, depth: usize) -> Value {
        let bound = |key: &str| schema.get(key).and_then(Value::as_u64);
        let least = bound("minItems").unwrap_or(0).min(MAX_ITEMS);
        let most = bound("maxItems").unwrap_or(MAX_ITEMS).min(MAX_ITEMS);
        let by_place = schema.get("prefixItems").or_else(|| schema.get("items")).and_then(Value::as_array);
        let each = schema.get("items").filter(|items| items.is_object());
        let n_places = by_place.map_or(0, |places| places.len() as u64);
        let wanted = if n_places > 0 { n_places } else { 1 + self.random.below(2) };
        let n_items = wanted.max(least).min(most.max(least));
        let is_set = schema.get("uniqueItems") == Some(&Value::Bool(true));
        let anything = json!({ "type": "string" });
        let mut items: Vec<Value> = Vec::new();
        for index in 0..n_items {
            if self.n_left <= 1 && index >= least {
                break;
            }
            let of_place = by_place.and_then(|places| places.get(usize::try_from(index).ok()?));
            let item = of_place.or(each).unwrap_or(&anything);
            let mut value = self.value(item, name, depth + 1);
            for _ in 0..MAX_TRIES {
                if !is_set || !items.contains(&value) {
                    break;
                }
                value = self.value(item, name, depth + 1);
            }
            // A set with too few items is better than one with a duplicate, unless the schema requires more
            // items.
            if is_set && items.contains(&value) && index >= least {
                break;
            }
            items.push(value);
        }
        Value::Array(items)
    }

    /// The schema with its references, alternatives and `allOf` parts merged into it.
    fn plain<'v>(&self, schema: &'v Value, depth: usize) -> Cow<'v, Value> {
        let mut schema = Cow::Borrowed(schema);
        for _ in depth..MAX_DEPTH {
            let Some(added) = self.parts(&schema) else { break };
            let mut merged = schema.into_owned();
            if let Value::Object(fields) = &mut merged {
                ["$ref", "anyOf", "oneOf", "allOf"].iter().for_each(|key| {
                    fields.shift_remove(*key);
                });
            }
            added.iter().for_each(|part| merge(&mut merged, part));
            schema = Cow::Owned(merged);
        }
        schema
    }

    /// The schemas that this schema refers to and that must be merged into it, if there are any.
    fn parts(&self, schema: &Value) -> Option<Vec<Value>> {
        let mut parts = Vec::new();
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            let pointer = reference.strip_prefix('#').unwrap_or_default();
            parts.extend(self.root.pointer(pointer).filter(|_| !pointer.is_empty()).cloned());
            // References to other documents are not resolved.
            parts.push(json!({}));
        }
        for key in ["anyOf", "oneOf"] {
            let choices = schema.get(key).and_then(Value::as_array);
            let says_something = |choice: &&Value| types(choice) != ["null"] && **choice != json!(false);
            parts.extend(choices.and_then(|choices| choices.iter().find(says_something)).cloned());
        }
        parts.extend(schema.get("allOf").and_then(Value::as_array).into_iter().flatten().cloned());
        (!parts.is_empty()).then_some(parts)
    }
}

/// Merges the requirements of one schema into another.
fn merge(schema: &mut Value, added: &Value) {
    let Value::Object(added) = added else { return };
    if !schema.is_object() {
        *schema = json!({});
    }
    let Value::Object(fields) = schema else { return };
    for (key, value) in added {
        match (fields.get_mut(key), value) {
            (Some(Value::Object(own)), Value::Object(more)) if key == "properties" => {
                own.extend(more.iter().map(|(name, schema)| (name.clone(), schema.clone())));
            }
            (Some(Value::Array(own)), Value::Array(more)) if key == "required" => {
                own.extend(more.iter().cloned())
            }
            _ => {
                fields.insert(key.clone(), value.clone());
            }
        }
    }
}

/// The types of a schema in lower case, because Gemini writes them in capitals.
fn types(schema: &Value) -> Vec<String> {
    let words = match schema.get("type") {
        Some(Value::Array(types)) => types.iter().filter_map(Value::as_str).collect(),
        Some(Value::String(word)) => vec![word.as_str()],
        _ => Vec::new(),
    };
    words.into_iter().map(str::to_ascii_lowercase).collect()
}

/// The type of a schema's values. If the schema does not name it, it follows from the keywords about values.
fn kind(schema: &Value, depth: usize) -> &'static str {
    const KINDS: [&str; 6] = ["object", "array", "string", "integer", "number", "boolean"];
    let types = types(schema);
    let named = types.iter().find_map(|own| KINDS.into_iter().find(|kind| kind == own));
    let has = |keys: &[&str]| keys.iter().any(|key| schema.get(key).is_some());
    match named {
        Some(kind) => kind,
        None if types.iter().any(|own| own == "null") => "null",
        None if has(&["properties", "required", "additionalProperties"]) => "object",
        None if has(&["items", "prefixItems", "minItems"]) => "array",
        None if has(&["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]) => {
            "number"
        }
        None if depth == 0 => "object",
        None => "string",
    }
}
