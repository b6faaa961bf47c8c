//! JSON as it stands in a body: a tree that borrows its texts from the bytes.
//!
//! Every request is read at least once, and most of what is in it is text that nobody changes. So strings and keys
//! point into the body, unless an escape forces a copy, and an object is a plain list of its fields.
//! The parser is serde_json's, with its limit on nesting and its errors. What is to be kept or written becomes a
//! [`Value`] again.

use std::borrow::Cow;
use std::fmt;
use std::ops::Index;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Number, Value};

/// A JSON value, read only.
#[derive(Debug, Clone)]
pub enum Json<'a> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string.
    String(Cow<'a, str>),
    /// An array.
    Array(Vec<Json<'a>>),
    /// An object.
    Object(Object<'a>),
}

/// The fields of an object, as they were written.
///
/// A look-up goes through them, which beats hashing for the few fields that objects of requests have. It costs as
/// much as the object is long, and the readers look up a fixed number of names in each object, so a hostile body
/// with very many fields still costs no more than its length. A name that is repeated is not noticed when it is
/// read; the look-up begins at the end, so that the last one counts, as in serde_json.
#[derive(Debug, Clone, Default)]
pub struct Object<'a>(Vec<(Cow<'a, str>, Json<'a>)>);

/// What an index gives where nothing is.
static NULL: Json<'static> = Json::Null;

impl<'a> Json<'a> {
    /// Reads bytes that hold one JSON value and nothing else. Which bytes are refused, and with what error, is the
    /// same as for a [`Value`].
    pub fn parse(bytes: &'a [u8]) -> Result<Json<'a>, serde_json::Error> {
        match std::str::from_utf8(bytes) {
            // Checked once as a whole, which is faster than string by string.
            Ok(text) => read(serde_json::Deserializer::from_str(text)),
            // The parser says where.
            Err(_) => read(serde_json::Deserializer::from_slice(bytes)),
        }
    }

    /// A field of an object.
    pub fn get(&self, name: &str) -> Option<&Json<'a>> {
        self.as_object()?.get(name)
    }

    /// The truth value, if it is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Json::Bool(truth) => Some(*truth),
            _ => None,
        }
    }

    /// The text of a string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Json::String(text) => Some(text),
            _ => None,
        }
    }

    /// The items of an array.
    pub fn as_array(&self) -> Option<&[Json<'a>]> {
        match self {
            Json::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The fields of an object.
    pub fn as_object(&self) -> Option<&Object<'a>> {
        match self {
            Json::Object(object) => Some(object),
            _ => None,
        }
    }

    /// Whether it is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Json::Null)
    }

    /// Whether it is an array.
    pub fn is_array(&self) -> bool {
        matches!(self, Json::Array(_))
    }

    /// Whether it is an object.
    pub fn is_object(&self) -> bool {
        matches!(self, Json::Object(_))
    }

    /// A copy that borrows nothing, in which each name of an object occurs once.
    pub fn to_value(&self) -> Value {
        match self {
            Json::Null => Value::Null,
            Json::Bool(truth) => Value::Bool(*truth),
            Json::Number(number) => Value::Number(number.clone()),
            Json::String(text) => Value::String(text.to_string()),
            Json::Array(items) => Value::Array(items.iter().map(Json::to_value).collect()),
            Json::Object(Object(fields)) => {
                let fields = fields.iter().map(|(name, value)| (name.to_string(), value.to_value()));
                Value::Object(fields.collect())
            }
        }
    }
}

impl<'a> Object<'a> {
    /// A field; the last one of that name.
    pub fn get(&self, name: &str) -> Option<&Json<'a>> {
        self.0.iter().rev().find(|(own, _)| own == name).map(|(_, value)| value)
    }
}

/// A field of an object; `null` where there is none.
impl<'a> Index<&str> for Json<'a> {
    type Output = Json<'a>;

    fn index(&self, name: &str) -> &Json<'a> {
        self.get(name).unwrap_or(&NULL)
    }
}

/// An item of an array; `null` where there is none.
impl<'a> Index<usize> for Json<'a> {
    type Output = Json<'a>;

    fn index(&self, idx: usize) -> &Json<'a> {
        self.as_array().and_then(|items| items.get(idx)).unwrap_or(&NULL)
    }
}

impl<'a> From<&'a Value> for Json<'a> {
    fn from(value: &'a Value) -> Json<'a> {
        match value {
            Value::Null => Json::Null,
            Value::Bool(truth) => Json::Bool(*truth),
            Value::Number(number) => Json::Number(number.clone()),
            Value::String(text) => Json::String(Cow::Borrowed(text)),
            Value::Array(items) => Json::Array(items.iter().map(Json::from).collect()),
            Value::Object(fields) => {
                let fields = fields.iter().map(|(name, value)| (Cow::Borrowed(name.as_str()), value.into()));
                Json::Object(Object(fields.collect()))
            }
        }
    }
}

fn read<'a, R: serde_json::de::Read<'a>>(
    mut deserializer: serde_json::Deserializer<R>,
) -> Result<Json<'a>, serde_json::Error> {
    let mut json = Json::Null;
    Place(&mut json).deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(json)
}

/// Where a value is written when it is read. To hand values back and move them into place costs a tenth more,
/// as was measured. So a list that is being read ends with a place that is not filled yet.
struct Place<'p, 'a>(&'p mut Json<'a>);

