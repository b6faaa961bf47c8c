//! The command line of Brickbat.

fn main() {}
