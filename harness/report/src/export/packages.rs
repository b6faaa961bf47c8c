//! The packages that a test needs, with the versions on which the finding was seen.

use std::fmt::Write;

use serde_json::{Map, Value, json};

use super::{ExportFile, Framework};

/// A package with its exact version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Package {
    pub name: String,
    pub version: String,
}

/// The versions of the test frameworks with which exports are run.
const VITEST: &str = "4.1.12";
const PYTEST: &str = "9.2.0";

/// The package file: those packages of the adapter that the test names.
pub(super) fn file(test: &ExportFile, packages: &[Package], framework: Framework) -> ExportFile {
    match framework {
        Framework::Vitest => package_json(test, packages, "vitest run", Some(("vitest", VITEST))),
        Framework::NodeTest => package_json(test, packages, "node --test", None),
        Framework::Pytest => requirements(test, packages),
    }
}

fn package_json(
    test: &ExportFile,
    packages: &[Package],
    run: &str,
    framework: Option<(&str, &str)>,
) -> ExportFile {
    let is_imported = |package: &&Package| {
        let name = &package.name;
        test.text.contains(&format!("from '{name}'")) || test.text.contains(&format!("from '{name}/"))
    };
    let needed = packages.iter().filter(is_imported).map(|it| (it.name.as_str(), it.version.as_str()));
    let needed: Map<String, Value> =
        needed.chain(framework).map(|(name, version)| (name.to_owned(), version.into())).collect();
    let manifest =
        json!({ "private": true, "type": "module", "scripts": { "test": run }, "dependencies": needed });
    ExportFile { name: "package.json".to_owned(), text: format!("{manifest:#}\n") }
}

/// A Python template lists its packages itself, in a line `# requires: …`, because modules have other names.
fn requirements(test: &ExportFile, packages: &[Package]) -> ExportFile {
    let named = test.text.lines().filter_map(|line| line.strip_prefix(REQUIRES));
    let named: Vec<&str> = named.flat_map(|words| words.split_whitespace()).collect();
    let mut text = String::new();
    for name in named {
        // The version of a package with extras is that of the package.
        let bare = name.split('[').next().unwrap_or(name);
        if let Some(package) = packages.iter().find(|package| package.name == bare) {
            let _ = writeln!(text, "{name}=={}", package.version);
        }
    }
    let _ = writeln!(text, "pytest=={PYTEST}");
    ExportFile { name: "requirements.txt".to_owned(), text }
}

/// The prefix of a line that lists packages in a Python test.
const REQUIRES: &str = "# requires: ";

impl Package {
    /// The packages in a `package.json`.
    pub fn of_npm(package_json: &str) -> Vec<Package> {
        let manifest: Value = serde_json::from_str(package_json).unwrap_or_default();
        let named = manifest["dependencies"].as_object().into_iter().flatten();
        let named = named.filter_map(|(name, version)| Some((name, version.as_str()?)));
        named.map(|(name, version)| Package { name: name.clone(), version: version.to_owned() }).collect()
    }

    /// The packages that a `requirements.txt` pins.
    pub fn of_pip(requirements: &str) -> Vec<Package> {
        let pins = requirements.lines().filter(|line| !line.starts_with([' ', '#']));
        let pins = pins.filter_map(|line| line.split_once("=="));
        let pin = |(name, rest): (&str, &str)| {
            let version = rest.split([' ', ';', '\\']).next().unwrap_or_default();
            Package {
                name: name.split('[').next().unwrap_or(name).trim().to_owned(),
                version: version.to_owned(),
            }
        };
        pins.map(pin).collect()
    }
}
