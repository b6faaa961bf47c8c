//! Files that are packed with gzip or Zstandard.

use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::StreamingDecoder;

/// The maximum number of bytes that a file unpacks to. This is the limit of an unpacked rollout too.
const MAX_BYTES: u64 = 1 << 30;

/// The maximum number of frames in a file. Even an empty frame costs memory.
const MAX_FRAMES: usize = 4_096;

const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTANDARD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// A reader of a file's content, and whether the file is packed.
pub(super) fn reader(file: impl Read + 'static) -> io::Result<(Box<dyn BufRead>, bool)> {
    let mut file = BufReader::new(file);
    let head = file.fill_buf()?;
    let unpacked: Box<dyn Read> = if head.starts_with(GZIP) {
        Box::new(MultiGzDecoder::new(file))
    } else if head.starts_with(ZSTANDARD) {
        Box::new(Frames { file: Some(Source::Packed(file)), n_frames: 0 })
    } else {
        return Ok((Box::new(file), false));
    };
    Ok((Box::new(BufReader::new(Bounded { unpacked, n_left: MAX_BYTES })), true))
}

/// The content of a file that is packed with gzip, as far as a session may be large. `None` if it is not packed so.
///
/// # Errors
///
/// It cannot be unpacked.
pub(in crate::cli) fn gunzipped(bytes: &[u8]) -> Option<io::Result<Vec<u8>>> {
    bytes.starts_with(GZIP).then(|| {
        let (mut reader, _) = reader(io::Cursor::new(bytes.to_vec()))?;
        let mut unpacked = Vec::new();
        reader.read_to_end(&mut unpacked)?;
        Ok(unpacked)
    })
}

/// The name of a file without the ending of its packed form.
pub(in crate::cli) fn plain_name(path: &str) -> &str {
    [".gz", ".gzip", ".zst", ".zstd"].iter().find_map(|end| path.strip_suffix(end)).unwrap_or(path)
}

/// Reads a limited number of bytes, and then fails.
struct Bounded {
    unpacked: Box<dyn Read>,
    n_left: u64,
}

impl Read for Bounded {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let n_bytes = self.unpacked.read(bytes).map_err(|error| {
            io::Error::new(error.kind(), format!("it is packed, and cannot be unpacked: {error}"))
        })?;
        self.n_left = self.n_left.checked_sub(n_bytes as u64).ok_or_else(|| {
            io::Error::other(format!("it is too large: it unpacks to more than {MAX_BYTES} bytes"))
        })?;
        Ok(n_bytes)
    }
}

/// The frames of a Zstandard file, one after the other.
struct Frames<R: BufRead> {
    /// None after an error.
    file: Option<Source<R>>,
    n_frames: usize,
}

enum Source<R: BufRead> {
    /// The next frame has not begun.
    Packed(R),
    Frame(Box<StreamingDecoder<R, ruzstd::decoding::FrameDecoder>>),
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        while let Some(source) = self.file.take() {
            match source {
                Source::Packed(mut file) => {
                    if file.fill_buf()?.is_empty() {
                        return Ok(0);
                    }
                    self.n_frames += 1;
                    if self.n_frames > MAX_FRAMES {
                        return Err(io::Error::other("it has too many frames"));
                    }
                    let frame = StreamingDecoder::new(file).map_err(io::Error::other)?;
                    self.file = Some(Source::Frame(Box::new(frame)));
                }
                Source::Frame(mut frame) => match frame.read(bytes)? {
                    0 if !bytes.is_empty() => self.file = Some(Source::Packed(frame.into_inner())),
                    n_bytes => {
                        self.file = Some(Source::Frame(frame));
                        return Ok(n_bytes);
                    }
                },
            }
        }
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    use super::*;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(bytes).unwrap();
        packed.finish().unwrap()
    }

    fn zstandard(bytes: &[u8]) -> Vec<u8> {
        compress_to_vec(bytes, CompressionLevel::Fastest)
    }

    fn read(bytes: Vec<u8>) -> io::Result<Vec<u8>> {
        let mut unpacked = Vec::new();
        reader(io::Cursor::new(bytes))?.0.read_to_end(&mut unpacked)?;
        Ok(unpacked)
    }

    #[test]
    fn a_packed_session_is_unpacked_and_a_broken_one_is_an_error() {
        assert_eq!(gunzipped(&gzip(b"text")).unwrap().unwrap(), b"text");
        assert!(gunzipped(b"text").is_none());
        assert!(gunzipped(&gzip(b"text")[..12]).unwrap().is_err());
    }

    #[test]
    fn packed_files_are_unpacked_also_in_several_pieces() {
        for pack in [gzip, zstandard] {
            assert_eq!(read(pack(b"text")).unwrap(), b"text");
            assert_eq!(read([pack(b"one\n"), pack(b""), pack(b"two\n")].concat()).unwrap(), b"one\ntwo\n");
            assert_eq!(read(pack(b"")).unwrap(), b"");
        }
        assert_eq!(read(b"plain".to_vec()).unwrap(), b"plain");
        assert_eq!(plain_name("a/b.json.gz"), "a/b.json");
    }

    #[test]
    fn a_cut_or_damaged_file_is_an_error() {
        let text: Vec<u8> =
            (0..20_000u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
        for pack in [gzip, zstandard] {
            let packed = pack(&text);
            assert!(read(packed[..packed.len() / 2].to_vec()).is_err());
            assert!(read([pack(b"one"), b"garbage".to_vec()].concat()).is_err());
        }
        for head in [GZIP, ZSTANDARD] {
            assert!(read(head.to_vec()).is_err());
        }
    }

    #[test]
    fn a_bomb_is_cut_off() {
        let bounded = Bounded { unpacked: Box::new(io::repeat(b'x')), n_left: 1 << 20 };
        let error = BufReader::new(bounded).read_to_end(&mut Vec::new()).unwrap_err();
        assert!(error.to_string().contains("unpacks to more"), "{error}");
    }
}
