//! Brickbat's command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    brickbat::cli::main()
}
