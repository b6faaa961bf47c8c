//! `brickbat init`.

use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use clap::Args;

use super::error::{CliError, Outcome};
use super::output::print_plain;
use brickbat_drive::runner::quoted;
use brickbat_scenario::parse::{did_you_mean, one_of};

/// Write an adapter to start from: a working one for an SDK in that language, with a manifest and a README.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Init {
    /// The language: `typescript`, `python` or `rust`.
    #[arg(long, value_name = "LANGUAGE")]
    lang: String,
    /// The directory, which is created if needed. No file in it is overwritten.
    #[arg(value_name = "DIR", default_value = "brickbat")]
    folder: PathBuf,
}

const EXAMPLES: &str = "Examples:
  brickbat init --lang typescript
  brickbat init --lang python tests/brickbat";

/// The adapter for a language.
struct Template {
    /// The names of the language; the first is shown.
    names: &'static [&'static str],
    /// The SDK that the adapter drives until it is replaced.
    sdk: &'static str,
    /// The files, by name.
    files: &'static [(&'static str, &'static str)],
}

/// The templates. `Cargo.toml` has another name here: a folder with one of that name would be a package of its own, and
/// not part of the published one.
const TEMPLATES: [Template; 3] = [
    Template {
        names: &["typescript", "javascript", "ts", "js"],
        sdk: "the AI SDK",
        files: &[
            ("README.md", include_str!("../systems/templates/typescript/README.md")),
            ("adapter.mjs", include_str!("../systems/templates/typescript/adapter.mjs")),
            ("package-lock.json", include_str!("../systems/templates/typescript/package-lock.json")),
            ("package.json", include_str!("../systems/templates/typescript/package.json")),
            ("protocol.mjs", include_str!("../systems/templates/typescript/protocol.mjs")),
            ("system.yaml", include_str!("../systems/templates/typescript/system.yaml")),
        ],
    },
    Template {
        names: &["python", "py"],
        sdk: "Pydantic AI",
        files: &[
            ("README.md", include_str!("../systems/templates/python/README.md")),
            ("adapter.py", include_str!("../systems/templates/python/adapter.py")),
            ("protocol.py", include_str!("../systems/templates/python/protocol.py")),
            ("requirements.txt", include_str!("../systems/templates/python/requirements.txt")),
            ("system.yaml", include_str!("../systems/templates/python/system.yaml")),
        ],
    },
    Template {
        names: &["rust", "rs"],
        sdk: "Rig",
        files: &[
            ("Cargo.lock", include_str!("../systems/templates/rust/Cargo.lock")),
            ("Cargo.toml", include_str!("../systems/templates/rust/package.toml")),
            ("README.md", include_str!("../systems/templates/rust/README.md")),
            ("adapter.rs", include_str!("../systems/templates/rust/adapter.rs")),
            ("protocol.rs", include_str!("../systems/templates/rust/protocol.rs")),
            ("system.yaml", include_str!("../systems/templates/rust/system.yaml")),
        ],
    },
];

impl Init {
    pub(super) fn execute(&self) -> Outcome {
        let wanted = self.lang.to_lowercase();
        let Some(template) = TEMPLATES.iter().find(|template| template.names.contains(&wanted.as_str()))
        else {
            let known = TEMPLATES.map(|template| template.names[0]);
            let hint =
                did_you_mean(&wanted, &known).or_else(|| one_of("there is", &known)).unwrap_or_default();
            return Err(CliError::input(format!(
                "there is no template in `{}`\nhint: {hint}; for other languages, harness/systems/README.md describes \
                 the protocol",
                self.lang
            )));
        };
        write_all(&self.folder, template.files)?;
        print_plain(&next_steps(&self.folder, template));
        Ok(0)
    }
}

/// Writes the files, or none of them if one exists already.
fn write_all(folder: &Path, files: &[(&str, &str)]) -> Result<(), CliError> {
    let failed = |path: &Path, error: std::io::Error| CliError::cannot_write(path.display(), error);
    let existing =
        files.iter().map(|(name, _)| folder.join(name)).find(|path| path.symlink_metadata().is_ok());
    let exists = |path: &Path| {
        CliError::input(format!(
            "{} exists already, and nothing is overwritten\nhint: choose another directory: brickbat init --lang \
             LANGUAGE DIR",
            path.display()
        ))
    };
    if let Some(path) = existing {
        return Err(exists(&path));
    }
    fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
    for (name, text) in files {
        let path = folder.join(name);
        let file = OpenOptions::new().write(true).create_new(true).open(&path);
        let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => exists(&path),
            _ => failed(&path, error),
        })?;
    }
    Ok(())
}

fn next_steps(folder: &Path, template: &Template) -> String {
    let mut text = String::new();
    for (name, _) in template.files {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "wrote {}", folder.join(name).display());
    }
    let adapter = template.files.iter().find(|(name, _)| name.starts_with("adapter."));
    let adapter = folder.join(adapter.map_or("adapter", |(name, _)| *name));
    let manifest = quoted(&folder.join("system.yaml").to_string_lossy());
    let _ = write!(
        text,
        "\nThe adapter drives {sdk} and works as it is. Next steps:\n  \
         brickbat run --manifest {manifest} abort/mid-batch    the first verdict\n  \
         edit {adapter} to drive your SDK instead of {sdk}, as {readme} explains\n  \
         brickbat verify-adapter --manifest {manifest}    whether the adapter follows the protocol\n  \
         brickbat run --manifest {manifest}    the whole suite\n",
        sdk = template.sdk,
        adapter = adapter.display(),
        readme = folder.join("README.md").display(),
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use brickbat_drive::driver::manifest::{FileSource, Manifest};

    const MAX_COLUMNS: usize = 120;

    #[test]
    fn no_line_that_is_read_is_wide() {
        for template in &TEMPLATES {
            let code = [".mjs", ".py", ".rs", ".yaml"];
            let is_code = |name: &str| code.iter().any(|ending| name.ends_with(ending));
            for (name, text) in template.files.iter().filter(|(name, _)| is_code(name)) {
                let is_wide = |line: &&str| line.chars().count() > MAX_COLUMNS;
                assert_eq!(text.lines().find(is_wide), None, "{}: {name}", template.sdk);
            }
        }
    }

    #[test]
    fn a_manifest_names_files_that_are_written_and_a_version_that_is_pinned() {
        for template in &TEMPLATES {
            let text =
                |wanted: &str| template.files.iter().find(|(name, _)| *name == wanted).map(|(_, text)| *text);
            let place = FileSource::BuiltIn(template.files);
            let manifests = Manifest::parse("system.yaml", text("system.yaml").unwrap(), &place).unwrap();
            let manifest = &manifests[0];
            assert!(manifest.files.iter().all(|file| text(file).is_some()), "{}", template.sdk);
            assert_eq!(manifest.dialects.len(), 2, "{}", template.sdk);
            let (sdk, version) = (manifest.sdk.clone().unwrap(), manifest.version.clone().unwrap());
            let pins = [
                ("package-lock.json", format!("node_modules/{sdk}\": {{\n      \"version\": \"{version}\"")),
                ("requirements.txt", format!("\n{sdk}=={version} ")),
                ("requirements.txt", format!("\n{sdk}[anthropic,openai]=={version} ")),
                ("Cargo.lock", format!("name = \"{sdk}\"\nversion = \"{version}\"")),
            ];
            let is_pinned = |(file, pin): &(&str, String)| text(file).is_some_and(|text| text.contains(pin));
            assert!(pins.iter().any(is_pinned), "{sdk} {version}");
        }
    }
}
