//! The `brickbat.toml` that names a new manifest, so that no command needs `--manifest`.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::{path_from, resolved};
use crate::cli::config;
use crate::cli::error::CliError;
use brickbat_drive::driver::catalogue::SHEET;

/// The outcome for the configuration.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Configured {
    /// It was written to this file.
    Written(PathBuf),
    /// There is one already. It is the user's, so it gets no key; this line would name the manifest.
    Existing { file: PathBuf, line: String },
}

/// Writes a `brickbat.toml` that names the manifest of the adapter in `folder`.
///
/// It belongs to the working directory, from which the commands are run. If the adapter is elsewhere, it belongs
/// to the adapter's folder.
pub(super) fn configure(folder: &Path) -> Result<Configured, CliError> {
    let here = std::env::current_dir().map_err(CliError::start)?;
    let here = resolved(&here);
    let at = resolved(&here.join(folder));
    let place = if at.starts_with(&here) { here.clone() } else { at.clone() };
    let line = |from: &Path| {
        let manifest = path_from(from, &at.join(SHEET));
        // A string of JSON is one of TOML.
        format!("manifest = {}", serde_json::Value::from(manifest))
    };
    if let Some(file) = config::file_around(&place)? {
        let shown = file.strip_prefix(&here).unwrap_or(&file).to_owned();
        let line = line(file.parent().unwrap_or(&place));
        return Ok(Configured::Existing { file: shown, line });
    }
    let path = place.join(config::FILE);
    let shown = path.strip_prefix(&here).unwrap_or(&path).to_owned();
    let text = format!(
        "# Options for the commands in this folder and below it. An option that is typed takes precedence.\n{}\n",
        line(&place)
    );
    let file = OpenOptions::new().write(true).create_new(true).open(&path);
    file.and_then(|mut file| file.write_all(text.as_bytes()))
        .map_err(|error| CliError::cannot_write(shown.display(), error))?;
    Ok(Configured::Written(shown))
}
