//! MessagePack as `JsonPlusSerializer` writes it (<https://github.com/msgpack/msgpack/blob/master/spec.md>).
//!
//! Its extension types 0 to 7 contain MessagePack again (`langgraph/checkpoint/serde/jsonplus.py`), which is
//! decoded, too. The encoder uses the shortest form for each value, as `ormsgpack` does. A value that the
//! SDK wrote therefore has the same bytes after decoding and encoding; see [`encode`].

use crate::RecordError;

/// A MessagePack value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Nil,
    Bool(bool),
    /// A negative integer.
    Negative(i64),
    /// Zero or a positive integer.
    Whole(u64),
    /// The bits of a 32-bit float.
    Single(u32),
    Double(u64),
    Text(String),
    Bytes(Vec<u8>),
    List(Vec<Value>),
    Map(Vec<(Value, Value)>),
    /// A Python object, decoded.
    Object(i8, Box<Value>),
    /// Any other extension.
    Raw(i8, Vec<u8>),
}

/// Maximum depth of lists, maps and objects. A state has about ten levels, and tool arguments rarely have as
/// many again. Each level is a recursive call.
const MAX_DEPTH: usize = 100;

/// Maximum number of values in one blob. A checkpoint with thousands of messages has fewer than a million.
/// Each value takes 32 bytes of memory.
const MAX_VALUES: usize = 4_000_000;

/// The extension types that contain MessagePack.
const OBJECTS: std::ops::RangeInclusive<i8> = 0..=7;

/// Decodes one value that fills the bytes.
///
/// # Errors
///
/// A description without any content of the session.
pub(super) fn decode(bytes: &[u8]) -> Result<Value, RecordError> {
    let mut left = MAX_VALUES;
    decode_within(bytes, 0, &mut left)
}

fn decode_within(bytes: &[u8], depth: usize, left: &mut usize) -> Result<Value, RecordError> {
    let mut reader = Reader { bytes, at: 0, left };
    let value = reader.value(depth)?;
    match reader.at == bytes.len() {
        true => Ok(value),
        false => Err(RecordError::Surplus(bytes.len() - reader.at)),
    }
}

struct Reader<'a, 'l> {
    bytes: &'a [u8],
    at: usize,
    /// The number of values that may still be read.
    left: &'l mut usize,
}

