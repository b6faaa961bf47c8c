//! Tools run with the arguments that the model gave.
//!
//! Not every system validates arguments against their schema. A system that runs a tool with malformed arguments,
//! exactly as the model gave them, has not changed them. Two findings differ in severity: arguments with every
//! required field, which any tool takes for the model's, and arguments without one, which a tool with a
//! validated schema rejects.

use super::*;

pub(super) const CHECK: Check = Check {
    summary: "tools run with the arguments that the model gave",
    invariants: &[5, 26],
    applies: |evidence| evidence.has_run(),
    find,
    is_about_arguments: true,
    ..Check::new("arguments-complete", Level::L3, Severity::PartialArguments)
};

fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let strangers = evidence.run.trace.by_turn().filter_map(|(turn, event)| match event {
        Event::ToolStarted { call: None, args } if !said::is_of_the_model(evidence, args) => {
            let is_of_turn = |of: usize, _: &Script| of == turn;
            let found = finding(evidence, cut(evidence, is_of_turn), "a tool", args);
            let expected = "the complete arguments of a call".to_owned();
            Some(Finding { expected, ..found.of_turn(turn) })
        }
        _ => None,
    });
    let changed = (0..).map(CallKey).zip(evidence.calls()).flat_map(|(key, (call, account))| {
        let wrong = account.starts.iter().filter(|args| {
            serde_json::from_str::<Value>(args).ok().is_none_or(|args| !is_same(&args, &call.args))
        });
        wrong.map(move |args| {
            let ending = cut(evidence, |_, script| script.calls().any(|own| own == key));
            let found = finding(evidence, ending, &format!("call {}", call.name), args);
            let (expected, got) = quoted_apart(&call.args.to_string(), args, MAX_QUOTED);
            Finding { expected, got, ..found.of_calls([key]).of_turn(call.turn) }
        })
    });
    strangers.chain(changed).collect()
}

/// A finding about a start with these arguments, after a reply with this ending if it was cut off.
fn finding(evidence: &Evidence<'_>, cut: Option<Ending>, who: &str, args: &str) -> Finding {
    let why = match cut {
        Some(Ending::ErrorEvent) => "the provider's error event is ignored: ",
        Some(_) => "the reply was cut off: ",
        None => "",
    };
    let (severity, how) = match (has_required(evidence, args), cut) {
        (false, _) => (Severity::MissingArguments, "without an argument that is required"),
        (true, Some(_)) => (CHECK.severity, "with arguments made from the part that had arrived"),
        (true, None) => (CHECK.severity, "with arguments that the model never gave"),
    };
    Finding {
        severity,
        message: format!("{why}{who} ran {how}"),
        got: quoted(args),
        ..CHECK.finding("the start of the tool")
    }
}

/// True if the arguments have every field that a tool of the plan requires.
fn has_required(evidence: &Evidence<'_>, args: &str) -> bool {
    let Ok(Value::Object(fields)) = serde_json::from_str(args) else { return false };
    evidence.plan.tools.iter().any(|tool| {
        let schema = tool.input_schema();
        let mut required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
        required.all(|name| fields.contains_key(name))
    })
}

/// The ending of the first reply that was cut off, of those in question, each with its turn.
fn cut(evidence: &Evidence<'_>, is_in_question: impl Fn(usize, &Script) -> bool) -> Option<Ending> {
    evidence.run.trace.events().iter().find_map(|event| {
        let Event::Replied { exchange, ending } = event else { return None };
        let request = evidence.requests.iter().find(|request| request.exchange == *exchange)?;
        let script = evidence.script_of(request)?;
        (*ending != Ending::Complete && is_in_question(request.turn, script)).then_some(*ending)
    })
}