impl<'de> DeserializeSeed<'de> for Place<'_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Place<'_, 'de> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("any valid JSON value")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        *self.0 = Json::Null;
        Ok(())
    }

    fn visit_bool<E>(self, truth: bool) -> Result<(), E> {
        *self.0 = Json::Bool(truth);
        Ok(())
    }

    fn visit_i64<E>(self, number: i64) -> Result<(), E> {
        *self.0 = Json::Number(number.into());
        Ok(())
    }

    fn visit_u64<E>(self, number: u64) -> Result<(), E> {
        *self.0 = Json::Number(number.into());
        Ok(())
    }

    fn visit_f64<E>(self, number: f64) -> Result<(), E> {
        *self.0 = Number::from_f64(number).map_or(Json::Null, Json::Number);
        Ok(())
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<(), E> {
        *self.0 = Json::String(Cow::Borrowed(text));
        Ok(())
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        *self.0 = Json::String(Cow::Owned(text.to_owned()));
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut array: A) -> Result<(), A::Error> {
        // Not `vec!`, which makes room for one.
        let mut items = Vec::new();
        items.push(Json::Null);
        while let Some(item) = items.last_mut()
            && array.next_element_seed(Place(item))?.is_some()
        {
            items.push(Json::Null);
        }
        *self.0 = Json::Array(without_last(items));
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<(), A::Error> {
        let mut fields = Vec::new();
        fields.push(NO_FIELD);
        while let Some((name, value)) = fields.last_mut()
            && object.next_key_seed(NamePlace(name))?.is_some()
        {
            object.next_value_seed(Place(value))?;
            fields.push(NO_FIELD);
        }
        *self.0 = Json::Object(Object(without_last(fields)));
        Ok(())
    }
}

/// A field that is still to be read.
const NO_FIELD: (Cow<'static, str>, Json<'static>) = (Cow::Borrowed(""), Json::Null);

/// A list without the place that was not filled. An empty one keeps no memory, since a body can hold millions.
fn without_last<T>(mut list: Vec<T>) -> Vec<T> {
    list.pop();
    if list.is_empty() { Vec::new() } else { list }
}

/// Where the name of a field is written.
struct NamePlace<'p, 'a>(&'p mut Cow<'a, str>);

impl<'de> DeserializeSeed<'de> for NamePlace<'_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for NamePlace<'_, 'de> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("a name")
    }

    fn visit_borrowed_str<E>(self, name: &'de str) -> Result<(), E> {
        *self.0 = Cow::Borrowed(name);
        Ok(())
    }

    fn visit_str<E>(self, name: &str) -> Result<(), E> {
        *self.0 = Cow::Owned(name.to_owned());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    /// Both readers agree about the bytes, the error and its place included.
    fn check(bytes: &[u8]) {
        let plain = serde_json::from_slice::<Value>(bytes).map_err(|error| error.to_string());
        let borrowed = Json::parse(bytes).map(|json| json.to_value()).map_err(|error| error.to_string());
        assert_eq!(borrowed, plain, "{}", String::from_utf8_lossy(bytes));
    }

    #[test]
    fn the_same_bytes_are_read_and_refused_as_by_serde_json() {
        let texts = [
            r#" {"a":[1,-2,3.5,1e400,18446744073709551615,99999999999999999999],"b":{}} "#,
            r#"{"a":[1,-2,3.5,18446744073709551615,99999999999999999999,-0],"b":{},"c":null}"#,
            r#"{"a":1,"b":2,"a":3,"\u0061":4}"#,
            r#""line\nbreak \ud83d\ude00""#,
            r#"["\ud83d"]"#,
            "\"line\nbreak\"",
            "[1] x",
            "[1,]",
            "{1:2}",
            r#"{"a" 1}"#,
            "",
            "nul",
        ];
        for text in texts {
            check(text.as_bytes());
            (0..text.len()).for_each(|end| check(&text.as_bytes()[..end]));
        }
        check(b"[\"ab\xff\"]");
        check(b"[1]\xff");
    }

    #[test]
    fn only_escapes_are_copied() {
        let json = Json::parse(br#"{"pl\u0061in":"text","key":"two\nlines"}"#).unwrap();
        assert!(matches!(&json["plain"], Json::String(Cow::Borrowed("text"))));
        assert!(matches!(&json["key"], Json::String(Cow::Owned(text)) if text == "two\nlines"));
    }

    #[test]
    fn what_is_not_there_is_null() {
        let json = Json::parse(br#"{"a":[true]}"#).unwrap();
        assert_eq!(json["a"][0].as_bool(), Some(true));
        assert!(json["a"][1].is_null() && json["b"]["c"][7].is_null() && json[0].is_null());
        assert!(json.get("b").is_none());
    }

    #[test]
    fn nesting_is_bounded() {
        for open in ["[", "{\"a\":"] {
            check(open.repeat(100_000).as_bytes());
            check(format!("{}1{}", "[".repeat(127), "]".repeat(127)).as_bytes());
        }
    }

    #[test]
    fn the_last_of_very_many_equal_names_counts() {
        let fields: Vec<String> = (0..100_000).map(|n| format!("\"a{}\":{n}", n % 3)).collect();
        let text = format!("{{{}}}", fields.join(","));
        let json = Json::parse(text.as_bytes()).unwrap();
        assert_eq!(json["a0"].to_value(), json!(99_999));
        assert_eq!(json.to_value(), json!({ "a0": 99_999, "a1": 99_997, "a2": 99_998 }));
    }

    #[test]
    fn a_value_is_borrowed_and_given_back() {
        let value = json!({ "a": [1, -2, 3.5, "text", null, true, {}], "b": { "c": [] } });
        assert_eq!(Json::from(&value).to_value(), value);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_alike(text in r#"[\[\]{},:"a\\u0d8 1e.tru\n-]{0,40}"#) {
            check(text.as_bytes());
        }
    }
}