impl<'a> Reader<'a, '_> {
    fn value(&mut self, depth: usize) -> Result<Value, RecordError> {
        if depth > MAX_DEPTH {
            return Err(RecordError::Levels(MAX_DEPTH));
        }
        *self.left = self.left.checked_sub(1).ok_or(RecordError::Values(MAX_VALUES))?;
        let first = self.number(1)? as u8;
        let low = u64::from(first & 0x0f);
        Ok(match first {
            0x00..=0x7f => Value::Whole(first.into()),
            0x80..=0x8f => self.map(low, depth)?,
            0x90..=0x9f => self.list(low, depth)?,
            0xa0..=0xbf => self.text(u64::from(first & 0x1f))?,
            0xc0 => Value::Nil,
            0xc2 | 0xc3 => Value::Bool(first == 0xc3),
            0xc4..=0xc6 => {
                let n = self.number(1 << (first - 0xc4))?;
                Value::Bytes(self.take(n)?.to_vec())
            }
            0xc7..=0xc9 => {
                let n = self.number(1 << (first - 0xc7))?;
                self.extension(n, depth)?
            }
            0xca => Value::Single(self.number(4)? as u32),
            0xcb => Value::Double(self.number(8)?),
            0xcc..=0xcf => Value::Whole(self.number(1 << (first - 0xcc))?),
            0xd0..=0xd3 => self.signed(1 << (first - 0xd0))?,
            0xd4..=0xd8 => self.extension(1 << (first - 0xd4), depth)?,
            0xd9..=0xdb => {
                let n = self.number(1 << (first - 0xd9))?;
                self.text(n)?
            }
            0xdc | 0xdd => {
                let n = self.number(2 << (first - 0xdc))?;
                self.list(n, depth)?
            }
            0xde | 0xdf => {
                let n = self.number(2 << (first - 0xde))?;
                self.map(n, depth)?
            }
            0xe0..=0xff => Value::Negative(i64::from(first as i8)),
            0xc1 => return Err(RecordError::NoValue(self.at - 1)),
        })
    }

    fn take(&mut self, n: u64) -> Result<&'a [u8], RecordError> {
        let end = usize::try_from(n).ok().and_then(|n| self.at.checked_add(n));
        let found = end.and_then(|end| self.bytes.get(self.at..end));
        let found = found.ok_or(RecordError::CutOff(self.bytes.len()))?;
        self.at += found.len();
        Ok(found)
    }

    /// A big-endian number of this many bytes.
    fn number(&mut self, n_bytes: u64) -> Result<u64, RecordError> {
        Ok(self.take(n_bytes)?.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    fn signed(&mut self, n_bytes: u64) -> Result<Value, RecordError> {
        let unused = 64 - 8 * n_bytes as u32;
        let number = (self.number(n_bytes)? << unused) as i64 >> unused;
        Ok(u64::try_from(number).map_or(Value::Negative(number), Value::Whole))
    }

    fn text(&mut self, n: u64) -> Result<Value, RecordError> {
        let at = self.at;
        let text = std::str::from_utf8(self.take(n)?).map_err(|_| RecordError::NotUtf8(at))?;
        Ok(Value::Text(text.to_owned()))
    }

    fn list(&mut self, n: u64, depth: usize) -> Result<Value, RecordError> {
        // No memory is reserved for a length that only a header claims.
        let mut items = Vec::new();
        for _ in 0..n {
            items.push(self.value(depth + 1)?);
        }
        Ok(Value::List(items))
    }

    fn map(&mut self, n: u64, depth: usize) -> Result<Value, RecordError> {
        let mut fields = Vec::new();
        for _ in 0..n {
            fields.push((self.value(depth + 1)?, self.value(depth + 1)?));
        }
        Ok(Value::Map(fields))
    }

    fn extension(&mut self, n: u64, depth: usize) -> Result<Value, RecordError> {
        let code = self.number(1)? as u8 as i8;
        let data = self.take(n)?;
        match OBJECTS.contains(&code).then(|| decode_within(data, depth + 1, self.left)) {
            Some(Ok(value)) => Ok(Value::Object(code, Box::new(value))),
            Some(Err(_)) | None => Ok(Value::Raw(code, data.to_vec())),
        }
    }
}

/// Encodes a value in its shortest form.
pub(super) fn encode(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    write(value, &mut out);
    out
}

fn write(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Nil => out.push(0xc0),
        Value::Bool(is_true) => out.push(if *is_true { 0xc3 } else { 0xc2 }),
        Value::Whole(number) => match number {
            0..=0x7f => out.push(*number as u8),
            _ => sized(out, [0xcc, 0xcd, 0xce, 0xcf], *number),
        },
        Value::Negative(number) => negative(out, *number),
        Value::Single(bits) => {
            out.push(0xca);
            out.extend(bits.to_be_bytes());
        }
        Value::Double(bits) => {
            out.push(0xcb);
            out.extend(bits.to_be_bytes());
        }
        Value::Text(text) => {
            match text.len() {
                n @ 0..32 => out.push(0xa0 | n as u8),
                n => sized(out, [0xd9, 0xda, 0xdb, 0xdb], n as u64),
            }
            out.extend(text.as_bytes());
        }
        Value::Bytes(bytes) => {
            sized(out, [0xc4, 0xc5, 0xc6, 0xc6], bytes.len() as u64);
            out.extend(bytes);
        }
        Value::List(items) => {
            header(out, items.len(), 0x90, 0xdc);
            items.iter().for_each(|item| write(item, out));
        }
        Value::Map(fields) => {
            header(out, fields.len(), 0x80, 0xde);
            for (name, value) in fields {
                write(name, out);
                write(value, out);
            }
        }
        Value::Object(code, value) => extension(out, *code, &encode(value)),
        Value::Raw(code, data) => extension(out, *code, data),
    }
}

