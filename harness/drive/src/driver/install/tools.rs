//! The programs that adapters need: checks that they are present and recent enough, and runs npm, pip and
//! cargo.

use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use tokio::process::Command;

use super::super::error::DriverError;
use super::super::manifest::{AtLeast, Install, Manifest, Requires, Siblings};
use super::super::supervisor_handle::{self, NotStarted, SupervisorHandle, program_status};
use super::failure;
use super::project::Project;
use super::{INSTALL_WAIT, Progress};

/// An installation with pip.
#[derive(Clone, Copy)]
struct PipPlace<'a> {
    /// The cache folder, which contains `requirements.txt` and gets `.venv`.
    folder: &'a Path,
    project: Option<&'a Project>,
    sdk: &'a str,
    /// The version that the user wants instead of the one in `requirements.txt`.
    pinned: Option<&'a str>,
}

pub(super) struct Tools<'a> {
    pub(super) manifest: &'a Manifest,
    /// The program `brickbat`, which supervises every process that is run.
    pub(super) supervisor: &'a Path,
    pub(super) progress: Progress<'a>,
}

/// The Python that creates virtual environments.
const PYTHON: &str = "python3";

/// The time limit for `--version`, which prints a constant.
const VERSION_WAIT: Duration = Duration::from_secs(20);

