//! A turn that failed and that the system drops is not a compaction of the history.

use brickbat_engine::provider::Provider;
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::plan::Plan;
use brickbat_scenario::wire::thread::{Block, Message};

use super::staging::{asked, plan};

/// True if the request with this thread shows that the history was compacted.
fn is_compacted(provider: &mut Provider, plan: &Plan, thread: &[Message]) -> bool {
    asked(provider, plan, thread).1.compacted
}

#[test]
fn a_failed_turn_that_is_dropped_is_not_a_compaction_and_a_shorter_history_is_one() {
    for dialect in Dialect::ALL {
        let plan = plan("transform/overflow#r=1", dialect);
        let user = |turn: usize| Message::User(plan.turns[turn].user.clone());
        let said = || Message::Assistant(vec![Block::Text("Shall I look them up?".to_owned())]);
        // The summary replaces the first turn.
        let summary = || Message::User("They talked about orders.".to_owned());
        for (last, thread, expected) in [
            (2, vec![user(0), said(), user(2)], false),
            (2, vec![summary(), said(), user(2)], true),
            (1, vec![summary(), said(), user(1)], true),
        ] {
            let mut provider = Provider::new(plan.clone(), plan.profile_from(&[]));
            provider.begin_turn(0);
            assert!(!is_compacted(&mut provider, &plan, &[user(0)]));
            provider.begin_turn(1);
            assert!(!is_compacted(&mut provider, &plan, &[user(0), said(), user(1)]));
            provider.begin_turn(last);
            assert_eq!(is_compacted(&mut provider, &plan, &thread), expected, "{}: turn {last}", plan.id);
        }
    }
}
