//! Names of people and machines: home folders, e-mail addresses, host names.

use super::bytes::{CUT, is_after_escape, is_alphanumeric, is_token, run};
use crate::Dialect;

/// Maximum length of a user name or host name in bytes. No operating system allows more than 255.
const MAX_NAME: usize = 255;

/// Folders next to the users' that do not belong to a user.
const NOBODY: [&str; 5] = ["Shared", "Public", "Default", "All Users", "Default User"];

/// Finds the user name in `/home/NAME` or `/Users/NAME`, starting at the first slash.
pub(super) fn home(bytes: &[u8], slash: usize) -> Option<(usize, usize)> {
    let root = ["/home/", "/Users/"].into_iter().find(|root| bytes[slash..].starts_with(root.as_bytes()))?;
    let before = slash.checked_sub(1).map(|at| bytes[at]);
    let is_below =
        before.is_some_and(|byte| is_token(byte) || b".~".contains(&byte)) && !is_root(bytes, slash);
    let start = slash + root.len();
    let end = start + name(&bytes[start..]);
    (!is_below && is_user(&bytes[start..end])).then_some((start, end))
}

/// Returns whether a path begins here although other bytes precede it: an escape, or the mount point of a
/// Windows drive, as in `/mnt/c/Users/NAME` and `/c/Users/NAME`.
fn is_root(bytes: &[u8], slash: usize) -> bool {
    let is_drive = slash >= 2 && bytes[slash - 1].is_ascii_alphabetic() && bytes[slash - 2] == b'/';
    let above = &bytes[..slash.saturating_sub(2)];
    let is_mount =
        above.ends_with(b"/mnt") || !above.last().is_some_and(|byte| is_token(*byte) || *byte == b'.');
    (is_drive && is_mount) || is_after_escape(bytes, slash)
}

/// Finds the user name in `C:\Users\NAME`, starting at the drive letter. In a JSON string, each backslash
/// is doubled.
pub(super) fn windows_home(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    const USERS: &[u8] = b"Users";
    let separators = |at: usize| run(&bytes[at..bytes.len().min(at + 4)], |byte| b"\\/".contains(&byte));
    if !bytes[at].is_ascii_alphabetic() || bytes.get(at + 1) != Some(&b':') {
        return None;
    }
    let users = at + 2 + separators(at + 2);
    let is_there =
        bytes.get(users..users + USERS.len()).is_some_and(|there| there.eq_ignore_ascii_case(USERS));
    let after = users + USERS.len();
    let start = after + if is_there { separators(after) } else { 0 };
    // If backslashes are doubled, a single one begins an escape.
    let is_escape = users == at + 4 && (start - after) % 2 == 1;
    if !is_there || users == at + 2 || start == after || is_escape {
        return None;
    }
    let mut end = start + name(&bytes[start..]);
    // A name may have spaces. A separator after them shows that the name continues.
    let is_part = |byte: u8| byte == b' ' || is_name(byte);
    let long = start + run(&bytes[start..bytes.len().min(start + 64)], is_part);
    if bytes.get(long).is_some_and(|byte| b"\\/".contains(byte)) && end > start {
        end = long;
    }
    is_user(&bytes[start..end]).then_some((start, end))
}

fn is_user(name: &[u8]) -> bool {
    !name.is_empty() && !NOBODY.iter().any(|nobody| nobody.as_bytes().eq_ignore_ascii_case(name))
}

/// Returns the length of a user name. A dot at the end belongs to the sentence.
fn name(bytes: &[u8]) -> usize {
    let bytes = &bytes[..bytes.len().min(MAX_NAME)];
    let len = bytes.windows(CUT.len()).position(|window| window == CUT).unwrap_or(bytes.len());
    let len = run(&bytes[..len], is_name);
    len - bytes[..len].iter().rev().take_while(|byte| **byte == b'.').count()
}

fn is_name(byte: u8) -> bool {
    is_token(byte) || byte == b'.' || byte == b'+' || !byte.is_ascii()
}

