//! Chunked bodies of requests.

use super::http::HttpRefusal;

/// The limit, in bytes, of the line before a chunk: a size and extensions, which are ignored.
const MAX_CHUNK_LINE: usize = 4 << 10;

/// The limit, in bytes, of the trailers after the last chunk, which are ignored, too.
const MAX_TRAILERS: usize = 8 << 10;

/// The position of the reader in a chunked body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Chunk {
    Size,
    Data(usize),
    DataEnd,
    Trailers(usize),
    Done,
}

/// Reads a chunked body as it arrives.
#[derive(Debug)]
pub(super) struct ChunkReader {
    at: Chunk,
    max_body: usize,
}

impl ChunkReader {
    pub(super) fn new(max_body: usize) -> ChunkReader {
        ChunkReader { at: Chunk::Size, max_body }
    }

    pub(super) fn is_done(&self) -> bool {
        self.at == Chunk::Done
    }

    /// Appends the content of `bytes` to the body, and returns how many of them were used.
    pub(super) fn read(&mut self, bytes: &[u8], body: &mut Vec<u8>) -> Result<usize, HttpRefusal> {
        let mut used = 0;
        while let Some(n) = self.step(&bytes[used..], body)? {
            used += n;
        }
        Ok(used)
    }

    /// Reads one step. `None` if it needs more bytes, or if the body has ended.
    fn step(&mut self, bytes: &[u8], body: &mut Vec<u8>) -> Result<Option<usize>, HttpRefusal> {
        match self.at {
            Chunk::Size => match httparse::parse_chunk_size(bytes) {
                Ok(httparse::Status::Complete((n, size))) => {
                    let room = self.max_body - body.len();
                    let size = usize::try_from(size).ok().filter(|size| *size <= room);
                    let size = size.ok_or(HttpRefusal::BodyTooLarge)?;
                    self.at = if size == 0 { Chunk::Trailers(0) } else { Chunk::Data(size) };
                    Ok(Some(n))
                }
                Ok(httparse::Status::Partial) if bytes.len() <= MAX_CHUNK_LINE => Ok(None),
                Ok(httparse::Status::Partial) | Err(_) => Err(HttpRefusal::Malformed),
            },
            Chunk::Data(left) => {
                let n = left.min(bytes.len());
                body.extend_from_slice(&bytes[..n]);
                self.at = if n == left { Chunk::DataEnd } else { Chunk::Data(left - n) };
                Ok(if n == 0 { None } else { Some(n) })
            }
            Chunk::DataEnd => match bytes.get(..2) {
                None => Ok(None),
                Some(b"\r\n") => {
                    self.at = Chunk::Size;
                    Ok(Some(2))
                }
                Some(_) => Err(HttpRefusal::Malformed),
            },
            Chunk::Trailers(before) => {
                let line = bytes.iter().position(|byte| *byte == b'\n').map(|at| &bytes[..=at]);
                if before + line.unwrap_or(bytes).len() > MAX_TRAILERS {
                    return Err(HttpRefusal::Malformed);
                }
                let Some(line) = line else { return Ok(None) };
                self.at = match line {
                    b"\r\n" | b"\n" => Chunk::Done,
                    _ => Chunk::Trailers(before + line.len()),
                };
                Ok(Some(line.len()))
            }
            Chunk::Done => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::server::http::{LAST_CHUNK, write_chunk};

    const MAX_BODY: usize = 1 << 10;

    fn read_in_pieces(bytes: &[u8], piece_len: usize) -> Result<(Vec<u8>, bool), HttpRefusal> {
        let (mut reader, mut body, mut unused) = (ChunkReader::new(MAX_BODY), Vec::new(), Vec::new());
        for piece in bytes.chunks(piece_len) {
            unused.extend_from_slice(piece);
            let n = reader.read(&unused, &mut body)?;
            unused.drain(..n);
        }
        Ok((body, reader.is_done()))
    }

    proptest! {
        #[test]
        fn chunks_come_out_the_same_in_any_pieces(
            chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..20), 0..6),
            piece_len in 1_usize..40,
        ) {
            let mut bytes = Vec::new();
            for chunk in &chunks {
                write_chunk(&mut bytes, chunk);
            }
            bytes.extend_from_slice(LAST_CHUNK);
            prop_assert_eq!(read_in_pieces(&bytes, piece_len), Ok((chunks.concat(), true)));
        }

        #[test]
        fn hostile_bytes_are_read_alike_in_any_pieces_or_refused(
            bytes in "([0-9a-fA-F;xyz \r\n\0]|\r\n|\n){0,60}",
            piece_len in 1_usize..40,
        ) {
            let whole = read_in_pieces(bytes.as_bytes(), usize::MAX);
            prop_assert_eq!(whole, read_in_pieces(bytes.as_bytes(), piece_len));
        }
    }
}
