//! Installs an adapter into the cache folder on first use, and finds it there afterwards.
//!
//! The folder's name carries a hash of the adapter's files, so a folder that is there is the right one, and complete:
//! it is filled beside its place and renamed into it.

use std::fs::{File, TryLockError};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use tokio::process::Command;

use super::error::DriverError;
use super::leash::{self, Leash, NotStarted, program_status};
use super::manifest::{AtLeast, Manifest};
use super::process::{Launch, Limits, end_of};

/// How a system is started, after its adapter has been installed into the cache where it was not yet.
pub async fn launch(
    manifest: &Manifest,
    cache: &Path,
    guardian: &Path,
    progress: &(dyn Fn(&str) + Sync),
) -> Result<Launch, DriverError> {
    check_node(manifest.requires.node, guardian).await?;
    let folder = install(manifest, cache, guardian, progress).await?;
    let (program, args) = manifest.command.split_first().ok_or_else(|| DriverError::Install {
        what: format!("system {}", manifest.name),
        text: "its manifest gives no command".to_owned(),
    })?;
    Ok(Launch {
        program: program.clone(),
        args: args.to_vec(),
        folder,
        guardian: guardian.to_owned(),
        scratch: None,
        limits: Limits::STANDARD,
    })
}

/// The cache folder: `$BRICKBAT_CACHE`, else `$XDG_CACHE_HOME/brickbat`, else `~/.cache/brickbat`.
pub fn cache_folder() -> Result<PathBuf, DriverError> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = set("BRICKBAT_CACHE")
        .or_else(|| set("XDG_CACHE_HOME").map(|folder| folder.join("brickbat")))
        .or_else(|| set("HOME").map(|home| home.join(".cache/brickbat")));
    folder.ok_or_else(|| DriverError::Missing {
        program: "a cache folder".to_owned(),
        advice: "set BRICKBAT_CACHE to a folder in which adapters may be installed".to_owned(),
    })
}

/// How long `node --version` may take: it prints a constant.
const VERSION_WAIT: Duration = Duration::from_secs(20);

async fn check_node(least: AtLeast, guardian: &Path) -> Result<(), DriverError> {
    let missing = |found: String| DriverError::Missing {
        program: "node".to_owned(),
        advice: format!("{found}; install Node.js {} or later from https://nodejs.org", least.0),
    };
    let output = match run(leash::command(guardian, None, ["node", "--version"]), VERSION_WAIT).await {
        Ok(output) if output.status.success() => output,
        Ok(output) => return Err(missing(format!("`node --version` failed ({})", output.status))),
        Err(error) => return Err(missing(format!("`node --version` could not be run ({error})"))),
    };
    let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    match major(&version) {
        Some(major) if major >= least.0 => Ok(()),
        _ => Err(missing(format!("found version {version}"))),
    }
}

/// The major version in the answer to `node --version`, such as `v20.20.2`.
fn major(version: &str) -> Option<u32> {
    version.strip_prefix('v')?.split('.').next()?.parse().ok()
}

async fn install(
    manifest: &Manifest,
    cache: &Path,
    guardian: &Path,
    progress: &(dyn Fn(&str) + Sync),
) -> Result<PathBuf, DriverError> {
    let systems = cache.join("systems");
    let name = format!("{}-{:016x}", manifest.name, fingerprint(manifest));
    let place = systems.join(&name);
    if place.is_dir() {
        return Ok(place);
    }
    std::fs::create_dir_all(&systems).map_err(|error| failed(&systems, &error))?;
    // Held until the end of this function, so that two harnesses do not install the same adapter at once.
    let _lock = lock(&systems.join(format!("{name}.lock")), progress).await?;
    if place.is_dir() {
        return Ok(place);
    }
    let filled = tempfile::Builder::new()
        .prefix(&format!("{name}.part-"))
        .tempdir_in(&systems)
        .map_err(|error| failed(&systems, &error))?;
    for (file, text) in manifest.files {
        let path = filled.path().join(file);
        std::fs::write(&path, text).map_err(|error| failed(&path, &error))?;
    }
    if manifest.install.npm {
        progress(&format!("installing {}@{} with npm", manifest.sdk, manifest.version));
        npm_ci(filled.path(), guardian).await?;
    }
    // Up to here a failure removes the folder; from here on it is the cache's.
    let filled = filled.keep();
    std::fs::rename(&filled, &place).map_err(|error| failed(&place, &error))?;
    progress(&format!("installed {}@{}", manifest.sdk, manifest.version));
    Ok(place)
}

/// Names the adapter's files in the cache. It need not withstand anyone: who can write to the cache can write anything.
fn fingerprint(manifest: &Manifest) -> u64 {
    // The same keys for every run, as the standard library promises for `new`; a new algorithm means a new installation.
    let mut hasher = DefaultHasher::new();
    manifest.files.hash(&mut hasher);
    hasher.finish()
}

/// How long `npm ci` may take: 40 MB over a slow line.
const INSTALL_WAIT: Duration = Duration::from_secs(600);

/// How often a lock is looked at that another harness holds.
const LOCK_POLL: Duration = Duration::from_millis(200);

async fn lock(path: &Path, progress: &(dyn Fn(&str) + Sync)) -> Result<File, DriverError> {
    let file = File::create(path).map_err(|error| failed(path, &error))?;
    let deadline = Instant::now() + INSTALL_WAIT;
    let mut told = false;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if Instant::now() < deadline => {}
            Err(error) => return Err(failed(path, &error)),
        }
        if !told {
            progress("waiting for another harness that installs the same adapter");
            told = true;
        }
        tokio::time::sleep(LOCK_POLL).await;
    }
}

async fn npm_ci(folder: &Path, guardian: &Path) -> Result<(), DriverError> {
    const NPM_CI: [&str; 7] =
        ["npm", "ci", "--omit=dev", "--no-audit", "--no-fund", "--ignore-scripts", "--no-update-notifier"];
    let mut command = leash::command(guardian, None, NPM_CI);
    command.current_dir(folder);
    let output = match run(command, INSTALL_WAIT).await {
        Ok(output) => output,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(DriverError::Missing {
                program: "npm".to_owned(),
                advice: "install it together with Node.js from https://nodejs.org".to_owned(),
            });
        }
        Err(error) => {
            return Err(DriverError::Install { what: "npm ci".to_owned(), text: error.to_string() });
        }
    };
    if output.status.success() {
        return Ok(());
    }
    let said = if output.stderr.is_empty() { &output.stdout } else { &output.stderr };
    Err(DriverError::Install { what: format!("npm ci ({})", output.status), text: end_of(said) })
}

/// Runs a guarded command to its end, within that time. If the wait is given up, all that it started dies.
async fn run(mut command: Command, wait: Duration) -> std::io::Result<Output> {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let started = async {
        let null = File::open("/dev/null").map_err(NotStarted::Guardian)?;
        Leash::put_on(command, Some(null.into())).await
    };
    let (guardian, _leash) = started.await.map_err(|error| match error {
        NotStarted::Program(error) => error,
        NotStarted::Guardian(_) => std::io::Error::other(error.to_string()),
    })?;
    let output = tokio::time::timeout(wait, guardian.wait_with_output()).await??;
    Ok(Output { status: program_status(output.status), ..output })
}

fn failed(path: &Path, error: &dyn std::error::Error) -> DriverError {
    DriverError::Install { what: path.display().to_string(), text: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_major_version_of_node_is_read() {
        assert_eq!(major("v20.20.2"), Some(20));
        assert_eq!(major("20.20.2"), None);
        assert_eq!(major("v"), None);
    }
}
