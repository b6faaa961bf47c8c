//! The arguments of each call in a request are a JSON object, or exactly the model's output in place of one.

use super::*;

pub(super) const CHECK: Check = Check {
    summary: "the arguments of every call in a request are a JSON object, or exactly what the model sent \
              instead",
    invariants: &[5, 6],
    applies: |evidence| evidence.has_calls(),
    find,
    is_about_arguments: true,
    ..Check::new("arguments-whole", Level::L0, Severity::PartialArgumentsKept)
};

fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let broken = |request: &RequestView| {
        request.history.items.iter().find_map(|item| match &item.content {
            Content::Call { id, args, .. } if !args.is_object() && !is_given(evidence, args) => {
                let place = request.place(&item.pointer);
                Some((evidence.name_of(request, id), evidence.answered(request, id), args.clone(), place))
            }
            _ => None,
        })
    };
    let found = evidence.requests.iter().find_map(broken).map(|(name, key, args, place)| Finding {
        message: match is_beginning(evidence, key, &args) {
            true => {
                format!("the incomplete arguments of call {name} are sent back, as if they were complete")
            }
            false => format!("the arguments of call {name} in the request are not a JSON object"),
        },
        expected: "arguments that are a JSON object".to_owned(),
        got: quoted(args.as_str().unwrap_or(&args.to_string())),
        ..CHECK.finding(place).of_calls(key)
    });
    found.into_iter().collect()
}

/// True if the arguments are the part of a call's arguments that had arrived.
fn is_beginning(evidence: &Evidence<'_>, key: Option<CallKey>, args: &Value) -> bool {
    let begins = |text: &str| key.is_some_and(|key| evidence.call(key).deltas.concat().starts_with(text));
    args.as_str().is_some_and(begins)
}

/// True if the model gave this value. Some dialects represent it as a text.
fn is_given(evidence: &Evidence<'_>, args: &Value) -> bool {
    let is_text = args.as_str().is_some_and(|text| said::is_of_the_model(evidence, text));
    is_text || said::is_of_the_model(evidence, &args.to_string())
}
