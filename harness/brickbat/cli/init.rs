//! `brickbat init`.

mod configured;

use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use clap::Args;

use super::error::{CliError, Outcome};
use super::output::print_plain;
use brickbat_drive::runner::quoted;
use brickbat_scenario::parse::{did_you_mean, one_of};
use configured::{Configured, configure};

/// Write a working starter adapter for an SDK in the given language, with a manifest and a README.
///
/// A `brickbat.toml` in the working directory names the manifest, so that the other commands test your system without
/// an option.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Init {
    /// The language: `typescript`, `python` or `rust`.
    #[arg(long, value_name = "LANGUAGE")]
    lang: String,
    /// The directory; it is created if needed. Existing files are not overwritten.
    #[arg(value_name = "DIR", default_value = "brickbat")]
    folder: PathBuf,
    /// The project to test, in its current working-tree state; by default the nearest project in that language that
    /// contains DIR.
    #[arg(long, value_name = "DIR", conflicts_with = "no_project")]
    project: Option<PathBuf>,
    /// Test a released version instead of a working tree.
    #[arg(long)]
    no_project: bool,
    /// Write a driver for a filter, which rewrites a message history, instead of an agent adapter, in `typescript` or
    /// `python`.
    #[arg(long, conflicts_with_all = ["project", "no_project"])]
    filter: bool,
}

const EXAMPLES: &str = "Examples:
  brickbat init --lang typescript
  brickbat init --lang python tests/brickbat
  brickbat init --lang python --project ../my-agent ../my-agent-tests
  brickbat init --filter --lang python my-filter";

/// The adapter for a language.
struct Template {
    /// The language's names; the first is shown to the user.
    names: &'static [&'static str],
    /// The SDK that the adapter drives until it is replaced.
    sdk: &'static str,
    /// The files that identify a project in that language.
    projects: &'static [&'static str],
    /// The files, by name.
    files: &'static [(&'static str, &'static str)],
}

/// The templates. `Cargo.toml` has a different name here: a folder with a `Cargo.toml` would be a separate
/// package, which Cargo does not publish with this one.
const TEMPLATES: [Template; 3] = [
    Template {
        names: &["typescript", "javascript", "ts", "js"],
        sdk: "the AI SDK",
        projects: &["package.json"],
        files: &[
            ("README.md", include_str!("../../systems/templates/typescript/README.md")),
            ("adapter.mjs", include_str!("../../systems/templates/typescript/adapter.mjs")),
            ("package-lock.json", include_str!("../../systems/templates/typescript/package-lock.json")),
            ("package.json", include_str!("../../systems/templates/typescript/package.json")),
            ("system.yaml", include_str!("../../systems/templates/typescript/system.yaml")),
        ],
    },
    Template {
        names: &["python", "py"],
        sdk: "Pydantic AI",
        projects: &["pyproject.toml", "setup.py"],
        files: &[
            ("README.md", include_str!("../../systems/templates/python/README.md")),
            ("adapter.py", include_str!("../../systems/templates/python/adapter.py")),
            ("requirements.txt", include_str!("../../systems/templates/python/requirements.txt")),
            ("system.yaml", include_str!("../../systems/templates/python/system.yaml")),
        ],
    },
    Template {
        names: &["rust", "rs"],
        sdk: "Rig",
        projects: &["Cargo.toml"],
        files: &[
            ("Cargo.lock", include_str!("../../systems/templates/rust/Cargo.lock")),
            ("Cargo.toml", include_str!("../../systems/templates/rust/package.toml")),
            ("README.md", include_str!("../../systems/templates/rust/README.md")),
            ("adapter.rs", include_str!("../../systems/templates/rust/adapter.rs")),
            ("brickbat-adapter/Cargo.toml", include_str!("../../packages/kit/rust/package.toml")),
            ("brickbat-adapter/README.md", include_str!("../../packages/kit/rust/README.md")),
            ("brickbat-adapter/gate.rs", include_str!("../../packages/kit/rust/gate.rs")),
            ("brickbat-adapter/lib.rs", include_str!("../../packages/kit/rust/lib.rs")),
            ("brickbat-adapter/session.rs", include_str!("../../packages/kit/rust/session.rs")),
            ("brickbat-adapter/wire.rs", include_str!("../../packages/kit/rust/wire.rs")),
            ("system.yaml", include_str!("../../systems/templates/rust/system.yaml")),
        ],
    },
];

