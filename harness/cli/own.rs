//! The options that name a system, and those that bring one's own.

use std::path::PathBuf;

use clap::Args;

use super::embedded::catalogue;
use brickbat_drive::runner::{System, UnknownSystem};

/// Systems that are not built in, and other versions of those that are.
#[derive(Args, Clone)]
pub(super) struct Own {
    /// A manifest of your own; without --system its first version and mode are taken.
    #[arg(long, value_name = "FILE", conflicts_with = "command")]
    pub(super) manifest: Option<PathBuf>,
    /// The command of an adapter of your own, run in the working folder, such as `node adapter.mjs`.
    #[arg(long, value_name = "COMMAND", conflicts_with = "systems")]
    pub(super) command: Option<String>,
    /// The mode of the adapter of --command; the first that it offers by default.
    #[arg(long, value_name = "MODE", requires = "command")]
    pub(super) mode: Option<String>,
    /// Another version of the SDK than the one of the lockfile, such as `6.0.300` or `latest`.
    #[arg(long, value_name = "VERSION", conflicts_with = "command")]
    pub(super) sdk_version: Option<String>,
}

impl Own {
    /// The systems that are meant, given the names of `--system`.
    pub(super) fn systems(&self, names: &[String]) -> Result<Vec<System>, UnknownSystem> {
        let systems: Result<Vec<System>, UnknownSystem> = match (&self.command, &self.manifest, names) {
            (Some(command), _, _) => System::of_command(command, self.mode.as_deref()).map(|one| vec![one]),
            (None, Some(path), []) => System::of_manifest(path, None).map(|one| vec![one]),
            (None, Some(path), names) => {
                names.iter().map(|name| System::of_manifest(path, Some(name))).collect()
            }
            (None, None, []) => System::named("reference", catalogue()).map(|one| vec![one]),
            (None, None, names) => names.iter().map(|name| System::named(name, catalogue())).collect(),
        };
        match &self.sdk_version {
            Some(version) => systems?.into_iter().map(|system| system.with_sdk_version(version)).collect(),
            None => systems,
        }
    }
}
