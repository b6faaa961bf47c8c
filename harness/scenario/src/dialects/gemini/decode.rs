//! Google Gemini: decodes the chunks of a stream, and complete bodies.

use crate::wire::decode::{Decode, ReplyEvent, text_of, tokens};
use crate::wire::sse::SseReader;
use brickbat_rules::json::{Document, Json};

/// Reads one stream: events with one chunk each, and an error object, which may occur between them without
/// being an event.
#[derive(Debug, Default)]
pub(super) struct GeminiDecoder {
    reader: SseReader,
    chunks: Chunks,
    /// The error object so far, once a line has begun with a brace.
    error: Option<Vec<u8>>,
    /// True if the last byte did not end a line.
    inside_line: bool,
}

/// The maximum size of an error object in bytes; real ones have a few hundred.
const MAX_ERROR_BYTES: usize = 4096;

impl Decode for GeminiDecoder {
    fn feed(&mut self, bytes: &[u8], said: &mut dyn FnMut(ReplyEvent)) {
        let mut rest = bytes;
        while let [first, ..] = rest {
            if self.error.is_some() || (!self.inside_line && *first == b'{') {
                return rest.iter().for_each(|byte| self.error_byte(*byte, said));
            }
            let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let line = end.map_or(rest, |end| &rest[..=end]);
            self.inside_line = end.is_none();
            let GeminiDecoder { reader, chunks, .. } = self;
            reader.feed(line, |event| match Document::parse(event.data.as_bytes()) {
                Ok(chunk) => chunks.chunk(chunk.root(), said),
                Err(_) => said(ReplyEvent::Unknown(event.data.to_owned())),
            });
            rest = &rest[line.len()..];
        }
    }
}

impl GeminiDecoder {
    /// Takes a byte of the error object. The object ends at a closing brace that begins a line, or, if it is
    /// on one line, at the first closing brace that makes it valid JSON.
    fn error_byte(&mut self, byte: u8, said: &mut dyn FnMut(ReplyEvent)) {
        let error = self.error.get_or_insert_default();
        if error.len() >= MAX_ERROR_BYTES {
            return;
        }
        error.push(byte);
        let begins_line = || matches!(error[..error.len() - 1].last(), None | Some(b'\n' | b'\r'));
        let is_one_line = || !error.contains(&b'\n') && !error.contains(&b'\r');
        if byte != b'}' || !(begins_line() || is_one_line()) {
            return;
        }
        if let Ok(body) = Document::parse(error) {
            self.chunks.chunk(body.root(), said);
        }
    }
}

/// Decodes a body that is not a stream: a response, or the chunk array that a client gets if it does not ask
/// for events.
pub(super) fn whole(body: Json, said: &mut dyn FnMut(ReplyEvent)) {
    let mut chunks = Chunks::default();
    // The caller reports the end.
    let mut but_the_end = |event| {
        if event != ReplyEvent::End {
            said(event);
        }
    };
    if body.is_array() {
        body.items().for_each(|chunk| chunks.chunk(chunk, &mut but_the_end));
    } else {
        chunks.chunk(body, &mut but_the_end);
    }
}

/// Reads chunks in order.
#[derive(Debug, Default)]
struct Chunks {
    n_calls: u64,
    /// True if the last part was a thought.
    in_thought: bool,
    is_over: bool,
}

impl Chunks {
    fn chunk(&mut self, chunk: Json, said: &mut dyn FnMut(ReplyEvent)) {
        let error = chunk.field("error");
        if error.is_object() {
            let (kind, message) = (text_of(error.field("status")), text_of(error.field("message")));
            return said(ReplyEvent::Error { kind, message });
        }
        let candidate = chunk.field("candidates").item(0);
        candidate.field("content").field("parts").items().for_each(|part| self.part(part, said));
        tokens(chunk.field("usageMetadata"), &["totalTokenCount"]).into_iter().for_each(&mut *said);
        // A blocked prompt gets no candidate.
        let reason = candidate
            .field("finishReason")
            .as_str()
            .or_else(|| chunk.field("promptFeedback").field("blockReason").as_str());
        if let Some(reason) = reason.filter(|_| !self.is_over) {
            self.is_over = true;
            said(ReplyEvent::Stop(reason.into_owned()));
            said(ReplyEvent::End);
        }
    }

    fn part(&mut self, part: Json, said: &mut dyn FnMut(ReplyEvent)) {
        let is_thought = part.field("thought").as_bool() == Some(true);
        // No part is marked as the last of its kind. A thought is not signed; the part that follows from it
        // is.
        if std::mem::replace(&mut self.in_thought, is_thought) && !is_thought {
            said(ReplyEvent::ThoughtEnd { signature: None });
        }
        let call = part.field("functionCall");
        if call.is_object() {
            let index = self.n_calls;
            self.n_calls += 1;
            said(ReplyEvent::CallStart {
                index,
                id: text_of(call.field("id")),
                name: text_of(call.field("name")),
            });
            if let Some(signature) = part.field("thoughtSignature").as_str() {
                said(ReplyEvent::CallSignature { index, signature: signature.into_owned() });
            }
            let args = call.field("args");
            let fragment = if args.is_null() { "{}".to_owned() } else { args.to_value().to_string() };
            said(ReplyEvent::CallArgs { index, fragment });
            said(ReplyEvent::CallEnd { index });
            return;
        }
        if let Some(text) = part.field("text").as_str().filter(|text| !text.is_empty()) {
            let text = text.into_owned();
            said(if is_thought { ReplyEvent::Thought(text) } else { ReplyEvent::Text(text) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_object_between_events_is_read_in_any_split() {
        let stream = "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a\"}]}}]}\r\n\r\n\
                      {\n  \"error\": {\n    \"code\": 503,\n    \"message\": \"Busy {}.\",\n    \
                      \"status\": \"UNAVAILABLE\"\n  }\n}\n";
        let one_line = stream.replace(['\n', '\r'], "").replace("]}{", "]}\n\n{");
        let error = ReplyEvent::Error { kind: "UNAVAILABLE".to_owned(), message: "Busy {}.".to_owned() };
        let expected = vec![ReplyEvent::Text("a".to_owned()), error];
        for text in [stream, one_line.as_str()] {
            for size in [1, 2, 7, text.len()] {
                let (mut decoder, mut events) = (GeminiDecoder::default(), Vec::new());
                text.as_bytes().chunks(size).for_each(|piece| decoder.feed(piece, &mut |e| events.push(e)));
                assert_eq!(events, expected, "in pieces of {size}: {text}");
            }
        }
    }
}
