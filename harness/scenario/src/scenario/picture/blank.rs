//! Files of blank images, made without a library: a black PNG with one bit per pixel, and a grey JPEG with
//! one component.
//!
//! The files are complete, so any decoder accepts them. A private chunk or a comment pads them to the
//! required number of bytes.

/// A PNG: <https://www.w3.org/TR/png-3/>.
pub(super) fn png(width: u32, height: u32, bytes: usize) -> Vec<u8> {
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    let size = [width.to_be_bytes(), height.to_be_bytes()].concat();
    chunk(&mut file, b"IHDR", &[size.as_slice(), &[1, 0, 0, 0, 0]].concat());
    // Each row begins with its filter number, which is also 0.
    let n_zeros = height as usize * (1 + width.div_ceil(8) as usize);
    chunk(&mut file, b"IDAT", &zlib_of_zeros(n_zeros));
    let missing = bytes.saturating_sub(file.len() + EMPTY_CHUNK);
    if missing > EMPTY_CHUNK {
        // A private chunk that every decoder may skip.
        chunk(&mut file, b"fiLl", &vec![0; missing - EMPTY_CHUNK]);
    }
    chunk(&mut file, b"IEND", &[]);
    file
}

/// The bytes of a chunk's length, type and checksum.
const EMPTY_CHUNK: usize = 12;

fn chunk(file: &mut Vec<u8>, kind: &[u8; 4], data: &[u8]) {
    file.extend_from_slice(&(data.len() as u32).to_be_bytes());
    let start = file.len();
    file.extend_from_slice(kind);
    file.extend_from_slice(data);
    let checksum = crc32fast::hash(&file[start..]);
    file.extend_from_slice(&checksum.to_be_bytes());
}

/// `n` zeros in zlib format (RFC 1950): one zero, then runs that repeat it, in the fixed code (RFC 1951).
fn zlib_of_zeros(n: usize) -> Vec<u8> {
    /// The longest run that one symbol encodes.
    const RUN: usize = 258;
    let mut bits = Bits { bytes: vec![0x78, 0x01], n_bits: 0 };
    bits.push(1, 1);
    bits.push(1, 2);
    let zero = |bits: &mut Bits| bits.code(0b0011_0000, 8);
    let n_runs = n.saturating_sub(1) / RUN;
    (0..n - n_runs * RUN).for_each(|_| zero(&mut bits));
    for _ in 0..n_runs {
        bits.code(0b1100_0101, 8);
        bits.code(0, 5);
    }
    bits.code(0, 7);
    // Adler-32: one sum stays 1, the other counts the bytes.
    let counted = (n % 65_521) as u32;
    bits.bytes.extend_from_slice(&((counted << 16) | 1).to_be_bytes());
    bits.bytes
}

/// Bits in the order of deflate: the lowest bit of a byte first.
struct Bits {
    bytes: Vec<u8>,
    /// The number of bits used in the last byte; 0 if the next bit begins a new byte.
    n_bits: u32,
}

impl Bits {
    /// Appends a number, lowest bit first.
    fn push(&mut self, value: u32, n_bits: u32) {
        for bit in 0..n_bits {
            if self.n_bits == 0 {
                self.bytes.push(0);
            }
            if let Some(last) = self.bytes.last_mut() {
                *last |= (((value >> bit) & 1) as u8) << self.n_bits;
            }
            self.n_bits = (self.n_bits + 1) % 8;
        }
    }

    /// Appends a code word, highest bit first.
    fn code(&mut self, word: u32, n_bits: u32) {
        self.push(word.reverse_bits() >> (32 - n_bits), n_bits);
    }
}

/// A baseline JPEG (ITU T.81): each block of 8 × 8 pixels is two bits, "no difference" and "nothing follows".
pub(super) fn jpeg(width: u32, height: u32, bytes: usize) -> Vec<u8> {
    let mut file = vec![0xff, 0xd8];
    segment(&mut file, 0xe0, b"JFIF\0\x01\x01\0\0\x01\0\x01\0\0");
    segment(&mut file, 0xdb, &[[0].as_slice(), &[1; 64]].concat());
    let (width_bytes, height_bytes) = ((width as u16).to_be_bytes(), (height as u16).to_be_bytes());
    segment(&mut file, 0xc0, &[[8].as_slice(), &height_bytes, &width_bytes, &[1, 1, 0x11, 0]].concat());
    for class in [0x00, 0x10] {
        // One code word of one bit, for the symbol 0.
        let lengths = [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        segment(&mut file, 0xc4, &[[class].as_slice(), &lengths, &[0]].concat());
    }
    let n_bits = 2 * width.div_ceil(8) as usize * height.div_ceil(8) as usize;
    let scan = n_bits.div_ceil(8) + SCAN_HEADER + END.len();
    let mut missing = bytes.saturating_sub(file.len() + scan);
    while missing > 0 {
        let comment = missing.clamp(COMMENT_HEADER, usize::from(u16::MAX)) - COMMENT_HEADER;
        segment(&mut file, 0xfe, &vec![0; comment]);
        missing = missing.saturating_sub(comment + COMMENT_HEADER);
    }
    segment(&mut file, 0xda, &[1, 1, 0, 0, 63, 0]);
    file.extend(std::iter::repeat_n(0, n_bits / 8));
    if !n_bits.is_multiple_of(8) {
        // The rest of the last byte is filled with ones.
        file.push(0xff >> (n_bits % 8));
    }
    file.extend_from_slice(&END);
    file
}

const END: [u8; 2] = [0xff, 0xd9];

/// The bytes of a comment's marker and length.
const COMMENT_HEADER: usize = 4;

/// The bytes before the data of the scan.
const SCAN_HEADER: usize = 10;

fn segment(file: &mut Vec<u8>, marker: u8, data: &[u8]) {
    file.extend_from_slice(&[0xff, marker]);
    file.extend_from_slice(&(data.len() as u16 + 2).to_be_bytes());
    file.extend_from_slice(data);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_has_its_size_and_is_padded_to_its_bytes() {
        let png = png(8001, 3, 5000);
        assert_eq!((&png[12..16], &png[16..24]), (&b"IHDR"[..], &[0, 0, 0x1f, 0x41, 0, 0, 0, 3][..]));
        assert_eq!(png.len(), 5000);
        assert_eq!(png[png.len() - 8..png.len() - 4], *b"IEND");
        let jpeg = jpeg(8001, 3, 200_000);
        assert_eq!(jpeg.len(), 200_000);
        assert_eq!((&jpeg[..2], &jpeg[jpeg.len() - 2..]), (&[0xff, 0xd8][..], &[0xff, 0xd9][..]));
    }

    #[test]
    fn checksums_follow_the_standards() {
        assert!(png(1, 1, 0).ends_with(b"IEND\xae\x42\x60\x82"));
        assert_eq!(zlib_of_zeros(1)[..], [0x78, 0x01, 0x63, 0x00, 0x00, 0x00, 0x01, 0x00, 0x01]);
    }
}
