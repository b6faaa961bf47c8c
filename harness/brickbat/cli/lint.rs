//! `brickbat lint`.

use std::path::Path;

use clap::Args;
use serde_json::Value;

use super::error::{CliError, Outcome};
use super::output::{print, tell};
use super::regular;
use super::requests::{Inputs, MAX_BYTES};
use brickbat_drive::whole_file;
use brickbat_rules::lint::VectorFile;

/// Check rule vector files, and rewrite them in canonical form.
///
/// Vectors for recorded streams have a separate format and are skipped in directories.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Lint {
    /// A vector file, or a directory of vector files.
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<String>,
    /// Rewrite files that are not in the canonical form.
    #[arg(long)]
    fix: bool,
}

const EXAMPLES: &str = "Examples:
  brickbat lint corpora/histories          lists the files that are not in the canonical form
  brickbat lint --fix corpora/histories    rewrites them

Exit codes: 0 all files are in the canonical form, 1 some are not, 2 a file is not valid.";

impl Lint {
    pub(super) fn execute(&self) -> Outcome {
        let inputs = Inputs::of(&self.paths);
        let mut code = 0;
        for (folder, why) in &inputs.unreadable {
            code = CliError::cannot_read(folder, why.as_str()).report();
        }
        let files = inputs.files.iter().filter(|input| input.is_named || is_vectors(&input.path));
        let (mut n_files, mut n_of_streams) = (0, 0);
        for input in files {
            match read(&input.path) {
                Ok(text) if !input.is_named && is_of_streams(&text) => n_of_streams += 1,
                Ok(text) => {
                    n_files += 1;
                    code = code.max(self.file(&input.path, &text).unwrap_or_else(|error| error.report()));
                }
                Err(error) => code = CliError::cannot_read(&input.path, error).report(),
            }
        }
        if n_of_streams > 0 {
            tell(format!(
                "skipped {n_of_streams} files with vectors for streams: `cargo test --test pure lint::` checks those"
            ));
        }
        match (n_files, code) {
            (0, 0) => {
                Err(CliError::input(format!("no vectors for request bodies in {}", self.paths.join(" "))))
            }
            _ => Ok(code),
        }
    }

    fn file(&self, path: &str, text: &str) -> Outcome {
        let canonical = match VectorFile::read(text) {
            Ok(file) => file.to_text(),
            Err(_) if is_of_streams(text) => {
                return Err(CliError::input(format!(
                    "{path} contains vectors for streams\nhint: `cargo test --test pure lint::` checks those"
                )));
            }
            Err(error) => return Err(CliError::input(format!("{path}: {error}"))),
        };
        if canonical == text {
            return Ok(0);
        }
        let line = text.lines().zip(canonical.lines()).take_while(|(own, other)| own == other).count() + 1;
        if !self.fix {
            print(&format!("{path}:{line}: is not in the canonical form; --fix rewrites it\n"));
            return Ok(1);
        }
        whole_file::write(path.as_ref(), canonical.as_bytes())
            .map_err(|error| CliError::cannot_write(path, error))?;
        print(&format!("{path}: rewritten\n"));
        Ok(0)
    }
}

/// True if a JSON file contains vectors. The same folders contain other JSON files: the schema of the format,
/// the counts from recordings, histories and sessions from the stores of products, results of repaired
/// sessions, findings exported as tests, and bugs of filters.
fn is_vectors(path: &str) -> bool {
    let folders = ["corpora/stored/", "corpora/sessions/", "corpora/exports/", "corpora/filters/"];
    let is_other =
        path.ends_with("corpora/recordings.json") || folders.iter().any(|folder| path.contains(folder));
    path.ends_with(".json") && !path.ends_with(".schema.json") && !is_other
}

/// True if a file's vectors are for streams. Such a vector contains the end of its stream.
fn is_of_streams(text: &str) -> bool {
    let file: Value = serde_json::from_str(text).unwrap_or_default();
    file.pointer("/vectors/0/ended").is_some()
}

fn read(path: &str) -> std::io::Result<String> {
    regular::text(Path::new(path), MAX_BYTES)
}
