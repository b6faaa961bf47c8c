//! The write-ahead log: its valid pages, and the pages of the database that they replace.

/// Overwrites the database's pages with those from the complete transactions in a log.
///
/// A log that does not belong to the database, or is damaged from its beginning, changes nothing. A log that
/// is cut or damaged later is used up to the last complete transaction before the damage, as in SQLite.
pub(super) fn merge(database: &mut Vec<u8>, wal: &[u8]) {
    let Some(header) = wal.get(..HEADER) else { return };
    let magic = word(header, 0);
    let page_size = word(header, 8) as usize;
    let is_page_size = page_size.is_power_of_two() && (512..=65_536).contains(&page_size);
    if magic & !1 != 0x377f_0682 || !is_page_size || page_size_of(database) != Some(page_size) {
        return;
    }
    let is_big_endian = magic & 1 == 1;
    let sum = checksum((0, 0), &header[..24], is_big_endian);
    if sum != (word(header, 24), word(header, 28)) {
        return;
    }
    // The frames up to the last one that ends a transaction. That frame records the number of pages of the
    // database.
    let mut frames: Vec<(usize, &[u8])> = Vec::new();
    let mut complete = (0, 0);
    let mut sum = sum;
    for frame in wal[HEADER..].chunks_exact(FRAME_HEADER + page_size) {
        let (head, page) = frame.split_at(FRAME_HEADER);
        sum = checksum(checksum(sum, &head[..8], is_big_endian), page, is_big_endian);
        // The salt changes when the log is restarted. The remaining frames are from an older log.
        if head[8..16] != header[16..24] || sum != (word(head, 16), word(head, 20)) {
            break;
        }
        frames.push((word(head, 0) as usize, page));
        let n_pages = word(head, 4) as usize;
        if n_pages > 0 {
            complete = (frames.len(), n_pages);
        }
    }
    let (n_frames, n_pages) = complete;
    // No page can lie beyond the content of the two files.
    if n_frames == 0 || n_pages > (database.len() + wal.len()) / page_size {
        return;
    }
    database.resize(n_pages * page_size, 0);
    for (n, page) in &frames[..n_frames] {
        if (1..=n_pages).contains(n) {
            database[(n - 1) * page_size..n * page_size].copy_from_slice(page);
        }
    }
}

/// Size of the log header in bytes.
const HEADER: usize = 32;

/// Size of the frame header before each page, in bytes.
const FRAME_HEADER: usize = 24;

/// The page size in the database header. The value 1 means 65536.
fn page_size_of(database: &[u8]) -> Option<usize> {
    let size = u16::from_be_bytes([*database.get(16)?, *database.get(17)?]);
    Some(if size == 1 { 65_536 } else { usize::from(size) })
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// SQLite's log checksum, over words of four bytes.
pub(super) fn checksum((mut a, mut b): (u32, u32), bytes: &[u8], is_big_endian: bool) -> (u32, u32) {
    for pair in bytes.chunks_exact(8) {
        let word = |at: usize| {
            let four = [pair[at], pair[at + 1], pair[at + 2], pair[at + 3]];
            if is_big_endian { u32::from_be_bytes(four) } else { u32::from_le_bytes(four) }
        };
        a = a.wrapping_add(word(0)).wrapping_add(b);
        b = b.wrapping_add(word(4)).wrapping_add(a);
    }
    (a, b)
}
