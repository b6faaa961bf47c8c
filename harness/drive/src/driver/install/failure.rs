//! Extracts the cause of a failure from the output of npm, pip, uv or cargo.

use super::super::manifest::{FileSource, Install, Manifest};
use super::super::process::end_of;

/// Lines that are shown: the first ones name the error, and the following ones explain it.
const MAX_LINES: usize = 6;

/// Prefixes of the lines in which these programs report their errors.
const MARKS: [&str; 5] = ["npm error", "npm ERR!", "ERROR:", "error:", "error["];

/// Prefixes of npm's lines that name no cause.
const IDLE: [&str; 6] = ["code E", "A complete log", "errno", "syscall", "Usage:", "aliases:"];

/// The relevant lines, followed by advice if the cause is known.
pub(super) fn decisive(manifest: &Manifest, said: &[u8]) -> String {
    let text = String::from_utf8_lossy(said);
    let marked = text.lines().filter_map(|line| {
        let line = line.trim();
        let mark = MARKS.iter().find(|mark| line.starts_with(**mark))?;
        // npm puts its mark before each line; for the others it is part of the sentence.
        Some(if mark.starts_with("npm") { line[mark.len()..].trim() } else { line })
    });
    let lines: Vec<&str> =
        marked.filter(|line| !line.is_empty() && !IDLE.iter().any(|idle| line.starts_with(idle))).collect();
    if lines.is_empty() {
        return end_of(said);
    }
    let missing: Vec<&str> = lines
        .iter()
        .copied()
        .filter(|line| ["Missing:", "Invalid:"].iter().any(|word| line.starts_with(word)))
        .take(2)
        .collect();
    if manifest.install == Install::Npm && lines.iter().any(|line| line.contains("in sync")) {
        let place = match &manifest.place {
            FileSource::Folder(folder) => format!(" in {}", folder.display()),
            FileSource::BuiltIn(_) => String::new(),
        };
        let first = if missing.is_empty() { String::new() } else { format!(" ({})", missing.join("; ")) };
        return format!(
            "package.json and package-lock.json are not in sync{first}; run `npm install --package-lock-only`{place}, and \
             commit package-lock.json"
        );
    }
    let is_offline = |line: &&str| OFFLINE.iter().any(|code| line.contains(code));
    if let Some(line) = lines.iter().copied().find(is_offline).or_else(|| text.lines().find(is_offline)) {
        return format!(
            "the package registry cannot be reached; check the network, or the proxy that it needs: {}",
            line.trim()
        );
    }
    lines.into_iter().take(MAX_LINES).collect::<Vec<_>>().join("\n")
}

/// Text that shows that the registry could not be reached.
const OFFLINE: [&str; 6] = [
    "EAI_AGAIN",
    "ENOTFOUND",
    "ECONNREFUSED",
    "Temporary failure in name resolution",
    "Failed to establish a new connection",
    "dns error",
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn of(install: Install, said: &str) -> String {
        let manifest =
            Manifest { install, ..Manifest::of_command(Vec::new(), PathBuf::from("/me/brickbat")) };
        decisive(&manifest, said.as_bytes())
    }

    #[test]
    fn a_stale_lock_file_and_a_missing_network_are_reported_with_advice() {
        let stale = "npm error code EUSAGE\nnpm error\nnpm error `npm ci` can only install packages when your package.json \
                     and package-lock.json or npm-shrinkwrap.json are in sync. Please update your lock file with `npm \
                     install` before continuing.\nnpm error\nnpm error Missing: left-pad@1.3.0 from lock file\nnpm error\n\
                     npm error Clean install a project\nnpm error\nnpm error Usage:\nnpm error npm ci\n";
        assert_eq!(
            of(Install::Npm, stale),
            "package.json and package-lock.json are not in sync (Missing: left-pad@1.3.0 from lock file); run `npm install \
             --package-lock-only` in /me/brickbat, and commit package-lock.json"
        );
        let offline = "npm error code EAI_AGAIN\nnpm error syscall getaddrinfo\nnpm error errno EAI_AGAIN\nnpm error request \
                       to https://registry.npmjs.org/ai failed, reason: getaddrinfo EAI_AGAIN registry.npmjs.org\n";
        assert!(
            of(Install::Npm, offline)
                .starts_with("the package registry cannot be reached; check the network")
        );
    }

    #[test]
    fn the_first_errors_are_shown_or_the_end_if_no_line_is_marked() {
        let gone = "npm error code E404\nnpm error 404 Not Found - GET https://registry.npmjs.org/nope\nnpm error A complete \
                    log of this run can be found in: x\n";
        assert_eq!(of(Install::Npm, gone), "404 Not Found - GET https://registry.npmjs.org/nope");
        let pip = "Collecting nope\nERROR: Could not find a version that satisfies the requirement nope\nERROR: No matching \
                   distribution found for nope\n";
        assert_eq!(of(Install::Pip, pip).lines().count(), 2);
        assert_eq!(of(Install::Cargo, "something else\n"), "something else");
    }
}
