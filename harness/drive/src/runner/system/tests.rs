//! Tests of our own agents on a machine that does not show socket queues. On such a machine, it is never
//! known whether the peer has read the sent bytes.

use super::*;
use crate::runner::live::SystemSession;
use crate::server::ServerLimits;
use brickbat_engine::checks::judge;
use brickbat_engine::run::Receipt;
use brickbat_scenario::lower;
use brickbat_scenario::plan::PlannedPoint;
use brickbat_scenario::verdict::{Judgement, Verdict};

const SCENARIOS: [(&str, &str); 6] = [
    ("abort/mid-batch", include_str!("../../../../../scenarios/abort/mid-batch.yaml")),
    ("abort/second-batch", include_str!("../../../../../scenarios/abort/second-batch.yaml")),
    ("fault/reset-in-stream", include_str!("../../../../../scenarios/fault/reset-in-stream.yaml")),
    ("kill/mid-batch", include_str!("../../../../../scenarios/kill/mid-batch.yaml")),
    ("subagents/stop", include_str!("../../../../../scenarios/subagents/stop.yaml")),
    // A summary on command is not held, so the end of its reply is the proof.
    (
        "compaction/cut-off-on-command",
        include_str!("../../../../../scenarios/compaction/cut-off-on-command.yaml"),
    ),
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

/// An agent of ours may report how much its sockets have read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reports {
    /// The bytes that it has read.
    Readings,
    Nothing,
}

/// Opens the agent of the runner, which may keep its readings to itself.
struct Reporting<'a>(OwnAgent<'a>, Reports);

impl Opener for Reporting<'_> {
    fn open<'a>(
        &'a self,
        base_path: &'a str,
        settings: &'a Settings,
        remains: Option<&'a Remains>,
    ) -> Opening<'a> {
        Box::pin(async move {
            Ok(match (self.0.open(base_path, settings, remains).await?, self.1) {
                (SystemSession::InProcess(session), Reports::Nothing) => {
                    SystemSession::InProcess(session.without_readings())
                }
                (session, _) => session,
            })
        })
    }
}

/// The results of all plans on an agent at a server.
async fn judged(
    server: &Server,
    canary: Option<Canary>,
    reports: Reports,
) -> Vec<(PlanId, Vec<Receipt>, Judgement)> {
    let plans = SCENARIOS.iter().flat_map(|(id, text)| lower::plans(id, id, text, &DIALECTS, 0).unwrap());
    let mut judged = Vec::new();
    for plan in plans.map(Arc::new) {
        let profile = Profile::newest(plan.dialect);
        let provider = Provider::new(Arc::clone(&plan), profile);
        let own = OwnAgent { plan: &plan, canary, delivery: Delivery::Streamed, server };
        let opener = Reporting(own, reports);
        let run = live::drive(server, &plan, provider, None, Pace::OWN, None, &opener).await.run.unwrap();
        let judgement = judge(&plan, &run, profile, Confidence::Observed, None);
        judged.push((plan.id.clone(), run.receipts, judgement));
    }
    judged
}

/// Our correct agent, and two with a planted bug.
fn agents() -> [Option<Canary>; 3] {
    [None, Canary::from_name("dangling-on-abort"), Canary::from_name("results-lost")]
}

#[tokio::test]
async fn without_queues_every_receipt_is_only_written_and_no_agent_is_accused() {
    let server = Server::start_unseeing(ServerLimits::STANDARD).await.unwrap();
    for canary in agents() {
        let mut n_unproven = 0;
        for (plan, receipts, judgement) in judged(&server, canary, Reports::Nothing).await {
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
async fn with_queues_or_with_the_readings_of_the_agent_the_same_plans_are_judged() {
    let shown = Server::start(ServerLimits::STANDARD).await.unwrap();
    let hidden = Server::start_unseeing(ServerLimits::STANDARD).await.unwrap();
    for canary in agents() {
        let of_kernel = judged(&shown, canary, Reports::Nothing).await;
        let of_agent = judged(&hidden, canary, Reports::Readings).await;
        assert_eq!(of_kernel, of_agent);
        let verdicts = of_agent.iter().map(|(_, _, judgement)| judgement.verdict).collect::<Vec<_>>();
        match canary {
            None => assert!(verdicts.iter().all(|verdict| *verdict == Verdict::Pass), "{of_agent:#?}"),
            Some(canary) => assert!(verdicts.contains(&Verdict::Fail), "{canary:?}: {of_agent:#?}"),
        }
    }
}
