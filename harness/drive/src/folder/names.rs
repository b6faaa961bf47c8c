//! Names of folders that every file system accepts. They are distinct, and the same in every run.

/// Characters of the readable part: with the rest, the name stays below the limit of every file system.
const MAX_READABLE: usize = 60;

/// A case's folder below its run folder.
pub fn case_path(system: &str, plan: &str) -> String {
    format!("cases/{}/{}", name_of(system), name_of(plan))
}

/// The readable part of an id, and a number that distinguishes ids with the same readable part. The number
/// also keeps the name from being one that an operating system reserves.
fn name_of(id: &str) -> String {
    let mut readable = String::new();
    for c in id.chars().take(4 * MAX_READABLE) {
        match c.to_ascii_lowercase() {
            c if c.is_ascii_alphanumeric() || c == '.' => readable.push(c),
            _ if readable.ends_with('-') => {}
            _ => readable.push('-'),
        }
    }
    readable.truncate(MAX_READABLE);
    let readable = readable.trim_matches(['-', '.']);
    format!("{readable}-{:012x}", number(id))
}

/// FNV-1a, folded to 48 bits. With ten thousand ids that share a readable part, a collision occurs in one of
/// five million runs.
fn number(id: &str) -> u64 {
    let hash = id.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    (hash >> 48) ^ (hash & 0xffff_ffff_ffff)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_safe_and_distinct() {
        let long = "x".repeat(5000);
        let ids = [
            "abort/mid-batch#k=1@anthropic-messages",
            "abort/mid-batch#k-1@anthropic-messages",
            "abort/mid-batch#K=1@anthropic-messages",
            "../../etc/passwd",
            "..",
            "",
            "con",
            "é\0\n/",
            &long,
            &format!("{long}y"),
        ];
        let names: std::collections::BTreeSet<String> =
            ids.iter().map(|id| name_of(id).to_lowercase()).collect();
        assert_eq!(names.len(), ids.len(), "{names:?}");
        for name in names {
            assert!(name.len() <= 80 && !name.starts_with('.'), "{name}");
            assert!(name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-".contains(&byte)), "{name}");
        }
        assert_eq!(name_of(ids[0]), "abort-mid-batch-k-1-anthropic-messages-fe79f90e11dd");
    }
}
