//! Tests of our own agents on a machine that does not show socket queues. On such a machine, it is never
//! known whether the peer has read the sent bytes.

use super::*;
use crate::server::ServerLimits;
use brickbat_engine::checks::judge;
use brickbat_engine::run::Receipt;
use brickbat_scenario::lower;
use brickbat_scenario::plan::PlannedPoint;
use brickbat_scenario::verdict::{Judgement, Verdict};

const SCENARIOS: [(&str, &str); 5] = [
    ("abort/mid-batch", include_str!("../../../../../scenarios/abort/mid-batch.yaml")),
    ("abort/second-batch", include_str!("../../../../../scenarios/abort/second-batch.yaml")),
    ("fault/reset-in-stream", include_str!("../../../../../scenarios/fault/reset-in-stream.yaml")),
    ("kill/mid-batch", include_str!("../../../../../scenarios/kill/mid-batch.yaml")),
    ("subagents/stop", include_str!("../../../../../scenarios/subagents/stop.yaml")),
];

const DIALECTS: [Dialect; 2] = [Dialect::AnthropicMessages, Dialect::OpenaiResponses];

/// True for a point after a frame or a result was sent, if only a queue shows that it was read.
fn is_after_what_was_sent(receipt: &Receipt) -> bool {
    match receipt.at {
        PlannedPoint::Stream { .. } | PlannedPoint::Compaction(..) => receipt.what.http().is_none(),
        PlannedPoint::SettledCount(n_settled) => n_settled > 0,
        PlannedPoint::Settled(..) => true,
        PlannedPoint::Prompt
        | PlannedPoint::Asked(_)
        | PlannedPoint::StartedCount(_)
        | PlannedPoint::Started(_)
        | PlannedPoint::Saved(..)
        | PlannedPoint::Step(_) => false,
    }
}

/// The results of all plans on an agent at a server.
async fn judged(server: Server, canary: Option<Canary>) -> Vec<(PlanId, Vec<Receipt>, Judgement)> {
    let name = "agent".to_owned();
    let running = Running { name, how: How::Live { canary, delivery: Delivery::Streamed, server } };
    let plans = SCENARIOS.iter().flat_map(|(id, text)| lower::plans(id, id, text, &DIALECTS, 0).unwrap());
    let mut judged = Vec::new();
    for plan in plans.map(Arc::new) {
        let profile = Profile::newest(plan.dialect);
        let run = running.drive(&plan, profile, None, Company::Alone, None).await.run.unwrap();
        let judgement = judge(&plan, &run, profile, running.grade(), None);
        judged.push((plan.id.clone(), run.receipts, judgement));
    }
    judged
}

#[tokio::test]
async fn without_queues_every_receipt_is_only_written_and_no_agent_is_accused() {
    for canary in [None, Canary::from_name("dangling-on-abort"), Canary::from_name("results-lost")] {
        let server = Server::start_unseeing(ServerLimits::STANDARD).await.unwrap();
        let mut n_unproven = 0;
        for (plan, receipts, judgement) in judged(server, canary).await {
            let unproven: Vec<&Receipt> = receipts.iter().filter(|it| is_after_what_was_sent(it)).collect();
            for receipt in &unproven {
                assert!(receipt.grade <= Some(Confidence::Written), "{plan}: {receipt:?}");
            }
            if unproven.iter().any(|receipt| receipt.fired) {
                n_unproven += 1;
                assert_eq!(judgement.verdict, Verdict::Vacuous, "{plan}: {judgement:#?}");
                assert!(judgement.findings.is_empty(), "{plan}: {judgement:#?}");
                let reason = judgement.reason.unwrap();
                assert!(reason.contains("nothing shows that the system had read"), "{plan}: {reason}");
            }
        }
        assert!(n_unproven >= 10, "only {n_unproven} plans say anything");
    }
}

#[tokio::test]
async fn with_queues_the_same_plans_are_judged() {
    let server = async || Server::start(ServerLimits::STANDARD).await.unwrap();
    let good = judged(server().await, None).await;
    assert!(good.iter().all(|(_, _, judgement)| judgement.verdict == Verdict::Pass), "{good:#?}");
    let bad = judged(server().await, Canary::from_name("dangling-on-abort")).await;
    assert!(bad.iter().any(|(_, _, judgement)| judgement.verdict == Verdict::Fail));
}
