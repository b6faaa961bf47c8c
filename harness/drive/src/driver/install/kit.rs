//! The kits: the package `brickbat-adapter`, which implements the protocol for an adapter, and a file that
//! does the same for a filter's driver and is written alongside it.
//!
//! A manifest with `kit: 1` gets the copy that is embedded in this program, unless its dependencies include
//! the package.

use std::path::Path;

use super::super::manifest::{Install, Kit};

/// Files by their paths in the adapter's folder, and their texts.
type Files = &'static [(&'static str, &'static str)];

const JAVASCRIPT: Files = &[
    (
        "node_modules/brickbat-adapter/package.json",
        include_str!("../../../../packages/kit/javascript/package.json"),
    ),
    ("node_modules/brickbat-adapter/index.js", include_str!("../../../../packages/kit/javascript/index.js")),
    (
        "node_modules/brickbat-adapter/index.d.ts",
        include_str!("../../../../packages/kit/javascript/index.d.ts"),
    ),
];

const PYTHON: Files = &[(
    "brickbat_adapter/__init__.py",
    include_str!("../../../../packages/kit/python/brickbat_adapter/__init__.py"),
)];

const FILTER_IN_JAVASCRIPT: Files =
    &[("brickbat-filter.mjs", include_str!("../../../../packages/kit/filter/brickbat-filter.mjs"))];

const FILTER_IN_PYTHON: Files =
    &[("brickbat_filter.py", include_str!("../../../../packages/kit/filter/brickbat_filter.py"))];

/// The files of a kit for this kind of installation.
pub(super) fn files(kit: Kit, install: Install) -> Files {
    match (kit, install) {
        (Kit::Adapter, Install::Npm) => JAVASCRIPT,
        (Kit::Adapter, Install::Pip) => PYTHON,
        (Kit::Filter, Install::Npm) => FILTER_IN_JAVASCRIPT,
        (Kit::Filter, Install::Pip) => FILTER_IN_PYTHON,
        (_, Install::None | Install::Cargo) => &[],
    }
}

/// True if a folder contains the kit: the package among its dependencies, or the file.
pub(super) fn is_among(folder: &Path, kit: Kit, install: Install) -> bool {
    if kit == Kit::Filter {
        return files(kit, install).iter().all(|(file, _)| folder.join(file).is_file());
    }
    match install {
        Install::Npm => folder.join("node_modules/brickbat-adapter").is_dir(),
        Install::Pip => {
            let versions = std::fs::read_dir(folder.join(".venv/lib")).into_iter().flatten().flatten();
            let has_it =
                |version: std::fs::DirEntry| version.path().join("site-packages/brickbat_adapter").is_dir();
            versions.into_iter().any(has_it)
        }
        Install::None | Install::Cargo => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_packages_have_the_major_version_of_the_protocol() {
        let package: serde_json::Value = serde_json::from_str(JAVASCRIPT[0].1).unwrap();
        let version = package["version"].as_str().unwrap();
        assert_eq!(version.split('.').next(), Some("1"));
        let python = include_str!("../../../../packages/kit/python/pyproject.toml");
        assert!(python.contains(&format!("\nversion = \"{version}\"\n")));
        assert!([JAVASCRIPT[1].1, PYTHON[0].1].iter().all(|text| text.contains("protocol 1")));
    }
}
