//! Compares the list "Adding a dialect" in `ARCHITECTURE.md` with the dialect that the feature `toy-dialect`
//! adds.

#![expect(clippy::unwrap_used, reason = "a test may stop at what it does not expect")]

use std::collections::BTreeSet;
use std::path::Path;

#[test]
fn adding_a_dialect_touches_the_listed_files_and_no_others() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let section = text.split("\n## ").find(|section| section.starts_with("Adding a dialect\n")).unwrap();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    let listed: BTreeSet<String> = rows.map(str::to_owned).collect();
    let mut touched = BTreeSet::new();
    collect(root, &root.join("harness"), &mut touched);
    assert_eq!(listed, touched);
}

/// Adds the source files below a folder that mention the feature or are the toy's own.
fn collect(root: &Path, folder: &Path, touched: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            if !name.ends_with("tests") {
                collect(root, &path, touched);
            }
        } else if name.ends_with(".rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            if name.contains("/dialects/toy") || text.contains("feature = \"toy-dialect\"") {
                touched.insert(name);
            }
        }
    }
}