/// The files in a filter driver, by language.
const FILTERS: [(&str, &[(&str, &str)]); 2] = [
    (
        "typescript",
        &[
            ("brickbat-filter.mjs", include_str!("../../packages/kit/filter/brickbat-filter.mjs")),
            ("driver.mjs", include_str!("../../filters-under-test/templates/javascript/driver.mjs")),
            ("filter.yaml", include_str!("../../filters-under-test/templates/javascript/filter.yaml")),
        ],
    ),
    (
        "python",
        &[
            ("brickbat_filter.py", include_str!("../../packages/kit/filter/brickbat_filter.py")),
            ("driver.py", include_str!("../../filters-under-test/templates/python/driver.py")),
            ("filter.yaml", include_str!("../../filters-under-test/templates/python/filter.yaml")),
        ],
    ),
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
                "there is no template for `{}`\nhint: {hint}; for other languages, harness/systems/README.md describes \
                 the protocol",
                self.lang
            )));
        };
        if self.filter {
            return self.filter(template);
        }
        let project = self.project(template)?;
        let files = template.files.iter().map(|(name, text)| match &project {
            Some(project) if *name == "system.yaml" => (*name, of_project(text, project)),
            _ => (*name, (*text).to_owned()),
        });
        write_all(&self.folder, &files.collect::<Vec<_>>())?;
        let configured = configure(&self.folder)?;
        print_plain(&next_steps(&self.folder, template, project.as_deref(), &configured));
        Ok(0)
    }

    /// Writes a driver for a filter.
    fn filter(&self, template: &Template) -> Outcome {
        let Some((_, files)) = FILTERS.iter().find(|(name, _)| *name == template.names[0]) else {
            return Err(CliError::input(
                "there is no driver of filters in that language\nhint: a filter in Rust is judged in its own tests, with the \
                 crate brickbat-filter-suite",
            ));
        };
        let files = files.iter().map(|(name, text)| (*name, (*text).to_owned()));
        write_all(&self.folder, &files.collect::<Vec<_>>())?;
        let folder = self.folder.display();
        print_plain(&format!(
            "wrote {folder}/filter.yaml\n\nnext: call your filter in the driver, then judge it:\n  brickbat filters --manifest {folder}/filter.yaml\n"
        ));
        Ok(0)
    }

    /// The project to test, as a path relative to the folder. `None` if there is no project.
    fn project(&self, template: &Template) -> Result<Option<String>, CliError> {
        if self.no_project {
            return Ok(None);
        }
        let absolute = |path: &Path| {
            let found = std::path::absolute(path);
            found.map_err(|error| CliError::input(format!("{}: {error}", path.display())))
        };
        let folder = resolved(&absolute(&self.folder)?);
        let is_project = |at: &Path| template.projects.iter().any(|name| at.join(name).is_file());
        let found = match &self.project {
            Some(named) => {
                let named = resolved(&absolute(named)?);
                if !is_project(&named) {
                    return Err(CliError::input(format!(
                        "{} is not a project in {}: it has no {}",
                        named.display(),
                        template.names[0],
                        template.projects.join(" or ")
                    )));
                }
                Some(named)
            }
            None => around(&folder).find(|at| is_project(at)).map(Path::to_owned),
        };
        Ok(found.map(|project| path_from(&folder, &project)))
    }
}

/// The parents of a folder, up to its repository's folder.
fn around(folder: &Path) -> impl Iterator<Item = &Path> {
    let mut is_over = false;
    folder.ancestors().skip(1).take_while(move |at| {
        let goes_on = !is_over;
        is_over = at.join(".git").exists();
        goes_on
    })
}

/// Resolves the links in the existing part of a path.
fn resolved(path: &Path) -> PathBuf {
    match (fs::canonicalize(path), path.parent(), path.file_name()) {
        (Ok(found), ..) => found,
        (Err(_), Some(parent), Some(name)) => resolved(parent).join(name),
        _ => path.to_owned(),
    }
}

/// A path relative to a folder; both are absolute.
fn path_from(folder: &Path, path: &Path) -> String {
    let (from, to): (Vec<_>, Vec<_>) = (folder.components().collect(), path.components().collect());
    let n_shared = from.iter().zip(&to).take_while(|(one, other)| one == other).count();
    let up = from[n_shared..].iter().map(|_| "..".to_owned());
    let down = to[n_shared..].iter().map(|part| part.as_os_str().to_string_lossy().into_owned());
    up.chain(down).collect::<Vec<_>>().join("/")
}

