//! The fields of the files that users write and of the adapter protocol, from their JSON Schemas.

use brickbat_drive::driver::{manifest, protocol};
use serde_json::{Map, Value};

/// A field of a schema, or a value that a field may have.
pub(super) struct Field {
    pub(super) name: String,
    pub(super) kind: &'static str,
    pub(super) page: String,
}

/// The fields of manifests and of the adapter protocol, and the values of those that have a few.
pub(super) fn all() -> Vec<Field> {
    let mut fields = Vec::new();
    for (kind, value_kind, schema) in [
        ("field of a manifest", "value in a manifest", manifest::schema()),
        ("field of the adapter protocol", "value in the adapter protocol", protocol::schema()),
    ] {
        let own: Vec<Field> = of(kind, value_kind, &schema);
        for field in own {
            match fields
                .iter_mut()
                .find(|known: &&mut Field| known.name == field.name && known.kind == field.kind)
            {
                Some(known) if known.page.contains(&field.page) => {}
                Some(known) => known.page = format!("{}\n{}", known.page, field.page),
                None => fields.push(field),
            }
        }
    }
    fields
}

fn of(kind: &'static str, value_kind: &'static str, schema: &Value) -> Vec<Field> {
    let empty = Map::new();
    let types = schema["$defs"].as_object().unwrap_or(&empty);
    let mut fields = Vec::new();
    for properties in
        std::iter::once(schema).chain(types.values()).filter_map(|of| of["properties"].as_object())
    {
        fields.extend(properties.iter().filter_map(|(name, field)| {
            let page = field["description"].as_str()?.to_owned();
            Some(Field { name: name.clone(), kind, page })
        }));
        for (name, field) in properties {
            let Some(named) = field["$ref"].as_str().and_then(|path| path.strip_prefix("#/$defs/")) else {
                continue;
            };
            let values = types.get(named).and_then(|of| of["oneOf"].as_array()).into_iter().flatten();
            fields.extend(values.filter_map(|value| {
                let meaning = value["description"].as_str()?;
                let page = format!("A value of the field `{name}`. {meaning}");
                Some(Field { name: value["const"].as_str()?.to_owned(), kind: value_kind, page })
            }));
        }
    }
    fields
}
