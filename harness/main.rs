//! The command line of Brickbat.

use std::process::ExitCode;

fn main() -> ExitCode {
    brickbat::cli::main()
}