/// Finds an e-mail address, or a user and host as in a shell prompt or `scp`. Starts at the `@`, which may
/// also be `%40`.
pub(super) fn address(text: &str, floor: usize, at: usize, sign: usize) -> Option<(usize, usize)> {
    const MAX_LOCAL: usize = 64;
    let is_local = |c: &(usize, char)| c.1.is_alphanumeric() || "._%+-".contains(c.1);
    let before = text.get(floor..at)?.char_indices().rev().take(MAX_LOCAL).take_while(is_local);
    let mut start = floor + before.last()?.0;
    // The letter of an escape does not belong to the address.
    for escape in [1, 5] {
        if start > floor
            && start + escape <= at
            && is_after_escape(text.as_bytes(), start + escape)
            && text.as_bytes()[start - 1] == b'\\'
        {
            start += escape;
        }
    }
    while text.as_bytes().get(start) == Some(&b'.') {
        start += 1;
    }
    let local = text.get(start..at).filter(|local| !local.is_empty())?;
    let domain_at = at + sign;
    let rest = &text.as_bytes()[domain_at..];
    let len = run(&rest[..rest.len().min(MAX_NAME)], |byte| is_alphanumeric(byte) || b".-".contains(&byte));
    let len = len - rest[..len].iter().rev().take_while(|byte| b".-".contains(byte)).count();
    let (domain, after) = (text.get(domain_at..domain_at + len)?, &rest[len..]);
    // `git@` is not a person, `icon@2x.png` is a file, and `x@self.weights(` is code.
    let is_other =
        local == "git" || domain.starts_with("2x.") || domain.starts_with("3x.") || after.starts_with(b"(");
    let top = domain.rsplit_once('.').map_or("", |(_, top)| top);
    let is_host = top.len() >= 2 && top.bytes().all(|byte| byte.is_ascii_alphabetic());
    let is_shell = after.starts_with(b":~") || after.starts_with(b":/");
    let is_cut = after.starts_with(CUT) && !is_plan(text.as_bytes(), start, domain);
    (len > 0 && !is_other && (is_host || is_shell || is_cut)).then_some((start, domain_at + len))
}

/// Returns whether the `@` belongs to a plan id that was cut for display, such as
/// `abort/mid-batch#k=1@anthropic-mes…`.
fn is_plan(bytes: &[u8], start: usize, cut: &str) -> bool {
    let is_in_id = start > 0 && b"/=".contains(&bytes[start - 1]);
    is_in_id && Dialect::ALL.into_iter().any(|dialect| dialect.name().starts_with(cut))
}

/// Finds the name of a machine on its local network, such as `adas-macbook.local`, starting at the dot.
pub(super) fn local_name(bytes: &[u8], floor: usize, dot: usize) -> Option<(usize, usize)> {
    const LOCAL: &[u8] = b".local";
    const MACHINES: [&[u8]; 4] = [b"macbook", b"imac", b"macmini", b"mbp"];
    if !bytes[dot..].starts_with(LOCAL) {
        return None;
    }
    let end = dot + LOCAL.len();
    let after = (bytes.get(end).copied(), bytes.get(end + 1).copied());
    let goes_on = after.0.is_some_and(is_token) || (after.0 == Some(b'.') && after.1.is_some_and(is_token));
    let n_before = bytes[floor..dot].iter().rev().take_while(|byte| is_token(**byte)).count();
    let mut start = dot - n_before;
    if n_before > 0 && start > 0 && bytes[start - 1] == b'\\' && is_after_escape(bytes, start + 1) {
        start += 1;
    }
    let is_file = start > 0 && b"./".contains(&bytes[start - 1]) && !bytes[..start].ends_with(b"//");
    let name = bytes[start..dot].to_ascii_lowercase();
    let has = |word: &&[u8]| name.windows(word.len()).any(|window| window == *word);
    let is_machine = name.contains(&b'-') || MACHINES.iter().any(has);
    (!goes_on && !is_file && is_machine).then_some((start, end))
}

/// Matches names that Windows and clouds give to machines: `DESKTOP-AB12CD3`, `ip-10-0-0-12.ec2.internal`.
pub(super) fn machine(rest: &[u8]) -> Option<usize> {
    const OF_WINDOWS: [(&[u8], usize); 3] = [(b"DESKTOP-", 7), (b"LAPTOP-", 8), (b"WIN-", 11)];
    for (beginning, n) in OF_WINDOWS {
        if let Some(tail) = rest.strip_prefix(beginning) {
            let len = run(tail, |byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
            return (len == n && !tail.get(len).is_some_and(|byte| is_token(*byte)))
                .then_some(beginning.len() + n);
        }
    }
    let tail = rest.strip_prefix(b"ip-")?;
    let len = run(tail, |byte| byte.is_ascii_digit() || byte == b'-');
    let is_address =
        tail[..len].iter().filter(|byte| **byte == b'-').count() == 3 && !tail[..len].ends_with(b"-");
    let domain = run(&tail[len..], |byte| is_token(byte) || byte == b'.');
    let domain = domain - tail[len..len + domain].iter().rev().take_while(|byte| **byte == b'.').count();
    is_address.then_some(3 + len + domain)
}