impl Tools<'_> {
    /// Checks that the programs that a system requires are on the machine.
    pub(super) async fn check(&self, requires: Requires) -> Result<(), DriverError> {
        if let Some(least) = requires.node {
            self.check_program("node", least, "Node.js {} or later from https://nodejs.org").await?;
        }
        match requires.python {
            Some(least) => {
                let advice = "Python {} or later, with its module venv, from https://www.python.org";
                let own = self.own_python().map(|python| python.to_string_lossy().into_owned());
                self.check_program(own.as_deref().unwrap_or(PYTHON), least, advice).await
            }
            None => Ok(()),
        }
    }

    /// The Python of the user's own virtual environment, if the adapter runs there. It need not be the one on the
    /// PATH.
    fn own_python(&self) -> Option<PathBuf> {
        let python = super::in_place(self.manifest)?.join(".venv/bin/python");
        python.is_file().then_some(python)
    }

    async fn check_program(&self, program: &str, least: AtLeast, advice: &str) -> Result<(), DriverError> {
        let AtLeast(major, minor) = least;
        let wanted = if minor == 0 { major.to_string() } else { format!("{major}.{minor}") };
        let missing = |found: String| DriverError::ProgramMissing {
            program: program.to_owned(),
            advice: format!("{found}; install {}", advice.replace("{}", &wanted)),
        };
        let asked = supervisor_handle::command(self.supervisor, None, [program, "--version"]);
        let output = match run(asked, VERSION_WAIT).await {
            Ok(output) if output.status.success() => output,
            Ok(output) => return Err(missing(format!("`{program} --version` failed ({})", output.status))),
            Err(error) => return Err(missing(format!("`{program} --version` could not be run ({error})"))),
        };
        let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        match version(&said) {
            Some(found) if found >= least => Ok(()),
            Some(_) => Err(DriverError::ProgramTooOld {
                program: program.to_owned(),
                found: said,
                needed: wanted.clone(),
                advice: advice.replace("{}", &wanted),
            }),
            None => Err(missing(format!("`{program} --version` printed `{said}`"))),
        }
    }

    /// Fetches the dependencies into the folder with the files that list them, and links the project under
    /// test.
    pub(super) async fn fetch(&self, folder: &Path, project: Option<&Project>) -> Result<(), DriverError> {
        let Manifest { name, sdk, version, pinned, install, .. } = self.manifest;
        let sdk = sdk.as_deref().unwrap_or(name);
        let pinned = pinned.as_deref();
        let full = match (version.as_deref().or(pinned), project.and_then(|project| project.tree.as_ref())) {
            (Some(version), _) => format!("{sdk}@{version}"),
            (None, Some(_)) => format!("{name} and its project"),
            (None, None) => sdk.to_owned(),
        };
        let size = self.manifest.megabytes.map(|size| format!(", about {size} MB")).unwrap_or_default();
        let started = Instant::now();
        match install {
            Install::None => return Ok(()),
            Install::Cargo => {
                let target = folder.join("target");
                return std::fs::create_dir(&target).map_err(|error| super::failed(&target, error));
            }
            Install::Npm => {
                (self.progress)(&format!("installing {full} with npm{size}"));
                self.npm(folder, sdk, pinned).await?;
                if let Some(project) = project {
                    project.link(folder)?;
                }
            }
            Install::Pip => {
                // uv does the same as venv and pip, but faster.
                let asked = supervisor_handle::command(self.supervisor, None, ["uv", "--version"]);
                let has_uv = run(asked, VERSION_WAIT).await.is_ok_and(|output| output.status.success());
                let with = if has_uv { "uv" } else { "pip" };
                (self.progress)(&format!("installing {full} with {with}{size}"));
                let place = PipPlace { folder, project, sdk, pinned };
                if has_uv {
                    self.uv(place).await?;
                } else {
                    self.pip(place).await?;
                }
            }
        }
        (self.progress)(&format!("installed {full} in {} s", started.elapsed().as_secs()));
        Ok(())
    }

    async fn npm(&self, folder: &Path, sdk: &str, pinned: Option<&str>) -> Result<(), DriverError> {
        const FLAGS: [&str; 5] =
            ["--omit=dev", "--no-audit", "--no-fund", "--ignore-scripts", "--no-update-notifier"];
        let pinned = pinned.map(|version| format!("{sdk}@{version}"));
        let has_lock = folder.join("package-lock.json").exists();
        let what = match &pinned {
            Some(package) => vec!["install", "--save-exact", package],
            None => vec![if has_lock { "ci" } else { "install" }],
        };
        let advice = "install it together with Node.js from https://nodejs.org";
        self.succeed(folder, "npm", &[&what[..], &FLAGS].concat(), advice).await
    }

    async fn uv(&self, place: PipPlace<'_>) -> Result<(), DriverError> {
        let advice = "install it from https://docs.astral.sh/uv";
        let venv = ["venv", "--quiet", "--no-project", "--python", PYTHON, ".venv"];
        self.succeed(place.folder, "uv", &venv, advice).await?;
        let python = place.folder.join(".venv/bin/python");
        let install = ["uv", "pip", "install", "--quiet", "--python", &python.to_string_lossy()];
        self.requirements(place, &install, advice).await
    }

    async fn pip(&self, place: PipPlace<'_>) -> Result<(), DriverError> {
        let advice = "install Python 3 with its module venv";
        self.succeed(place.folder, PYTHON, &["-m", "venv", ".venv"], advice).await?;
        let pip = place.folder.join(".venv/bin/pip");
        let install = [&pip.to_string_lossy(), "install", "--quiet", "--disable-pip-version-check"];
        self.requirements(place, &install, advice).await
    }

    /// Installs the packages of `requirements.txt`, then the project under test, and then the version that
    /// the user wants.
    async fn requirements(
        &self,
        place: PipPlace<'_>,
        install: &[&str],
        advice: &str,
    ) -> Result<(), DriverError> {
        let PipPlace { folder, project, sdk, pinned } = place;
        // A path in a line such as `-e ..` is relative to the working directory.
        let from = project.map_or(folder, |project| &project.folder);
        let install = async |args: &[&str]| {
            let args = [&install[1..], args].concat();
            self.succeed(from, install[0], &args, advice).await
        };
        let requirements = folder.join("requirements.txt");
        let tree = project.and_then(|project| project.tree.as_ref());
        if tree.is_none() || requirements.exists() {
            let path = requirements.to_string_lossy();
            let is_lock = std::fs::read_to_string(&requirements).is_ok_and(|text| text.contains("--hash="));
            // A lock file lists every dependency. For a package with an extra, such as
            // `google-auth[requests]`, pip 23 still looks for newer versions, and then rejects them because
            // they have no hash.
            let more: &[&str] = if is_lock { &["--no-deps"] } else { &[] };
            install(&[more, &["-r", &path]].concat()).await?;
        }
        if let Some(tree) = tree {
            install(&["-e", &tree.to_string_lossy()]).await?;
        }
        let Some(version) = pinned else { return Ok(()) };
        let exact = format!("{sdk}=={version}");
        let package = if version == "latest" { sdk } else { &exact };
        let siblings = Siblings::of(&self.manifest.siblings, version).iter().map(String::as_str);
        let siblings: Vec<&str> = siblings.collect();
        let upgrade: &[&str] = if version == "latest" { &["--upgrade"] } else { &[] };
        install(&[upgrade, &[package], &siblings].concat()).await
    }

    /// Builds a Rust adapter in a folder. Cargo decides whether there is anything to do. An adapter that
    /// tests a project is built in place, because its `Cargo.toml` names the project by a relative path.
    pub(super) async fn build(&self, folder: &Path, project: Option<&Project>) -> Result<(), DriverError> {
        let advice = "install Rust from https://rustup.rs";
        (self.progress)(&format!("building {} with cargo", self.manifest.name));
        if let (Some(version), Some(sdk)) = (&self.manifest.pinned, &self.manifest.sdk) {
            let update = ["update", "--package", sdk, "--precise", version];
            self.succeed(folder, "cargo", &update, advice).await?;
        }
        let sheet = project.map_or(folder, |project| &project.folder).join("Cargo.toml");
        let build =
            ["build", "--release", "--quiet", "--locked", "--manifest-path", &sheet.to_string_lossy()];
        self.succeed(folder, "cargo", &build, advice).await
    }

    /// Runs a command in a folder; it has to succeed.
    async fn succeed(
        &self,
        folder: &Path,
        program: &str,
        args: &[&str],
        advice: &str,
    ) -> Result<(), DriverError> {
        let name = Path::new(program).file_name().unwrap_or_default().to_string_lossy().into_owned();
        let what = format!("{name} {}", args.first().copied().unwrap_or_default());
        let mut command = supervisor_handle::command(self.supervisor, None, [&[program], args].concat());
        // The harness's own build may be running this, and its target directory is not the adapter's.
        command.current_dir(folder).env("CARGO_TARGET_DIR", folder.join("target"));
        let output = match run(command, INSTALL_WAIT).await {
            Ok(output) => output,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(DriverError::ProgramMissing { program: name, advice: advice.to_owned() });
            }
            Err(error) => return Err(DriverError::install(what, error)),
        };
        if output.status.success() {
            return Ok(());
        }
        let said = if output.stderr.is_empty() { &output.stdout } else { &output.stderr };
        Err(DriverError::install(
            format!("{what} ({})", output.status),
            failure::decisive(self.manifest, said),
        ))
    }
}

/// The version in the answer to `--version`, such as `v20.20.2` or `Python 3.11.7`.
fn version(said: &str) -> Option<AtLeast> {
    let number = said.rsplit(' ').next()?;
    AtLeast::of(number.strip_prefix('v').unwrap_or(number))
}

/// Runs a supervised command to its end, for at most `wait`. If the future is dropped, every process that it
/// started dies.
pub(super) async fn run(mut command: Command, wait: Duration) -> std::io::Result<Output> {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let started = async {
        let nothing = supervisor_handle::no_input().map_err(NotStarted::Supervisor)?;
        SupervisorHandle::start(command, Some(nothing)).await
    };
    let (supervisor, _handle) = started.await.map_err(|error| match error {
        NotStarted::Program(error) => error,
        NotStarted::Supervisor(_) => std::io::Error::other(error.to_string()),
    })?;
    let output = tokio::time::timeout(wait, supervisor.wait_with_output()).await??;
    Ok(Output { status: program_status(output.status), ..output })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_the_output_of_programs() {
        assert_eq!(version("v20.20.2"), Some(AtLeast(20, 20)));
        assert_eq!(version("Python 3.11.7"), Some(AtLeast(3, 11)));
        assert_eq!(version("v"), None);
    }
}