/// Writes a number of 1, 2, 4 or 8 bytes after the mark for its size.
fn sized(out: &mut Vec<u8>, marks: [u8; 4], number: u64) {
    let n = match number {
        0..=0xff => 0,
        0x100..=0xffff => 1,
        0x1_0000..=0xffff_ffff => 2,
        _ => 3,
    };
    out.push(marks[n]);
    out.extend(&number.to_be_bytes()[8 - (1 << n)..]);
}

fn negative(out: &mut Vec<u8>, number: i64) {
    let bytes = number.to_be_bytes();
    let n = match number {
        -32.. => {
            out.push(number as u8);
            return;
        }
        -0x80..-32 => 0,
        -0x8000..-0x80 => 1,
        -0x8000_0000..-0x8000 => 2,
        _ => 3,
    };
    out.push(0xd0 + n);
    out.extend(&bytes[8 - (1 << n)..]);
}

/// Writes the header of a list or a map.
fn header(out: &mut Vec<u8>, n: usize, short: u8, long: u8) {
    match n {
        0..16 => out.push(short | n as u8),
        16..0x1_0000 => {
            out.push(long);
            out.extend((n as u16).to_be_bytes());
        }
        _ => {
            out.push(long + 1);
            out.extend((n as u32).to_be_bytes());
        }
    }
}

fn extension(out: &mut Vec<u8>, code: i8, data: &[u8]) {
    match data.len() {
        n @ (1 | 2 | 4 | 8 | 16) => out.push(0xd4 + n.trailing_zeros() as u8),
        n => sized(out, [0xc7, 0xc8, 0xc9, 0xc9], n as u64),
    }
    out.push(code as u8);
    out.extend(data);
}

