//! Runs an exported test as its reader would: installs the packages, then starts the test framework.
//!
//! The packages are installed into the cache folder, like an adapter's, so tests with the same
//! packages share them.

use std::path::Path;
use std::process::Output;
use std::time::Duration;

use super::error::DriverError;
use super::install::{Progress, run_in};
use super::manifest::{FileSource, Install, Manifest};

/// An exported test: its file name, and the command that runs it.
#[derive(Debug, Clone)]
pub struct ExportedTest<'a> {
    /// The folder that it was written to, with the file that names its packages.
    pub folder: &'a Path,
    pub file: &'a str,
    pub install: Install,
    /// The package that it tests, and its version.
    pub sdk: &'a str,
    pub version: &'a str,
    /// The program, relative to the folder of the test, and its arguments.
    pub command: &'a [&'a str],
}

/// The time limit for a test. Tests for the built-in systems take some seconds, or half a minute on a
/// busy machine. A test that hangs is stopped by its framework after a minute, or here.
const TEST_WAIT: Duration = Duration::from_secs(300);

/// Runs a test to its end. A failing test is not an error.
///
/// # Errors
///
/// Its packages cannot be installed, or it cannot be started.
pub async fn run_test(
    test: &ExportedTest<'_>,
    cache: &Path,
    supervisor: &Path,
    progress: Progress<'_>,
) -> Result<Output, DriverError> {
    let install = match test.install {
        Install::Npm => "npm",
        Install::Pip => "pip",
        Install::None | Install::Cargo => "none",
    };
    // JSON is YAML, and it quotes any character that a name may contain.
    let sheet = serde_json::json!({
        "name": "export",
        "sdk": test.sdk,
        "description": "An exported test.",
        "versions": [{ "version": test.version }],
        "dialects": ["anthropic-messages"],
        "modes": [{ "name": "test", "description": "A test." }],
        "install": install,
        // The output is read by a program.
        "env": { "CI": "true", "NO_COLOR": "1" },
        "files": [test.file],
        "command": test.command,
    });
    let place = FileSource::Folder(test.folder.to_owned());
    let read = Manifest::parse("export", &sheet.to_string(), &place)
        .map_err(|error| DriverError::install(test.file, error))?;
    run_in(&read[0], cache, supervisor, progress, TEST_WAIT).await
}
