//! Tools run with the arguments that the model gave.
//!
//! Not every system validates arguments against their schema. A system that runs a tool with malformed arguments,
//! exactly as the model gave them, has not changed them.

use super::*;

pub(super) const CHECK: Check = Check {
    summary: "tools run with the arguments that the model gave",
    invariants: &[5, 26],
    applies: |evidence| evidence.has_run(),
    find,
    ..Check::new("arguments-complete", Level::L3, Severity::PartialArguments)
};

fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let finding = |name: &str, expected: String, got: &str| Finding {
        message: format!("{name} ran with arguments that the model never gave"),
        expected,
        got: quoted(got),
        ..CHECK.finding("the start of the tool")
    };
    let strangers = evidence.ledger.strangers.iter().filter(|args| !said::is_of_the_model(evidence, args));
    let strangers =
        strangers.map(|args| finding("a tool", "the complete arguments of a call".to_owned(), args));
    let changed = (0..).map(CallKey).zip(evidence.calls()).flat_map(|(key, (call, account))| {
        let wrong = account.starts.iter().filter(|args| {
            serde_json::from_str::<Value>(args).ok().is_none_or(|args| !is_same(&args, &call.args))
        });
        wrong.map(move |args| {
            let finding = finding(&format!("call {}", call.name), format!("`{}`", call.args), args);
            finding.of_calls([key]).of_turn(call.turn)
        })
    });
    strangers.chain(changed).collect()
}
