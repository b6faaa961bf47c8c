//! Compares everything a person reads with two lists of words: those that are banned, and those that may only become fewer.
//!
//! In text that was rewritten, a banned pattern fails with its file, line and replacement.
//! Advised patterns, and banned ones in text that is still to be rewritten, are counted per file in
//! `harness/tests/words/advised.json`, and a count may only fall.
//! `BRICKBAT_UPDATE=1 cargo test --test pure words::` writes lower counts, and never a higher one.
//! Quotations are allowed: text between backticks, lines of a Markdown quotation, console blocks, and a line with `quoted:`.

#![expect(clippy::unwrap_used, reason = "a test may stop at what it does not expect")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;

/// Files with text that a person reads.
const ENDINGS: [&str; 11] = ["rs", "md", "yaml", "yml", "py", "mjs", "js", "ts", "sh", "toml", "txt"];

/// Folders and files whose text is recorded, generated, or the list itself.
const NOT_OURS: [&str; 8] = [
    "target",
    "node_modules",
    "harness/tests/words.rs",
    "harness/tests/words",
    "corpora/exports",
    "harness/tests/snapshots",
    "fuzz/corpus",
    ".git",
];

/// Text that was rewritten: there the banned patterns fail.
const REWRITTEN: [&str; 14] = [
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "corpora/",
    "dist/",
    "docs/",
    "fuzz/",
    "harness/packages/",
    "harness/engine/src/checks/README.md",
    "harness/filters-under-test/",
    "harness/systems/",
    "harness/web/page/",
    "scenarios/",
];

/// Names that programs read, and that stay as they are.
const STABLE: [&str; 7] =
    ["mended:", "mends:", "repair: mended", "\"mended\"", ".mend", "mendable-becomes-valid", "mend: str"];

/// A pattern, what it leaves out, and what to write in its place.
struct Pattern {
    name: &'static str,
    wrong: &'static str,
    but_not: &'static str,
    instead: &'static str,
}

const fn pattern(
    name: &'static str,
    wrong: &'static str,
    but_not: &'static str,
    instead: &'static str,
) -> Pattern {
    Pattern { name, wrong, but_not, instead }
}

/// Matches nothing.
const NEVER: &str = r"$^x";

const BANNED: [Pattern; 9] = [
    pattern(
        "mend",
        r"(?i:(?:\b|_)mend(?:s|ed|ing|er|ers)?(?:\b|_))|\bMend(?:ed|ing|er)?[A-Z]",
        NEVER,
        "fix or repair",
    ),
    pattern("spoil", r"(?i)(?:\b|_)spoil(?:s|t|ed|ing)?(?:\b|_)", NEVER, "corrupt, inject or break"),
    pattern("anew", r"(?i)\banew\b", NEVER, "again"),
    pattern("whoever", r"(?i)\bwhoever\b", NEVER, "the reader, a user, an SDK, or a plural"),
    pattern("so-manieth", r"(?i)so-manieth", NEVER, "every Nth"),
    pattern("in vain", r"(?i)\bin vain\b", NEVER, "without success"),
    pattern("that which", r"(?i)\bthat which\b", NEVER, "what, or a second sentence"),
    pattern(
        "fronted of",
        r"(?:^|[.:] |[/#*!-] )Of (?:an?|the|all|each|some|those|this|what)? ?(?:\w+ ){1,4}(?:the|an?|no|only|nothing|all) (?:\w+ )?(?:is|are|was|were)\b",
        NEVER,
        "begin with the subject",
    ),
    pattern("as often as it takes", r"(?i)\bas often as it takes\b", NEVER, "until"),
];

/// "What passes is judged": a clause as the subject of a sentence, or of a comment.
const SUBJECT_CLAUSE: Pattern = pattern(
    "What or Whether at the beginning",
    r"(?:^|[.:] |//[/!]? |# |^\s*[*-] )(?:What|Whether) ",
    r"^#+ |(?:What|Whether) [^.]*\?|What's",
    "name the thing: who does what",
);

