//! Converts bytes to rows in one pass.

use serde::de::{Error as _, IgnoredAny};
use serde_json::Value;

use super::{JsonType, MAX_BYTES, MAX_DEPTH, Row, Tape, escape};

/// Reads values from a text.
#[derive(Debug)]
pub(super) struct Scanner<'a> {
    bytes: &'a [u8],
    pub(super) at: usize,
    depth: usize,
}

/// An array or an object that has begun and not ended.
#[derive(Debug, Clone, Copy)]
struct Open {
    row: usize,
    kind: JsonType,
    /// Number of items or fields read.
    n: usize,
}

/// The text is not JSON. [`error_of`] determines the error.
#[derive(Debug)]
pub(super) struct Malformed;

/// Depth up to which values are read by recursion, which is faster. Deeper values use no stack.
const MAX_RECURSION: usize = 64;

/// The error for a text that is nested more than [`MAX_DEPTH`] deep.
const TOO_DEEP: &str = "recursion limit exceeded: more than 10000 levels";

/// Converts the bytes to text.
pub(super) fn text(bytes: &[u8]) -> Result<&str, serde_json::Error> {
    if bytes.len() > MAX_BYTES {
        return Err(serde_json::Error::custom(format!("longer than {MAX_BYTES} bytes")));
    }
    std::str::from_utf8(bytes).map_err(|_| error_of(bytes))
}

/// Returns serde_json's error for bytes that this reader rejects. serde_json does not read values nested
/// more than 127 deep, so there it gets only the brackets.
pub(super) fn error_of(bytes: &[u8]) -> serde_json::Error {
    let is_too_deep = |error: &serde_json::Error| error.to_string().starts_with("recursion limit exceeded");
    let read = match serde_json::from_slice::<Value>(bytes) {
        Err(error) if is_too_deep(&error) => serde_json::from_slice::<IgnoredAny>(bytes).map(|_| ()),
        read => read.map(|_| ()),
    };
    match read {
        Err(error) => error,
        Ok(()) if depth(bytes) > MAX_DEPTH => serde_json::Error::custom(TOO_DEEP),
        Ok(()) => serde_json::Error::custom("a string that is not text, or a number that is too large"),
    }
}

