//! `brickbat check`.

use std::io::Read;

use clap::Args;
use serde_json::{Value, json};

use super::run::{dialect, paint, profile};
use super::{BAD_INPUT, bad_input, print};
use crate::dialect::Dialect;
use crate::report::text::Tone;
use crate::rules::{self, Profile, Severity, Violation};

/// Says what a strict provider would say to a request body, or to a bare list of messages.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Check {
    /// A file with a request body or a list of messages as JSON; `-` is standard input.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<String>,
    /// The dialect, where the body does not show it.
    #[arg(long, value_name = "DIALECT", value_parser = dialect)]
    dialect: Option<Dialect>,
    /// How strict the provider is; the newest profile of the dialect by default.
    #[arg(long, value_name = "PROFILE", value_parser = profile, conflicts_with = "dialect")]
    profile: Option<&'static Profile>,
}

const EXAMPLES: &str = "Examples:
  brickbat check request.json
  brickbat check --profile anthropic-messages@2026-05 messages.json
  jq .body recorded.json | brickbat check -

Exit code 1 means that a provider would refuse at least one of them.";

/// Bytes of one file; the largest request that a provider takes is 32 MiB.
const MAX_BYTES: u64 = 64 << 20;

impl Check {
    pub(super) fn execute(&self) -> u8 {
        let codes = self.files.iter().map(|file| self.check(file));
        let codes: Vec<u8> = codes.collect();
        if codes.contains(&BAD_INPUT) { BAD_INPUT } else { codes.into_iter().max().unwrap_or(0) }
    }

    fn check(&self, file: &str) -> u8 {
        let bytes = match read(file) {
            Ok(bytes) => bytes,
            Err(error) => return bad_input(format!("error: cannot read {file}: {error}")),
        };
        let value: Value = match serde_json::from_slice(&bytes) {
            Ok(value) => value,
            Err(error) => return bad_input(format!("error: cannot read {file} as JSON: {error}")),
        };
        let is_list = value.is_array();
        let body = if is_list { json!({ "messages": value }) } else { value };
        let found =
            self.profile.or_else(|| self.dialect.or_else(|| rules::detect(&body)).map(Profile::newest));
        let Some(profile) = found else {
            return bad_input(format!(
                "error: {file} does not show its dialect\nhint: give --dialect {} or --dialect {}",
                Dialect::AnthropicMessages,
                Dialect::OpenaiChat
            ));
        };
        let violations = rules::validate_value(profile, &body);
        for violation in &violations {
            let pointer = match is_list {
                true => violation.pointer.strip_prefix("/messages").unwrap_or(&violation.pointer),
                false => &violation.pointer,
            };
            show(file, pointer, violation);
        }
        match rules::refusal(&violations) {
            Some(refusal) => {
                let word = paint(Tone::Bad, "refused");
                print(&format!("{file}: {word} by {} with status {}\n", profile.name, refusal.status()));
                1
            }
            None => {
                print(&format!("{file}: {} by {}\n", paint(Tone::Good, "accepted"), profile.name));
                0
            }
        }
    }
}

fn show(file: &str, pointer: &str, violation: &Violation) {
    let word = match violation.severity {
        Severity::Error => paint(Tone::Bad, "error"),
        Severity::Warning => paint(Tone::Warn, "warning"),
    };
    print(&format!("{file}: {word} {} at {pointer}\n  {}\n", violation.rule.id, violation.message));
}

fn read(file: &str) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    match file {
        "-" => std::io::stdin().take(MAX_BYTES + 1).read_to_end(&mut bytes)?,
        path => std::fs::File::open(path)?.take(MAX_BYTES + 1).read_to_end(&mut bytes)?,
    };
    if bytes.len() as u64 > MAX_BYTES {
        return Err(std::io::Error::other(format!("it is too large: more than {MAX_BYTES} bytes")));
    }
    Ok(bytes)
}
