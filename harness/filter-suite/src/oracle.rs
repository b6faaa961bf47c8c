//! Checks a filter written in Rust, for property tests and fuzz targets.

use brickbat_rules::histories::generate::{Mending, Outline};

use crate::{Asked, Function, Input, Mode, Said, Share, State, judge};

/// Returns the first problem that a filter has with a conversation. `None` if it has none, or if the mode
/// does not apply to the conversation.
pub fn wrong_with(mode: &Mode, filter: impl Fn(&Asked) -> Said + Clone, outline: &Outline) -> Option<String> {
    let state = match outline.fault() {
        None => State::Valid,
        Some(fault) if fault.mending() == Mending::Possible && mode.faults().contains(&fault) => {
            State::Mendable(fault)
        }
        Some(_) => return None,
    };
    let routes = mode.routes();
    let route = routes.iter().find(|route| route.from == outline.dialect())?;
    let body = outline.history().request().body;
    let input = Input { id: "fuzz".to_owned(), dialect: outline.dialect(), body, state, share: Share::Half };
    let judged = judge(&mut Function(filter), route, None, std::slice::from_ref(&input)).ok()?;
    let first = judged.first()?;
    let finding = first.outcome.findings().first()?;
    let output = first.said.as_ref().and_then(Said::body).map(ToString::to_string).unwrap_or_default();
    Some(format!("{}: {}\n  in:  {}\n  out: {output}", finding.check, finding.words, input.body))
}

/// Defines a libFuzzer target for a filter in Rust: a [`Mode`] and a function from [`Asked`] to [`Said`].
///
/// The target's crate depends on `libfuzzer-sys`. The fuzzer's bytes choose a conversation that is valid or
/// has a fault that the mode claims to fix. The target panics with the problem, the input and the output.
///
/// ```text
/// brickbat_filter_suite::fuzz_filter!(mode(), |asked: &Asked| Said::request(my_filter(&asked.request)));
/// ```
#[macro_export]
macro_rules! fuzz_filter {
    ($mode:expr, $filter:expr) => {
        ::libfuzzer_sys::fuzz_target!(|outline: $crate::Outline| {
            if let Some(wrong) = $crate::wrong_with(&$mode, $filter, &outline) {
                panic!("{wrong}");
            }
        });
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planted::named;
    use brickbat_rules::Dialect;
    use brickbat_rules::histories::generate::Seeded;

    #[test]
    fn only_a_faulty_function_is_reported() {
        let mode = (named("identity").unwrap().modes)().remove(0);
        let same = |asked: &Asked| Said::request(asked.request.clone());
        let none = |asked: &Asked| Said::request(serde_json::json!({ "messages": [], "model": asked.model }));
        for seed in 0..20 {
            let outline = Outline::valid(Dialect::AnthropicMessages, &mut Seeded::new(seed));
            assert_eq!(wrong_with(&mode, same, &outline), None);
            let wrong = wrong_with(&mode, none, &outline).unwrap();
            assert!(wrong.starts_with("valid-stays-valid: "), "{wrong}");
        }
    }
}