/// Returns the bracket depth outside strings.
fn depth(bytes: &[u8]) -> usize {
    let (mut depth, mut deepest, mut is_string) = (0_usize, 0, false);
    let mut rest = bytes.iter();
    while let Some(byte) = rest.next() {
        match byte {
            b'\\' if is_string => {
                rest.next();
            }
            b'"' => is_string = !is_string,
            b'[' | b'{' if !is_string => depth += 1,
            b']' | b'}' if !is_string => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str) -> Scanner<'a> {
        Scanner { bytes: text.as_bytes(), at: 0, depth: 0 }
    }

    /// Reads one value, with white space before it, and appends it to the tape.
    pub(super) fn value(&mut self, tape: &mut Tape<'a>) -> Result<(), Malformed> {
        match self.peek().ok_or(Malformed)? {
            b'"' => self.text(tape),
            b'{' => self.object(tape),
            b'[' => self.array(tape),
            first => self.scalar(first, tape),
        }
    }

    fn object(&mut self, tape: &mut Tape<'a>) -> Result<(), Malformed> {
        let mut open = self.open(JsonType::Object, tape)?;
        if self.depth > MAX_RECURSION {
            return self.rest_of(open, tape);
        }
        while self.goes_on(open.n, b'}')? {
            self.name(tape)?;
            self.value(tape)?;
            open.n += 1;
        }
        tape.close(open.row, self.at, JsonType::Object);
        Ok(())
    }

    fn array(&mut self, tape: &mut Tape<'a>) -> Result<(), Malformed> {
        let mut open = self.open(JsonType::Array, tape)?;
        if self.depth > MAX_RECURSION {
            return self.rest_of(open, tape);
        }
        while self.goes_on(open.n, b']')? {
            self.value(tape)?;
            open.n += 1;
        }
        tape.close(open.row, self.at, JsonType::Array);
        Ok(())
    }

    /// Reads the rest of an array or an object of any depth without recursion.
    #[cold]
    fn rest_of(&mut self, open: Open, tape: &mut Tape<'a>) -> Result<(), Malformed> {
        let mut all = vec![open];
        while let Some(inside) = all.last_mut() {
            let is_object = inside.kind == JsonType::Object;
            if self.goes_on(inside.n, if is_object { b'}' } else { b']' })? {
                inside.n += 1;
                if is_object {
                    self.name(tape)?;
                }
                all.extend(self.begin(tape)?);
            } else {
                tape.close(inside.row, self.at, inside.kind);
                all.pop();
            }
        }
        Ok(())
    }

    /// Reads a scalar, or enters an array or an object.
    fn begin(&mut self, tape: &mut Tape<'a>) -> Result<Option<Open>, Malformed> {
        match self.peek().ok_or(Malformed)? {
            b'"' => self.text(tape).map(|()| None),
            b'{' => self.open(JsonType::Object, tape).map(Some),
            b'[' => self.open(JsonType::Array, tape).map(Some),
            first => self.scalar(first, tape).map(|()| None),
        }
    }

    /// Enters an array or an object.
    #[inline]
    fn open(&mut self, kind: JsonType, tape: &mut Tape<'a>) -> Result<Open, Malformed> {
        let row = tape.open(self.at);
        self.enter()?;
        Ok(Open { row, kind, n: 0 })
    }

    /// Reads a number, `true`, `false` or `null` that begins with this byte.
    #[inline]
    fn scalar(&mut self, first: u8, tape: &mut Tape<'a>) -> Result<(), Malformed> {
        let start = self.at;
        let kind = match first {
            b'-' | b'0'..=b'9' => {
                self.number()?;
                JsonType::Number
            }
            b't' => {
                self.word(b"true")?;
                JsonType::Bool
            }
            b'f' => {
                self.word(b"false")?;
                JsonType::Bool
            }
            b'n' => {
                self.word(b"null")?;
                JsonType::Null
            }
            _ => return Err(Malformed),
        };
        let row = tape.open(start);
        tape.close(row, self.at, kind);
        Ok(())
    }

    /// Reads the string that begins here.
    #[inline]
    fn text(&mut self, tape: &mut Tape<'a>) -> Result<(), Malformed> {
        let start = self.at as u32 + 1;
        let has_escape = self.string()?;
        let next = tape.rows.len() as u32 + 1;
        tape.rows.push(Row { start, end: self.at as u32 - 1, next, kind: JsonType::String, has_escape });
        Ok(())
    }

    /// Checks that only white space follows.
    pub(super) fn end(&mut self) -> Result<(), Malformed> {
        if self.peek().is_none() { Ok(()) } else { Err(Malformed) }
    }

    /// Enters an array or an object by reading its bracket.
    #[inline]
    pub(super) fn enter(&mut self) -> Result<(), Malformed> {
        self.depth += 1;
        self.at += 1;
        if self.depth > MAX_DEPTH { Err(Malformed) } else { Ok(()) }
    }

    /// Returns whether another item or field follows the `n` before. Reads the comma or the closing
    /// bracket.
    #[inline]
    pub(super) fn goes_on(&mut self, n: usize, close: u8) -> Result<bool, Malformed> {
        let next = self.peek().ok_or(Malformed)?;
        if next == close {
            self.at += 1;
            self.depth -= 1;
            return Ok(false);
        }
        if n > 0 {
            if next != b',' {
                return Err(Malformed);
            }
            self.at += 1;
        }
        Ok(true)
    }

    /// Reads a field name onto a tape, and skips the colon.
    #[inline]
    pub(super) fn name(&mut self, tape: &mut Tape<'a>) -> Result<(), Malformed> {
        if self.peek() != Some(b'"') {
            return Err(Malformed);
        }
        self.text(tape)?;
        if self.peek() != Some(b':') {
            return Err(Malformed);
        }
        self.at += 1;
        Ok(())
    }

    /// Returns the next byte that is not white space.
    #[inline]
    pub(super) fn peek(&mut self) -> Option<u8> {
        match self.bytes.get(self.at) {
            Some(byte) if *byte > b' ' => Some(*byte),
            _ => self.skip(),
        }
    }

    #[cold]
    fn skip(&mut self) -> Option<u8> {
        loop {
            match self.bytes.get(self.at) {
                Some(b' ' | b'\n' | b'\t' | b'\r') => self.at += 1,
                byte => return byte.copied(),
            }
        }
    }

    /// Reads a string. Returns whether it contains an escape.
    #[inline]
    fn string(&mut self) -> Result<bool, Malformed> {
        self.at += 1;
        let mut has_escape = false;
        loop {
            self.at += plain(self.bytes.get(self.at..).unwrap_or_default());
            match self.bytes.get(self.at).ok_or(Malformed)? {
                b'"' => {
                    self.at += 1;
                    return Ok(has_escape);
                }
                b'\\' => {
                    has_escape = true;
                    self.at += escape::character(&self.bytes[self.at..]).ok_or(Malformed)?.1;
                }
                _ => return Err(Malformed),
            }
        }
    }

    fn number(&mut self) -> Result<(), Malformed> {
        let start = self.at;
        if self.bytes[self.at] == b'-' {
            self.at += 1;
        }
        match self.digits() {
            0 => return Err(Malformed),
            n if n > 1 && self.bytes[self.at - n] == b'0' => return Err(Malformed),
            _ => {}
        }
        let mut may_be_too_large = self.at - start > 300;
        if self.bytes.get(self.at) == Some(&b'.') {
            self.at += 1;
            if self.digits() == 0 {
                return Err(Malformed);
            }
        }
        if let Some(b'e' | b'E') = self.bytes.get(self.at) {
            may_be_too_large = true;
            self.at += 1;
            if let Some(b'+' | b'-') = self.bytes.get(self.at) {
                self.at += 1;
            }
            if self.digits() == 0 {
                return Err(Malformed);
            }
        }
        if may_be_too_large && serde_json::from_slice::<f64>(&self.bytes[start..self.at]).is_err() {
            Err(Malformed)
        } else {
            Ok(())
        }
    }

    fn digits(&mut self) -> usize {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let n = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += n;
        n
    }

    fn word(&mut self, word: &[u8]) -> Result<(), Malformed> {
        if !self.bytes[self.at..].starts_with(word) {
            return Err(Malformed);
        }
        self.at += word.len();
        Ok(())
    }
}

