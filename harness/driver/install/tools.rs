//! The programs that adapters need: whether they are there and new enough, and what npm, pip and cargo do.

use std::path::Path;
use std::process::{Output, Stdio};
use std::time::Duration;

use tokio::process::Command;

use super::super::error::DriverError;
use super::super::manifest::{AtLeast, Install, Manifest, Requires};
use super::super::process::end_of;
use super::{INSTALL_WAIT, Progress};

/// Checks that what a system requires is on the machine.
pub(super) async fn check(requires: Requires) -> Result<(), DriverError> {
    let python = "Python {} or later, with its module venv, from https://www.python.org";
    if let Some(least) = requires.node {
        check_program("node", least, "Node.js {} or later from https://nodejs.org").await?;
    }
    match requires.python {
        Some(least) => check_program(PYTHON, least, python).await,
        None => Ok(()),
    }
}

const PYTHON: &str = "python3";

/// How long `--version` may take: it prints a constant.
const VERSION_WAIT: Duration = Duration::from_secs(20);

async fn check_program(program: &str, least: AtLeast, advice: &str) -> Result<(), DriverError> {
    let AtLeast(major, minor) = least;
    let wanted = if minor == 0 { major.to_string() } else { format!("{major}.{minor}") };
    let missing = |found: String| DriverError::Missing {
        program: program.to_owned(),
        advice: format!("{found}; install {}", advice.replace("{}", &wanted)),
    };
    let output = match run(Command::new(program).arg("--version"), VERSION_WAIT).await {
        Ok(output) if output.status.success() => output,
        Ok(output) => return Err(missing(format!("`{program} --version` failed ({})", output.status))),
        Err(error) => return Err(missing(format!("`{program} --version` could not be run ({error})"))),
    };
    let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    match version(&said) {
        Some(found) if found >= least => Ok(()),
        _ => Err(missing(format!("found version {said}"))),
    }
}

/// The version in the answer to `--version`, such as `v20.20.2` or `Python 3.11.7`.
fn version(said: &str) -> Option<AtLeast> {
    let number = said.rsplit(' ').next()?;
    AtLeast::of(number.strip_prefix('v').unwrap_or(number))
}

/// Fetches the dependencies into a folder that holds the files which name them.
pub(super) async fn fetch(
    manifest: &Manifest,
    folder: &Path,
    progress: Progress<'_>,
) -> Result<(), DriverError> {
    let sdk = manifest.sdk.as_deref().unwrap_or(&manifest.name);
    let version = manifest.version.as_deref().or(manifest.pinned.as_deref()).unwrap_or_default();
    let say = |tool: &str| progress(&format!("installing {sdk}@{version} with {tool}"));
    match manifest.install {
        Install::None => return Ok(()),
        Install::Cargo => {
            let target = folder.join("target");
            return std::fs::create_dir(&target).map_err(|error| super::failed(&target, &error));
        }
        Install::Npm => {
            say("npm");
            npm(folder, sdk, manifest.pinned.as_deref()).await?;
        }
        Install::Pip => {
            say("pip");
            pip(folder, sdk, manifest.pinned.as_deref()).await?;
        }
    }
    progress(&format!("installed {sdk}@{version}"));
    Ok(())
}

async fn npm(folder: &Path, sdk: &str, pinned: Option<&str>) -> Result<(), DriverError> {
    const FLAGS: [&str; 5] =
        ["--omit=dev", "--no-audit", "--no-fund", "--ignore-scripts", "--no-update-notifier"];
    let mut command = Command::new("npm");
    let has_lock = folder.join("package-lock.json").exists();
    match pinned {
        Some(version) => command.args(["install", "--save-exact", &format!("{sdk}@{version}")]),
        None => command.arg(if has_lock { "ci" } else { "install" }),
    };
    succeed(
        command.args(FLAGS).current_dir(folder),
        "install it together with Node.js from https://nodejs.org",
    )
    .await
}

async fn pip(folder: &Path, sdk: &str, pinned: Option<&str>) -> Result<(), DriverError> {
    let advice = "install Python 3 with its module venv";
    succeed(Command::new(PYTHON).args(["-m", "venv", ".venv"]).current_dir(folder), advice).await?;
    let pip = || {
        let mut command = Command::new(folder.join(".venv/bin/pip"));
        command.args(["install", "--quiet", "--disable-pip-version-check"]).current_dir(folder);
        command
    };
    succeed(pip().args(["-r", "requirements.txt"]), advice).await?;
    match pinned {
        Some("latest") => succeed(pip().args(["--upgrade", sdk]), advice).await,
        Some(version) => succeed(pip().arg(format!("{sdk}=={version}")), advice).await,
        None => Ok(()),
    }
}

/// Builds an adapter in Rust. Cargo knows whether there is anything to do.
pub(super) async fn build(
    manifest: &Manifest,
    folder: &Path,
    progress: Progress<'_>,
) -> Result<(), DriverError> {
    let advice = "install Rust from https://rustup.rs";
    progress(&format!("building {} with cargo", manifest.name));
    let cargo = || {
        let mut command = Command::new("cargo");
        // The harness's own build may be the one that runs this; its settings are not the adapter's.
        command.current_dir(folder).env("CARGO_TARGET_DIR", folder.join("target"));
        command
    };
    if let (Some(version), Some(sdk)) = (&manifest.pinned, &manifest.sdk) {
        succeed(cargo().args(["update", "--package", sdk, "--precise", version]), advice).await?;
    }
    succeed(cargo().args(["build", "--release", "--quiet", "--locked"]), advice).await
}

/// Runs a command that has to succeed.
async fn succeed(command: &mut Command, advice: &str) -> Result<(), DriverError> {
    let plain = command.as_std();
    let args = plain.get_args().take(2).map(|arg| arg.to_string_lossy().into_owned());
    let program =
        Path::new(plain.get_program()).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let what = std::iter::once(program.clone()).chain(args).collect::<Vec<_>>().join(" ");
    let output = match run(command, INSTALL_WAIT).await {
        Ok(output) => output,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(DriverError::Missing { program, advice: advice.to_owned() });
        }
        Err(error) => return Err(DriverError::Install { what, text: error.to_string() }),
    };
    if output.status.success() {
        return Ok(());
    }
    let said = if output.stderr.is_empty() { &output.stdout } else { &output.stderr };
    Err(DriverError::Install { what: format!("{what} ({})", output.status), text: end_of(said) })
}

/// Runs a command to its end, within that time.
async fn run(command: &mut Command, wait: Duration) -> std::io::Result<Output> {
    command.stdin(Stdio::null()).kill_on_drop(true);
    tokio::time::timeout(wait, command.output()).await?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_as_programs_say_them() {
        assert_eq!(version("v20.20.2"), Some(AtLeast(20, 20)));
        assert_eq!(version("Python 3.11.7"), Some(AtLeast(3, 11)));
        assert_eq!(version("v"), None);
    }

    #[tokio::test]
    async fn a_program_that_is_too_old_or_missing_is_named_with_advice() {
        let least = AtLeast(9999, 1);
        let error = check_program("cargo", least, "Rust {}").await.unwrap_err().to_string();
        assert!(error.contains("found version") && error.contains("install Rust 9999.1"), "{error}");
        let error = check_program("no-such-program", least, "it").await.unwrap_err().to_string();
        assert!(error.contains("could not be run"), "{error}");
    }
}
