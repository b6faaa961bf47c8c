//! Do tools run with the arguments that the model gave?

use super::*;

pub(super) const CHECK: Check = Check {
    id: "arguments-complete",
    summary: "tools run with the arguments that the model gave",
    level: Level::L3,
    invariants: &[5, 26],
    severity: Severity::PartialArguments,
    applies: |evidence| evidence.has_run(),
    find,
};

fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let finding = |name: &str, expected: String, got: &str| Finding {
        message: format!("{name} ran with arguments that the model never gave"),
        expected,
        got: quoted(got),
        ..CHECK.finding("the tool's gate")
    };
    // Not every system holds arguments against their schema. One that runs a tool with the object that the model
    // gave has changed nothing of it.
    let is_given = |args: &str| {
        let slipped = evidence.plan.calls.iter().filter(|call| call.is_malformed(|it| it.args));
        let mut given = slipped.map(|call| call.deltas.concat());
        let object = |text: &str| serde_json::from_str::<Value>(text).ok().filter(Value::is_object);
        given.any(|text| match (object(args), object(&text)) {
            (Some(args), Some(text)) => is_same(&args, &text),
            (None, None) => args.starts_with('{') && args == text,
            _ => false,
        })
    };
    let strangers = evidence.ledger.strangers.iter().filter(|args| !is_given(args));
    let strangers =
        strangers.map(|args| finding("a tool", "the complete arguments of a call".to_owned(), args));
    let changed = evidence.calls().flat_map(|(call, account)| {
        let wrong = account.starts.iter().filter(|args| {
            serde_json::from_str::<Value>(args).ok().is_none_or(|args| !is_same(&args, &call.args))
        });
        wrong.map(|args| finding(&format!("call {}", call.name), format!("`{}`", call.args), args))
    });
    strangers.chain(changed).collect()
}
