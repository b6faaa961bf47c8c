//! A source file as the tidy checks read it: without comments, and with or without what stands in quotes.

use std::path::{Path, PathBuf};

/// One Rust file.
#[derive(Debug)]
pub struct Source {
    /// Below the root of the repository, with `/`.
    pub path: String,
    /// Number of lines, as they are.
    pub n_lines: usize,
    /// Everything but comments.
    pub code: String,
    /// Everything but comments and the contents of strings.
    pub bare: String,
    /// The same without the unit tests at the end of the file; empty in files that are only tests.
    pub shipped: String,
    /// Like `shipped`, with the strings.
    pub shipped_code: String,
}

impl Source {
    pub fn new(path: &str, text: &str) -> Source {
        let (code, bare) = strip(text);
        let tests_only = path.starts_with("harness/tests/")
            || path.starts_with("harness/bench/")
            || path.ends_with("/tests.rs");
        let shipped = |code: &str| match tests_only {
            true => String::new(),
            false => code.split("#[cfg(test)]").next().unwrap_or_default().to_owned(),
        };
        Source {
            path: path.to_owned(),
            n_lines: text.lines().count(),
            shipped: shipped(&bare),
            shipped_code: shipped(&code),
            code,
            bare,
        }
    }

    /// The module directly below the crate that the file belongs to, such as `wire` for `harness/wire/sse.rs`.
    /// Files outside the crate's tree, and the list of modules itself, belong to none.
    pub fn module(&self) -> Option<&str> {
        let below = self.path.strip_prefix("harness/")?;
        let first = below.split('/').next()?;
        let name = first.strip_suffix(".rs").unwrap_or(first);
        (!matches!(name, "lib" | "tests" | "bench" | "systems")).then_some(name)
    }
}

/// Every Rust file below the given folders.
pub fn read_all(root: &Path, folders: &[&str]) -> Vec<Source> {
    let mut paths = Vec::new();
    let mut todo: Vec<PathBuf> = folders.iter().map(|folder| root.join(folder)).collect();
    while let Some(folder) = todo.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            match path.is_dir() {
                true if !matches!(name.as_str(), "target" | "node_modules") => todo.push(path),
                false if name.ends_with(".rs") => paths.push(path),
                _ => {}
            }
        }
    }
    paths.sort();
    let source = |path: PathBuf| {
        let below = path.strip_prefix(root).unwrap().to_string_lossy().replace('\\', "/");
        Source::new(&below, &std::fs::read_to_string(&path).unwrap())
    };
    paths.into_iter().map(source).collect()
}

/// The words of a text: maximal runs of letters, digits and underscores.
pub fn words(code: &str) -> impl Iterator<Item = &str> {
    code.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// What is named directly below a path such as `crate` or `std`, also inside groups: `use crate::{a, b::c}`.
pub fn below<'a>(code: &'a str, root: &str) -> Vec<&'a str> {
    let mut names = Vec::new();
    for (at, _) in code.match_indices(&format!("{root}::")) {
        let inside_word = code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let rest = code[at + root.len() + 2..].trim_start();
        match rest.strip_prefix('{') {
            _ if inside_word => {}
            Some(group) => names.extend(members(group).filter_map(|member| words(member).next())),
            None => names.extend(words(rest).next()),
        }
    }
    names
}

/// The members of a group whose opening brace has been read.
fn members(group: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_i32;
    let mut cuts = vec![0];
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => cuts.push(at),
            _ => {}
        }
        if depth < 0 {
            cuts.push(at);
            break;
        }
    }
    cuts.windows(2).map(|cut| &group[cut[0]..cut[1]]).collect::<Vec<_>>().into_iter()
}

/// A text without comments, and the same without the contents of strings. Line feeds stay.
fn strip(text: &str) -> (String, String) {
    let (mut code, mut bare) = (String::with_capacity(text.len()), String::with_capacity(text.len()));
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (taken, kind) = token(rest, first);
        let piece = &rest[..taken];
        let feeds: String = piece.chars().filter(|c| *c == '\n').collect();
        match kind {
            Kind::Comment => {
                code.push_str(&feeds);
                bare.push_str(&feeds);
            }
            Kind::Quoted => {
                code.push_str(piece);
                bare.push_str("\"\"");
                bare.push_str(&feeds);
            }
            Kind::Code => {
                code.push_str(piece);
                bare.push_str(piece);
            }
        }
        rest = &rest[taken..];
    }
    (code, bare)
}

enum Kind {
    Comment,
    Quoted,
    Code,
}

/// The length and the kind of what a text begins with.
fn token(rest: &str, first: char) -> (usize, Kind) {
    let up_to = |end: Option<usize>| end.unwrap_or(rest.len());
    match first {
        '/' if rest.starts_with("//") => (up_to(rest.find('\n')), Kind::Comment),
        '/' if rest.starts_with("/*") => (up_to(rest.find("*/").map(|at| at + 2)), Kind::Comment),
        '"' => (quoted(rest), Kind::Quoted),
        '\'' => match rest.char_indices().nth(2) {
            Some((_, _)) if rest[1..].starts_with('\\') => {
                (up_to(rest[3..].find('\'').map(|at| at + 4)), Kind::Quoted)
            }
            Some((at, '\'')) => (at + 1, Kind::Quoted),
            _ => (1, Kind::Code),
        },
        'r' | 'b' if rest.trim_start_matches(['r', 'b']).starts_with(['"', '#']) => raw(rest),
        c if c.is_alphanumeric() || c == '_' => {
            (up_to(rest.find(|c: char| !c.is_alphanumeric() && c != '_')), Kind::Code)
        }
        c => (c.len_utf8(), Kind::Code),
    }
}

/// The length of a string that may hold escapes.
fn quoted(rest: &str) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

/// The length of a literal such as `r#"…"#` or `b"…"`; a name such as `r#type` is code.
fn raw(rest: &str) -> (usize, Kind) {
    let prefix = rest.len() - rest.trim_start_matches(['r', 'b']).len();
    let hashes = rest[prefix..].len() - rest[prefix..].trim_start_matches('#').len();
    if !rest[prefix + hashes..].starts_with('"') {
        return (prefix, Kind::Code);
    }
    if !rest[..prefix].contains('r') {
        return (prefix + quoted(&rest[prefix..]), Kind::Quoted);
    }
    let close = format!("\"{}", "#".repeat(hashes));
    let body = prefix + hashes + 1;
    let length = rest[body..].find(&close).map_or(rest.len(), |at| body + at + close.len());
    (length, Kind::Quoted)
}

#[test]
fn comments_and_strings_are_told_from_code() {
    let source = Source::new(
        "harness/wire.rs",
        "let a = \"// \\\" no\"; // one\n/* two */ let b = br#\"th\"ree\"#; let c = '\"'; fn f<'a>() {}\n#[cfg(test)]\nmod tests {}",
    );
    assert_eq!(
        source.bare,
        "let a = \"\"; \n let b = \"\"; let c = \"\"; fn f<'a>() {}\n#[cfg(test)]\nmod tests {}"
    );
    assert!(source.code.contains("// \\\" no"), "{}", source.code);
    assert!(!source.shipped.contains("mod tests"), "{}", source.shipped);
}

#[test]
fn names_below_a_path_are_found_in_groups_and_inline() {
    let code = "use crate::plan::{Mark, Plan};\nuse crate::{\n    rules::{self, Profile},\n    wire,\n};\nfn f() { crate::trace::g(); mycrate::no() }";
    assert_eq!(below(code, "crate"), ["plan", "rules", "wire", "trace"]);
}
