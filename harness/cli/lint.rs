//! `brickbat lint`.

use std::path::Path;

use clap::Args;
use serde_json::Value;

use super::requests::{Inputs, MAX_BYTES};
use super::{BAD_INPUT, bad_input, print, tell};
use brickbat_rules::lint::VectorFile;

/// Holds files of rule vectors to their format and to the one form in which they are written.
///
/// Vectors of recorded streams have a format of their own, and are passed over in folders.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Lint {
    /// A file of vectors, or a folder of them.
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<String>,
    /// Write the files anew that are in another form.
    #[arg(long)]
    fix: bool,
}

const EXAMPLES: &str = "Examples:
  brickbat lint corpora/histories          says which files differ, exit code 1 if any does
  brickbat lint --fix corpora/histories    writes them anew

A file that is not of the format is bad input: exit code 2.";

impl Lint {
    pub(super) fn execute(&self) -> u8 {
        let inputs = Inputs::of(&self.paths);
        let mut code = 0;
        for (folder, words) in &inputs.unreadable {
            code = bad_input(format!("error: cannot read {folder}: {words}"));
        }
        let files = inputs.files.iter().filter(|input| input.is_named || is_vectors(&input.path));
        let (mut n_files, mut n_of_streams) = (0, 0);
        for input in files {
            match read(&input.path) {
                Ok(text) if !input.is_named && is_of_streams(&text) => n_of_streams += 1,
                Ok(text) => {
                    n_files += 1;
                    code = code.max(self.file(&input.path, &text));
                }
                Err(error) => code = bad_input(format!("error: cannot read {}: {error}", input.path)),
            }
        }
        if n_of_streams > 0 {
            tell(format!(
                "{n_of_streams} files with vectors of streams passed over: `cargo test --test pure lint::` checks those"
            ));
        }
        match (n_files, code) {
            (0, 0) => bad_input(format!("error: no vectors of request bodies in {}", self.paths.join(" "))),
            _ => code,
        }
    }

    fn file(&self, path: &str, text: &str) -> u8 {
        let canonical = match VectorFile::read(text) {
            Ok(file) => file.to_text(),
            Err(_) if is_of_streams(text) => {
                return bad_input(format!(
                    "error: {path} holds vectors of streams\nhint: `cargo test --test pure lint::` checks those"
                ));
            }
            Err(error) => return bad_input(format!("error: {path}: {error}")),
        };
        if canonical == text {
            return 0;
        }
        let line = text.lines().zip(canonical.lines()).take_while(|(own, other)| own == other).count() + 1;
        if !self.fix {
            print(&format!("{path}:{line}: is in another form; --fix writes it anew\n"));
            return 1;
        }
        match std::fs::write(path, canonical) {
            Ok(()) => {
                print(&format!("{path}: written anew\n"));
                0
            }
            Err(error) => {
                bad_input(format!("error: cannot write {path}: {error}"));
                BAD_INPUT
            }
        }
    }
}

/// The schema of the format lies beside the files of the format.
fn is_vectors(path: &str) -> bool {
    path.ends_with(".json") && !path.ends_with(".schema.json")
}

/// Whether the vectors of a file are those of streams: each says how it ended.
fn is_of_streams(text: &str) -> bool {
    let file: Value = serde_json::from_str(text).unwrap_or_default();
    file.pointer("/vectors/0/ended").is_some()
}

fn read(path: &str) -> std::io::Result<String> {
    let size = std::fs::metadata(Path::new(path))?.len();
    if size > MAX_BYTES {
        return Err(std::io::Error::other(format!("it is too large: more than {MAX_BYTES} bytes")));
    }
    std::fs::read_to_string(path)
}
