//! The gates of the server, at which tools and the writes of stores wait.

use super::*;

#[test]
fn gate_waits_until_settled() {
    let mut bench = Bench::new(ServerLimits::STANDARD);
    let url = bench.mount.gate_url("look-up");
    let mut client = Client::connect(&url);
    let text = || "so \"it\" is".to_owned();
    let outcomes = [
        (ToolOutcome::Return(text()), "return"),
        (ToolOutcome::Error(text()), "error"),
        (ToolOutcome::Throw(text()), "throw"),
        (ToolOutcome::Deny(text()), "deny"),
    ];
    for round in 0..N_ROUNDS {
        let (outcome, kind) = &outcomes[round % outcomes.len()];
        let sent = format!("{{ \"ref\":\"{round}\" }}");
        client.send(&url, sent.as_bytes());
        let ServerEvent::GateOpened { gate, tool, args } = bench.next() else { panic!("no gate") };
        assert_eq!((gate.0 as usize, tool.as_str(), args), (round, "look-up", sent));
        bench.mount.settle(gate, outcome);
        let (status, headers) = client.head().unwrap();
        let (body, end) = client.body(&headers);
        let expected = format!(r#"{{"kind":"{kind}","text":"so \"it\" is"}}"#);
        assert_eq!((status, body, end), (200, vec![expected], End::Whole));
        assert_eq!(bench.next(), ServerEvent::GateSettled { gate, grade: Confidence::Read });
    }
}

#[test]
fn write_of_a_store_waits_like_a_tool_and_is_numbered_with_it() {
    let mut bench = Bench::new(ServerLimits::STANDARD);
    let (tool, store) = (bench.mount.gate_url("look-up"), bench.mount.saving_url());
    let mut client = Client::connect(&store);
    for round in 0..N_ROUNDS {
        let sent = r#"{"entries":1,"side":"before"}"#;
        client.send(&store, sent.as_bytes());
        let ServerEvent::SaveHeld { gate, write } = bench.next() else { panic!("no write") };
        assert_eq!((gate.0 as usize, write.as_str()), (2 * round, sent));
        let mut other = Client::connect(&tool);
        other.send(&tool, b"{}");
        let ServerEvent::GateOpened { gate: of_tool, .. } = bench.next() else { panic!("no gate") };
        assert_eq!(of_tool.0, gate.0 + 1);
        bench.mount.settle(gate, &ToolOutcome::Return(String::new()));
        assert_eq!(client.head().unwrap().0, 200);
        assert_eq!(bench.next(), ServerEvent::GateSettled { gate, grade: Confidence::Read });
        drop(other);
        assert_eq!(bench.next(), ServerEvent::GateDropped { gate: of_tool });
        client = Client::connect(&store);
    }
}

#[test]
fn a_gate_is_dropped_when_its_peer_leaves() {
    let mut bench = Bench::new(ServerLimits::STANDARD);
    let url = bench.mount.gate_url("look-up");
    for _ in 0..N_ROUNDS {
        let mut client = Client::connect(&url);
        client.send(&url, b"{}");
        let ServerEvent::GateOpened { gate, .. } = bench.next() else { panic!("no gate") };
        drop(client);
        assert_eq!(bench.next(), ServerEvent::GateDropped { gate });
        bench.mount.settle(gate, &ToolOutcome::Return("too late".to_owned()));
    }
}

#[test]
fn gate_answer_counts_as_read_when_the_peer_closes_right_after() {
    let mut bench = Bench::new(ServerLimits::STANDARD);
    let url = bench.mount.gate_url("look-up");
    for _ in 0..N_ROUNDS {
        let asked = url.clone();
        let client = thread::spawn(move || Client::connect(&asked).ask(&asked, b"{}"));
        let ServerEvent::GateOpened { gate, .. } = bench.next() else { panic!("no gate") };
        bench.mount.settle(gate, &ToolOutcome::Return("found".to_owned()));
        client.join().unwrap();
        assert_eq!(bench.next(), ServerEvent::GateSettled { gate, grade: Confidence::Read });
    }
}