/// Returns the number of bytes before the first quote, backslash or control character.
#[inline]
fn plain(bytes: &[u8]) -> usize {
    let (words, _) = bytes.as_chunks::<8>();
    let mut at = 0;
    // Most strings are short, so the first words are read eight bytes at a time. The compiler vectorizes
    // the long loop after them.
    for word in words.iter().take(SHORT_WORDS) {
        let hits = hits(u64::from_le_bytes(*word));
        if hits != 0 {
            return at + (hits.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    let (chunks, _) = bytes[at..].as_chunks::<CHUNK>();
    for chunk in chunks {
        let hit = chunk.iter().fold(0, |hit, byte| hit | u8::from(ends(*byte)));
        if hit != 0 {
            break;
        }
        at += CHUNK;
    }
    at + bytes[at..].iter().position(|byte| ends(*byte)).unwrap_or(bytes.len() - at)
}

/// Number of eight-byte words to read before the long loop.
const SHORT_WORDS: usize = 4;

/// Number of bytes in one round of the long loop.
const CHUNK: usize = 64;

fn ends(byte: u8) -> bool {
    (byte == b'"') | (byte == b'\\') | (byte < 0x20)
}

/// Returns a word with the high bit set for the first byte that ends a plain run. Bits of later bytes may
/// be wrong.
fn hits(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let zero = |word: u64| word.wrapping_sub(ONES) & !word;
    let control = word.wrapping_sub(ONES * 0x20) & !word;
    (zero(word ^ (ONES * u64::from(b'"'))) | zero(word ^ (ONES * u64::from(b'\\'))) | control) & HIGH
}
