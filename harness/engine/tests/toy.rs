//! The reference agent on the toy dialect. The dialect was added by following "Adding a dialect" in
//! `ARCHITECTURE.md`.

use std::path::Path;
use std::sync::Arc;

use brickbat_engine::agent::{Agent, Delivery};
use brickbat_engine::checks::judge;
use brickbat_engine::simulate::simulate;
use brickbat_rules::Dialect;
use brickbat_scenario::lower;
use brickbat_scenario::trace::Confidence;
use brickbat_scenario::verdict::Verdict;

#[test]
fn a_seventh_dialect_is_driven_and_judged() {
    for id in ["control/plain-batch", "abort/mid-batch", "fault/tool-error"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../scenarios/{id}.yaml"));
        let text = std::fs::read_to_string(path).unwrap();
        let plans = lower::plans(id, id, &text, &[Dialect::Toy], 7).unwrap();
        for (plan, delivery) in
            plans.iter().flat_map(|plan| [(plan, Delivery::Streamed), (plan, Delivery::Whole)])
        {
            let plan = Arc::new(plan.clone());
            let profile = plan.profile_from(&[]);
            let run = simulate(&plan, profile, Agent::of_plan(&plan, delivery, None), None);
            let judgement = judge(&plan, &run, profile, Confidence::Observed, None);
            assert_eq!(judgement.verdict, Verdict::Pass, "{} {delivery:?}: {judgement:#?}", plan.id);
        }
    }
}
