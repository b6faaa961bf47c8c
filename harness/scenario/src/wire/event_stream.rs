//! Writes Bedrock stream frames, and formats them as text.

use brickbat_rules::frames::{self, Frame};

/// The content type of these streams.
pub(crate) const CONTENT_TYPE: &str = "application/vnd.amazon.eventstream";

/// Appends an event whose payload is JSON.
pub(crate) fn write_event(out: &mut Vec<u8>, name: &'static str, payload: Vec<u8>) {
    write(out, "event", ":event-type", name, payload);
}

/// Appends an exception whose payload is JSON.
pub(crate) fn write_exception(out: &mut Vec<u8>, name: &'static str, payload: Vec<u8>) {
    write(out, "exception", ":exception-type", name, payload);
}

fn write(out: &mut Vec<u8>, kind: &str, name_header: &str, name: &str, payload: Vec<u8>) {
    let headers = [(name_header, name), (":content-type", "application/json"), (":message-type", kind)];
    frames::write(out, &headers, &payload);
}

/// A frame as text: its headers as lines, an empty line, and its payload. Bytes that are not a frame are
/// written as hexadecimal digits after `hex:`. Only the checksums are lost.
pub(crate) fn shown(frame: &[u8]) -> String {
    Frame::read(frame).ok().as_ref().and_then(as_text).unwrap_or_else(|| {
        let digits: String = frame.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("hex:{digits}")
    })
}

fn as_text(frame: &Frame) -> Option<String> {
    let mut text = String::new();
    for (name, value) in frame.headers() {
        text.push_str(&format!("{name}: {}\n", value?));
    }
    text.push('\n');
    text.push_str(std::str::from_utf8(frame.payload()).ok()?);
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_shown_as_text() {
        let mut bytes = Vec::new();
        write_event(&mut bytes, "messageStop", b"{\"stopReason\":\"end_turn\"}".to_vec());
        let text = ":event-type: messageStop\n:content-type: application/json\n:message-type: event\n\n{\"stopReason\":\"end_turn\"}";
        assert_eq!(shown(&bytes), text);
        assert_eq!(shown(&bytes[..2]), "hex:0000");
        assert_eq!(shown(b""), "hex:");
    }
}
