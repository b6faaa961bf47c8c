//! Improvised arguments fit their schemas, whatever the schemas are.

#![expect(clippy::unwrap_used, reason = "a test may stop at what it does not expect")]

use brickbat_engine::improvise::fill;
use brickbat_scenario::random::Random;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// Schemas as tools declare them, nested to a depth.
fn schema(depth: u32) -> BoxedStrategy<Value> {
    let leaf = prop_oneof![
        Just(json!({ "type": "string" })),
        Just(json!({ "type": "boolean" })),
        Just(json!({ "type": ["string", "null"] })),
        (0_u64..40, 0_u64..40)
            .prop_map(|(a, b)| { json!({ "type": "string", "minLength": a.min(b), "maxLength": a.max(b) }) }),
        (-50_i64..50, 0_i64..50, 1_i64..7).prop_map(|(low, span, step)| {
            json!({ "type": "integer", "minimum": low, "maximum": low + span + step, "multipleOf": step })
        }),
        (-50_i64..50).prop_map(|low| json!({ "type": "integer", "exclusiveMinimum": low })),
        (-50_i64..50).prop_map(|high| json!({ "type": "number", "maximum": high })),
        (-50_i64..50).prop_map(|low| {
            let low = low as f64 / 10.0;
            json!({ "type": "number", "exclusiveMinimum": low, "exclusiveMaximum": low + 0.05 })
        }),
        proptest::collection::vec("[a-z]{1,6}", 1..5).prop_map(|words| json!({ "enum": words })),
        "[a-z]{1,6}".prop_map(|word| json!({ "const": word })),
    ];
    if depth == 0 {
        return leaf.boxed();
    }
    let inner = schema(depth - 1);
    let object = proptest::collection::btree_map("[a-z]{1,6}", (inner.clone(), any::<bool>()), 0..5);
    prop_oneof![
        2 => leaf,
        2 => object.prop_map(|properties| {
            let required: Vec<&String> = properties.iter().filter(|(_, (_, is))| *is).map(|(name, _)| name).collect();
            let required = json!(required);
            let properties: Map<String, Value> =
                properties.iter().map(|(name, (schema, _))| (name.clone(), schema.clone())).collect();
            json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
        }),
        1 => (inner.clone(), 0_u64..5, 0_u64..5).prop_map(|(items, a, b)| {
            json!({ "type": "array", "items": items, "minItems": a.min(b), "maxItems": a.max(b) })
        }),
        1 => proptest::collection::vec(inner.clone(), 1..4).prop_map(|choices| json!({ "anyOf": choices })),
        1 => inner.prop_map(|schema| json!({ "allOf": [schema] })),
    ]
    .boxed()
}

/// True if a value fits its schema. This is independent of the code that fills schemas, and covers only the
/// schemas above.
fn fits(schema: &Value, value: &Value) -> bool {
    let number = |key: &str| schema[key].as_f64();
    let within = |x: f64| {
        number("minimum").is_none_or(|low| x >= low)
            && number("maximum").is_none_or(|high| x <= high)
            && number("exclusiveMinimum").is_none_or(|low| x > low)
            && number("exclusiveMaximum").is_none_or(|high| x < high)
            && number("multipleOf").is_none_or(|step| x % step == 0.0)
    };
    let counts = |n: usize, least: &str, most: &str| {
        let n = n as u64;
        schema[least].as_u64().is_none_or(|bound| n >= bound)
            && schema[most].as_u64().is_none_or(|bound| n <= bound)
    };
    if let Some(choices) = schema["anyOf"].as_array() {
        return choices.iter().any(|choice| fits(choice, value));
    }
    if let Some(parts) = schema["allOf"].as_array() {
        return parts.iter().all(|part| fits(part, value));
    }
    if let Some(values) = schema["enum"].as_array() {
        return values.contains(value);
    }
    if let Some(only) = schema.get("const") {
        return only == value;
    }
    let kind = schema["type"].as_str().or_else(|| schema["type"][0].as_str()).unwrap();
    match (kind, value) {
        ("string", Value::String(text)) => counts(text.chars().count(), "minLength", "maxLength"),
        ("boolean", Value::Bool(_)) => true,
        ("integer", Value::Number(number)) => number.is_i64() && within(number.as_f64().unwrap()),
        ("number", Value::Number(number)) => within(number.as_f64().unwrap()),
        ("array", Value::Array(items)) => {
            counts(items.len(), "minItems", "maxItems")
                && items.iter().all(|item| fits(&schema["items"], item))
        }
        ("object", Value::Object(fields)) => {
            let required = schema["required"].as_array().unwrap();
            required.iter().all(|name| fields.contains_key(name.as_str().unwrap()))
                && fields.iter().all(|(name, value)| {
                    schema["properties"].get(name).is_some_and(|property| fits(property, value))
                })
        }
        _ => false,
    }
}