const ADVISED: [Pattern; 12] = [
    pattern(
        "is no",
        r"(?i)\b(?:is|are|was|were) no \w+",
        r"(?i)\b(?:is|are|was|were) no (?:longer|more)\b|there (?:is|are|was|were) no ",
        "is not a; better, say what it is",
    ),
    pattern("goes on", r"(?i)\b(?:goes|went|go|going) on\b", NEVER, "continues"),
    pattern(
        "stands in",
        r"(?i)\b(?:stands?|stood|standing) (?:in|under|beside|next|behind|at|on|there|where|between|before|after)\b",
        NEVER,
        "is in, is listed under",
    ),
    pattern("also where", r"(?i)\balso (?:where|if|when)\b", NEVER, "even when"),
    pattern(
        "hold against",
        r"(?i)\b(?:holds?|held) (?:against|to)\b",
        NEVER,
        "compare with, require, verify",
    ),
    pattern("a test holds", r"(?i)\btests? (?:holds?|held)\b", NEVER, "a test checks"),
    pattern("is told", r"(?i)\b(?:is|are|was|were) told\b", NEVER, "say who reports it"),
    pattern("of which", r"(?i)\b(?:of|to|by) (?:which|whom)\b|\bwhose\b", NEVER, "a second sentence"),
    pattern("nobody", r"(?i)\bnobody\b", NEVER, "no one, or the passive"),
    pattern("for good", r"(?i)\bfor good\b", NEVER, "permanently"),
    pattern("all the same", r"(?i)\ball the same\b", NEVER, "anyway"),
    pattern("and nothing else", r"(?i)\band nothing else\b|\band no others?\b", NEVER, "only"),
];

struct Compiled {
    pattern: &'static Pattern,
    wrong: Regex,
    but_not: Regex,
}

fn compiled(pattern: &'static Pattern) -> Compiled {
    let regex = |text| Regex::new(text).unwrap();
    Compiled { pattern, wrong: regex(pattern.wrong), but_not: regex(pattern.but_not) }
}

static ALL_BANNED: LazyLock<Vec<Compiled>> = LazyLock::new(|| BANNED.iter().map(compiled).collect());
static ALL_ADVISED: LazyLock<Vec<Compiled>> = LazyLock::new(|| ADVISED.iter().map(compiled).collect());
static CLAUSE: LazyLock<Compiled> = LazyLock::new(|| compiled(&SUBJECT_CLAUSE));

/// One place where a pattern is found.
struct Hit {
    file: String,
    line: usize,
    text: String,
    pattern: &'static Pattern,
}

impl std::fmt::Display for Hit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Hit { file, line, text, pattern } = self;
        write!(f, "{file}:{line}: `{}`; write: {}\n    {}", pattern.name, pattern.instead, text.trim())
    }
}

#[test]
fn no_text_has_a_banned_pattern() {
    let hits: Vec<String> =
        texts().iter().flat_map(|(file, text)| banned(file, text)).map(|hit| hit.to_string()).collect();
    assert!(hits.is_empty(), "{} banned places\n{}", hits.len(), hits.join("\n"));
}

#[test]
fn a_banned_line_that_is_put_back_is_found() {
    let wrong = [
        ("docs/src/a.md", "With `--faults`, each so-manieth reply is refused."),
        ("docs/src/a.md", "A thread that it spoils never recovers."),
        ("fuzz/a.rs", "    let is_mended = true;"),
        ("fuzz/a.rs", "/// Written anew."),
        ("fuzz/a.rs", "struct MendedSession;"),
        ("docs/src/a.md", "Of the pictures the sides are judged."),
        ("docs/src/a.md", "What passes is judged."),
        ("fuzz/a.rs", "/// Whether it is red."),
        ("harness/systems/a/adapter.py", "# Whoever reads it waits in vain."),
    ];
    for (file, line) in wrong {
        assert!(!banned(file, line).is_empty(), "{file}: {line}");
    }
    let right = [
        ("docs/src/a.md", "It recommends the amendment."),
        ("docs/src/a.md", "The word `mend` is quoted, and `anew` as well."),
        ("docs/src/a.md", "> Whoever said this is quoted."),
        ("docs/src/a.md", "## What if it fails?"),
        ("harness/rules/src/a.rs", "/// Whether it is red, in a module that is still to be rewritten."),
        ("corpora/sessions/a.yaml", "  repair: mended"),
    ];
    for (file, line) in right {
        assert_eq!(banned(file, line).len(), 0, "{file}: {line}");
    }
}