impl Value {
    /// A field of a map.
    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        let Value::Map(fields) = self else { return None };
        fields.iter().find(|(key, _)| matches!(key, Value::Text(key) if key == name)).map(|(_, value)| value)
    }

    /// A mutable field of a map.
    pub(super) fn get_mut(&mut self, name: &str) -> Option<&mut Value> {
        let Value::Map(fields) = self else { return None };
        fields
            .iter_mut()
            .find(|(key, _)| matches!(key, Value::Text(key) if key == name))
            .map(|(_, value)| value)
    }

    /// The items of a list; empty for any other value.
    pub(super) fn items(&self) -> &[Value] {
        match self {
            Value::List(items) => items,
            _ => &[],
        }
    }

    pub(super) fn as_str(&self) -> Option<&str> {
        match self {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The value as JSON. Bytes and unknown values are null. An object becomes the value in it.
    pub(super) fn to_json(&self) -> serde_json::Value {
        use serde_json::Value as Json;
        match self {
            Value::Nil | Value::Bytes(_) | Value::Raw(..) => Json::Null,
            Value::Bool(is_true) => Json::Bool(*is_true),
            Value::Negative(number) => Json::from(*number),
            Value::Whole(number) => Json::from(*number),
            Value::Single(bits) => Json::from(f32::from_bits(*bits)),
            Value::Double(bits) => Json::from(f64::from_bits(*bits)),
            Value::Text(text) => Json::String(text.clone()),
            Value::List(items) => items.iter().map(Value::to_json).collect(),
            Value::Map(fields) => {
                let field = |(name, value): &(Value, Value)| {
                    let name = match name {
                        Value::Text(name) => name.clone(),
                        name => name.to_json().to_string(),
                    };
                    (name, value.to_json())
                };
                Json::Object(fields.iter().map(field).collect())
            }
            Value::Object(_, value) => match value.items() {
                [_, _, made_of, ..] => made_of.to_json(),
                _ => value.to_json(),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn each_form_is_read() {
        let read = |bytes: &[u8]| decode(bytes).unwrap();
        assert_eq!(read(&[0xcc, 0xff]), Value::Whole(255));
        assert_eq!(read(&[0xd1, 0xff, 0x00]), Value::Negative(-256));
        assert_eq!(read(&[0xd0, 0x05]), Value::Whole(5));
        assert_eq!(read(&[0xff]), Value::Negative(-1));
        assert_eq!(read(&[0xd9, 1, b'a']), Value::Text("a".to_owned()));
        assert_eq!(read(&[0x81, 0xa1, b'k', 0x91, 0xc0]).get("k"), Some(&Value::List(vec![Value::Nil])));
        assert_eq!(
            read(&[0xd5, 5, 0x91, 0xc3]),
            Value::Object(5, Box::new(Value::List(vec![Value::Bool(true)])))
        );
        assert_eq!(read(&[0xd5, 5, 0x91, 0x91]), Value::Raw(5, vec![0x91, 0x91]));
        assert_eq!(read(&[0xd4, 0xff, 0]), Value::Raw(-1, vec![0]));
    }

    #[test]
    fn truncated_bytes_and_trailing_bytes_are_rejected() {
        let words = |bytes: &[u8]| decode(bytes).unwrap_err().to_string();
        assert_eq!(words(&[]), "cut off after 0 bytes");
        assert_eq!(words(&[0xdd, 0xff, 0xff, 0xff, 0xff]), "cut off after 5 bytes");
        assert_eq!(words(&[0xc0, 0xc0]), "1 bytes after the end of the value");
        assert_eq!(words(&[0xc1]), "no value at byte 0");
        assert_eq!(words(&[0xa1, 0xff]), "text that is not UTF-8 at byte 1");
    }

    #[test]
    fn depth_is_bounded_through_lists_and_objects() {
        assert!(decode(&[0x91; 1_000_000]).is_err());
        let mut bytes = vec![0xc0];
        for _ in 0..200 {
            let mut outer = Vec::new();
            extension(&mut outer, 5, &bytes);
            bytes = outer;
        }
        // The innermost values stay unchanged.
        assert_eq!(encode(&decode(&bytes).unwrap()), bytes);
    }

    #[test]
    fn values_are_bounded() {
        let n = MAX_VALUES as u32;
        let mut bytes = vec![0xdd];
        bytes.extend(n.to_be_bytes());
        bytes.resize(bytes.len() + MAX_VALUES, 0xc0);
        assert_eq!(decode(&bytes), Err(RecordError::Values(MAX_VALUES)));
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Nil),
            any::<bool>().prop_map(Value::Bool),
            any::<u64>().prop_map(Value::Whole),
            (i64::MIN..0).prop_map(Value::Negative),
            (-70_000_i64..0).prop_map(Value::Negative),
            any::<u64>().prop_map(Value::Double),
            ".{0,40}".prop_map(Value::Text),
            proptest::collection::vec(any::<u8>(), 0..300).prop_map(Value::Bytes),
        ];
        leaf.prop_recursive(4, 64, 20, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..20).prop_map(Value::List),
                proptest::collection::vec((inner.clone(), inner.clone()), 0..20).prop_map(Value::Map),
                inner.prop_map(|value| Value::Object(5, Box::new(value))),
            ]
        })
    }

    proptest! {
        #[test]
        fn written_values_are_read_again(value in values()) {
            prop_assert_eq!(decode(&encode(&value)), Ok(value));
        }

        #[test]
        fn any_bytes_are_read_or_rejected(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(value) = decode(&bytes) {
                prop_assert_eq!(decode(&encode(&value)), Ok(value.clone()));
                value.to_json();
            }
        }
    }
}