proptest! {
    #[test]
    fn arguments_fit_their_schema_and_follow_from_the_seed(schema in schema(3), seed: u64) {
        let value = fill(&schema, &mut Random::new(seed));
        prop_assert!(fits(&schema, &value), "{schema}\n{value}");
        prop_assert_eq!(value, fill(&schema, &mut Random::new(seed)));
    }
}

/// The arguments that a seed fills in.
fn filled(schema: &Value) -> Value {
    fill(schema, &mut Random::new(1))
}

#[test]
fn references_formats_and_capitals_are_supported() {
    let tree = json!({
        "$defs": { "node": {
            "type": "object",
            "properties": { "name": { "type": "string" }, "next": { "$ref": "#/$defs/node" } },
            "required": ["name"],
        } },
        "type": "object",
        "properties": { "root": { "$ref": "#/$defs/node" }, "when": { "type": "string", "format": "date-time" } },
        "required": ["root", "when"],
    });
    let value = filled(&tree);
    assert!(value["root"]["name"].is_string(), "{value}");
    assert_eq!(value["when"].as_str().map(str::len), Some("2026-11-01T10:00:00Z".len()));
    let gemini = json!({ "type": "OBJECT", "properties": { "n": { "type": "INTEGER" } }, "required": ["n"] });
    assert!(filled(&gemini)["n"].is_i64());
    let pattern = json!({ "type": "string", "pattern": "^ORD-[0-9]+$", "examples": ["ORD-12"] });
    assert_eq!(filled(&pattern), json!("ORD-12"));
    for nothing in [json!(null), json!(true), json!({}), json!({ "type": "object" })] {
        assert_eq!(filled(&nothing), json!({}), "{nothing}");
    }
}

#[test]
fn arguments_with_dangerous_names_get_harmless_values() {
    let text = |name: &str| {
        let schema =
            json!({ "type": "object", "properties": { name: { "type": "string" } }, "required": [name] });
        filled(&schema)[name].as_str().unwrap().to_owned()
    };
    assert!(text("command").starts_with("echo "));
    assert!(text("url").starts_with("http://127.0.0.1:9/"));
    assert_eq!(text("working_directory"), ".");
    assert!(text("file_path").ends_with(".txt") && !text("file_path").contains('/'));
}

#[test]
fn hostile_schemas_get_a_bounded_answer() {
    let itself = json!({
        "$defs": { "a": { "type": "object", "properties": { "a": { "$ref": "#/$defs/a" } }, "required": ["a"] } },
        "$ref": "#/$defs/a",
    });
    let wide = json!({ "type": "object", "$defs": { "w": {
        "type": "array", "minItems": 1_000_000_000_u64, "items": { "$ref": "#/$defs/w" },
    } }, "properties": { "w": { "$ref": "#/$defs/w" } }, "required": ["w"] });
    let long = json!({ "type": "object", "properties": { "s": { "type": "string", "minLength": u64::MAX } }, "required": ["s"] });
    let circle = json!({ "$ref": "#" });
    let huge = json!({ "type": "integer", "minimum": 1e300, "multipleOf": 1e-300 });
    for schema in [itself, wide, long, circle, huge] {
        assert!(filled(&schema).to_string().len() < 1 << 20, "{schema}");
    }
}