/// The counts of the file fall with the text: a file that has fewer hits than it may have is red as well.
#[test]
fn advised_patterns_only_become_fewer() {
    let path = root().join("harness/tests/words/advised.json");
    let allowed: BTreeMap<String, usize> =
        serde_json::from_str(&std::fs::read_to_string(&path).unwrap_or_else(|_| "{}".to_owned())).unwrap();
    let mut counts = BTreeMap::new();
    let mut complaints = Vec::new();
    let is_first = allowed.is_empty();
    for (file, text) in texts() {
        let hits = advised(&file, &text);
        let may = allowed.get(&file).copied().unwrap_or_default();
        if hits.len() > may && !is_first {
            complaints.push(format!("{file}: {} advised places, {may} before", hits.len()));
            complaints.extend(hits.iter().map(Hit::to_string));
        }
        if !hits.is_empty() {
            counts.insert(file, hits.len());
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    let written = serde_json::to_string_pretty(&counts).unwrap() + "\n";
    if std::env::var_os("BRICKBAT_UPDATE").is_some() {
        std::fs::write(&path, written).unwrap();
    } else {
        assert_eq!(counts, allowed, "fewer than before: BRICKBAT_UPDATE=1 cargo test --test pure words::");
    }
}

fn banned(file: &str, text: &str) -> Vec<Hit> {
    if !is_rewritten(file) {
        return Vec::new();
    }
    found(file, text, ALL_BANNED.iter().chain([&*CLAUSE]))
}

fn advised(file: &str, text: &str) -> Vec<Hit> {
    let still_banned = ALL_BANNED.iter().chain([&*CLAUSE]).filter(|_| !is_rewritten(file));
    found(file, text, ALL_ADVISED.iter().chain(still_banned))
}

fn is_rewritten(file: &str) -> bool {
    REWRITTEN.iter().any(|place| file.starts_with(place))
}

fn found<'a>(file: &str, text: &str, patterns: impl Iterator<Item = &'a Compiled> + Clone) -> Vec<Hit> {
    let is_markdown = file.ends_with(".md");
    let mut in_block = false;
    let mut hits = Vec::new();
    for (n, line) in text.lines().enumerate() {
        if is_markdown && line.trim_start().starts_with("```") {
            in_block = !in_block;
        }
        if in_block || line.contains("quoted:") || (is_markdown && line.starts_with('>')) {
            continue;
        }
        let own = without_code(line);
        for Compiled { pattern, wrong, but_not } in patterns.clone() {
            let is_stable = pattern.name == "mend" && STABLE.iter().any(|name| own.contains(name));
            if wrong.is_match(&own) && !but_not.is_match(&own) && !is_stable {
                hits.push(Hit { file: file.to_owned(), line: n + 1, text: line.to_owned(), pattern });
            }
        }
    }
    hits
}

/// A line without what is between backticks, which quotes.
fn without_code(line: &str) -> String {
    let parts = line.split('`').enumerate();
    parts.filter(|(n, _)| n % 2 == 0).map(|(_, part)| part).collect::<Vec<_>>().join("`")
}

fn texts() -> Vec<(String, String)> {
    let mut paths = Vec::new();
    walk(root(), &mut paths);
    paths.sort();
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).ok()?;
        Some((below(&path), text))
    };
    let texts: Vec<_> = paths.into_iter().filter_map(read).collect();
    assert!(texts.len() > 1000, "{} files are read", texts.len());
    texts
}

fn walk(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if NOT_OURS.contains(&name.as_str()) || NOT_OURS.contains(&below(&path).as_str()) {
            continue;
        }
        let is_text = path.extension().is_some_and(|own| ENDINGS.iter().any(|ending| own == *ending));
        let is_stage = matches!(name.as_str(), "stages" | "run" | "nightly" | "build" | "check");
        if path.is_dir() {
            walk(&path, paths);
        } else if is_text && !name.starts_with("requirements") || is_stage {
            paths.push(path);
        }
    }
}

fn below(path: &Path) -> String {
    path.strip_prefix(root()).unwrap().to_string_lossy().into_owned()
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