/// Turns the manifest of a released version into one for a project's working tree.
fn of_project(manifest: &str, project: &str) -> String {
    let mut text = String::new();
    let mut lines = manifest.lines().peekable();
    while let Some(line) = lines.next() {
        if line != "versions:" {
            text += &format!("{line}\n");
            continue;
        }
        while lines.next_if(|line| line.starts_with(' ')).is_some() {}
        let quoted = serde_json::Value::from(project);
        text += &format!(
            "# The working tree to test. It is linked, not copied, so its version is the one that is checked out.\n\
             project: {quoted}\n"
        );
    }
    text
}

/// Writes the files, or none of them if one already exists.
fn write_all(folder: &Path, files: &[(&str, String)]) -> Result<(), CliError> {
    let failed = |path: &Path, error: std::io::Error| CliError::cannot_write(path.display(), error);
    let existing =
        files.iter().map(|(name, _)| folder.join(name)).find(|path| path.symlink_metadata().is_ok());
    let exists = |path: &Path| {
        CliError::input(format!(
            "{} already exists; nothing was overwritten\nhint: choose another directory: brickbat init --lang \
             LANGUAGE DIR",
            path.display()
        ))
    };
    if let Some(path) = existing {
        return Err(exists(&path));
    }
    for (name, text) in files {
        let path = folder.join(name);
        let place = path.parent().unwrap_or(folder);
        fs::create_dir_all(place).map_err(|error| failed(place, error))?;
        let file = OpenOptions::new().write(true).create_new(true).open(&path);
        let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => exists(&path),
            _ => failed(&path, error),
        })?;
    }
    Ok(())
}

fn next_steps(folder: &Path, template: &Template, project: Option<&str>, configured: &Configured) -> String {
    let mut text = String::new();
    for (name, _) in template.files {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "wrote {}", folder.join(name).display());
    }
    let option = match configured {
        Configured::Written(file) => {
            let _ = writeln!(text, "wrote {}, which names the manifest", file.display());
            String::new()
        }
        Configured::Existing { .. } => {
            format!(" --manifest {}", quoted(&folder.join("system.yaml").to_string_lossy()))
        }
    };
    if let Some(project) = project {
        let _ = writeln!(
            text,
            "\nThe system under test is the working tree in {}, linked from {}; `--no-project` leaves it out.",
            project,
            folder.display()
        );
    }
    let adapter = template.files.iter().find(|(name, _)| name.starts_with("adapter."));
    let adapter = folder.join(adapter.map_or("adapter", |(name, _)| *name));
    let _ = write!(
        text,
        "\nThe adapter drives {sdk} and works as it is. Next steps:\n  \
         brickbat run{option} abort/mid-batch    get a first verdict\n  \
         edit {adapter} to drive your SDK instead of {sdk}, as {readme} explains\n  \
         brickbat verify-adapter{option}    check that the adapter follows the protocol\n  \
         brickbat run{option}    run the whole suite\n",
        sdk = template.sdk,
        adapter = adapter.display(),
        readme = folder.join("README.md").display(),
    );
    if let Configured::Existing { file, line } = configured {
        let _ = writeln!(text, "\nTo leave out --manifest, add this line to {}:\n  {line}", file.display());
    }
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

            let of_tree = of_project(text("system.yaml").unwrap(), "../..");
            let of_tree =
                Manifest::parse("system.yaml", &of_tree, &FileSource::Folder("/a/b/c".into())).unwrap();
            assert_eq!(of_tree[0].version, None, "{}", template.sdk);
            assert_eq!(of_tree[0].project.as_deref(), Some(Path::new("/a/b/c/../..")));
            assert_eq!(of_tree[0].modes, manifest.modes);
        }
    }

    #[test]
    fn a_project_is_named_from_the_folder() {
        for (folder, project, path) in [
            ("/a/b/brickbat", "/a/b", ".."),
            ("/a/b/tests/x", "/a/b", "../.."),
            ("/a/tests", "/a/lib", "../lib"),
        ] {
            assert_eq!(path_from(Path::new(folder), Path::new(project)), path);
        }
    }

    #[test]
    fn the_nearest_project_in_the_repository_is_found() {
        let root = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(root.path()).unwrap();
        fs::write(root.join("pyproject.toml"), "").unwrap();
        let init = |folder: &str| Init {
            lang: "python".to_owned(),
            folder: root.join(folder),
            project: None,
            no_project: false,
            filter: false,
        };
        assert_eq!(init("tests/brickbat").project(&TEMPLATES[1]).unwrap().as_deref(), Some("../.."));
        fs::create_dir_all(root.join("inner/.git")).unwrap();
        assert_eq!(init("inner/brickbat").project(&TEMPLATES[1]).unwrap(), None);
        let named = Init { project: Some(root.join("inner")), ..init("brickbat") };
        assert!(named.project(&TEMPLATES[1]).is_err());
    }
}
