//! The arguments of each call in a request are a JSON object, or exactly the model's output in place of one.

use super::*;

pub(super) const CHECK: Check = Check {
    summary: "the arguments of every call in a request are a JSON object, or exactly what the model sent \
              instead",
    invariants: &[5, 6],
    applies: |evidence| evidence.has_calls(),
    find,
    ..Check::new("arguments-whole", Level::L0, Severity::PartialArguments)
};

fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let broken = |request: &RequestView| {
        request.history.items.iter().find_map(|item| match &item.content {
            Content::Call { id, args, .. } if !args.is_object() && !is_given(evidence, args) => {
                let place = request.place(&item.pointer);
                Some((evidence.name_of(request, id), evidence.answered(request, id), args.to_string(), place))
            }
            _ => None,
        })
    };
    let found = evidence.requests.iter().find_map(broken).map(|(name, key, args, place)| Finding {
        message: format!("the arguments of call {name} in the request are not a JSON object"),
        expected: "the arguments that the model gave".to_owned(),
        got: quoted(&args),
        ..CHECK.finding(place).of_calls(key)
    });
    found.into_iter().collect()
}

/// True if the model gave this value. Some dialects represent it as a text.
fn is_given(evidence: &Evidence<'_>, args: &Value) -> bool {
    let is_text = args.as_str().is_some_and(|text| said::is_of_the_model(evidence, text));
    is_text || said::is_of_the_model(evidence, &args.to_string())
}
