use super::*;
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::lower;

const PATIENCE: Patience = Patience { progress: 1, hang: 2, grace: None };

fn plan() -> Arc<Plan> {
    let text = include_str!("../../../../scenarios/abort/mid-batch.yaml");
    let plans = lower::plans("abort/mid-batch", "mid-batch.yaml", text, &[Dialect::OpenaiChat], 0);
    Arc::new(plans.unwrap().remove(1))
}

fn request(number: u32) -> Event {
    Event::requested(ExchangeId(number), RequestKind::Surplus, Vec::new())
}

#[test]
fn endless_requests_are_stopped_and_then_given_up() {
    let mut conductor = Conductor::new(plan(), PATIENCE, None);
    conductor.start();
    let commands: Vec<Command> = (0..1000).flat_map(|number| conductor.observe(&request(number))).collect();
    let first_stop = commands.iter().position(|command| *command == Command::Stop);
    let first_finish = commands.iter().position(|command| *command == Command::Finish);
    assert!(first_stop.is_some() && first_stop < first_finish, "{commands:?}");
}

#[test]
fn a_silent_system_is_stopped_and_then_given_up() {
    let mut conductor = Conductor::new(plan(), PATIENCE, None);
    conductor.start();
    let commands: Vec<Command> = (0..8).flat_map(|_| conductor.observe(&Event::Quiet)).collect();
    let expected = [Command::GiveUp, Command::Stop, Command::GiveUp, Command::Finish];
    assert_eq!(commands[..4], expected);
}

#[test]
fn held_replies_continue_if_the_system_notices_a_stop_only_then() {
    let in_text = include_str!("../../../../scenarios/abort/in-text.yaml");
    for grace in [None, Some(2)] {
        let plans = lower::plans("x", "x.yaml", in_text, &[Dialect::OpenaiChat], 0).unwrap();
        let plan = Arc::new(plans.into_iter().next().unwrap());
        let PlannedPoint::Stream { mark, side, .. } = plan.turns[0].actions[0].at else { panic!() };
        let mut conductor = Conductor::new(plan, Patience { progress: 15, hang: 60, grace }, None);
        conductor.start();
        let exchange = ExchangeId(0);
        let kind = RequestKind::Scripted { turn: 0, reply: 0, attempt: 0 };
        conductor.observe(&Event::requested(exchange, kind, Vec::new()));
        let (at, grade) = (Held { mark, side }, Confidence::Observed);
        assert_eq!(conductor.observe(&Event::Held { exchange, at, grade }), [Command::Stop]);
        assert_eq!(conductor.observe(&Event::Quiet), []);
        let released = [Command::LetGo(LetGo::Replies), Command::Release(exchange)];
        assert_eq!(conductor.observe(&Event::Quiet), if grace.is_some() { &released[..] } else { &[] });
    }
}

/// A tool that starts at the same time as the break would otherwise be taken for one that starts after it.
#[test]
fn a_reply_breaks_after_a_complete_call_only_when_its_tools_have_had_time_to_start() {
    let text = include_str!("../../../../scenarios/fault/end-early.yaml");
    let plans = lower::plans("x", "x.yaml", text, &[Dialect::OpenaiChat], 0).unwrap();
    for (variant, waits) in
        [("p=headers", false), ("p=delta-a-2", false), ("p=end-a", true), ("p=delta-b-2", true)]
    {
        let plan = plans.iter().find(|plan| plan.id.variant == variant).unwrap();
        let PlannedPoint::Stream { mark, side, .. } = plan.turns[0].actions[0].at else { panic!() };
        let held = || {
            let mut conductor = Conductor::new(Arc::new(plan.clone()), PATIENCE, None);
            conductor.start();
            let exchange = ExchangeId(0);
            let kind = RequestKind::Scripted { turn: 0, reply: 0, attempt: 0 };
            conductor.observe(&Event::requested(exchange, kind, Vec::new()));
            let at = Held { mark, side };
            let commands = conductor.observe(&Event::Held { exchange, at, grade: Confidence::Observed });
            (conductor, commands.contains(&Command::Release(exchange)))
        };
        let release = Command::Release(ExchangeId(0));
        let (mut quiet, is_released) = held();
        assert_eq!(is_released, !waits, "{variant}");
        assert!(!waits || quiet.observe(&Event::Quiet).contains(&release), "{variant}");
        let started = Event::ToolStarted { call: Some(CallKey(0)), args: String::new() };
        let (mut eager, _) = held();
        assert!(!waits || eager.observe(&started).contains(&release), "{variant}");
    }
}

#[test]
fn no_turn_is_played_after_one_that_the_harness_stopped() {
    let mut conductor = Conductor::new(plan(), PATIENCE, None);
    conductor.start();
    (0..2).for_each(|_| drop(conductor.observe(&Event::Quiet)));
    let ended = Event::TurnEnded { outcome: brickbat_scenario::trace::TurnOutcome::Cancelled };
    assert_eq!(conductor.observe(&ended), [Command::Finish]);
}

#[test]
fn a_client_that_backs_off_gets_more_time() {
    let patience = Patience { progress: 15, hang: 60, grace: None };
    let mut conductor = Conductor::new(plan(), patience, None);
    conductor.start();
    let gives_up = |conductor: &mut Conductor, n_quiet: u32| {
        (0..n_quiet).any(|_| conductor.observe(&Event::Quiet).contains(&Command::GiveUp))
    };
    // The pauses of a real client, in quarters of a second: it sends seven requests within 90 s.
    for (number, pause) in (0..).zip([4, 8, 10, 23, 37, 96, 182]) {
        assert!(!gives_up(&mut conductor, pause), "pause {number}");
        conductor.observe(&request(number));
    }
    assert!(!gives_up(&mut conductor, 4 * 182 - 1));
    assert!(gives_up(&mut conductor, 1));
}

#[test]
fn the_user_answers_as_planned_and_not_after_a_stop() {
    let text = include_str!("../../../../scenarios/approval/batch.yaml");
    let plans = lower::plans("approval/batch", "batch.yaml", text, &[Dialect::OpenaiChat], 0).unwrap();
    let plan = plans.into_iter().find(|plan| plan.id.variant == "b=pay,c=refund").unwrap();
    let mut conductor = Conductor::new(Arc::new(plan), PATIENCE, None);
    conductor.start();
    let mut ask = |number, call| {
        let question = QuestionId(number);
        let commands = conductor.observe(&Event::Asked { question, id: String::new(), call });
        match commands.as_slice() {
            [.., Command::Answer { question: answered, consent, .. }] if *answered == question => *consent,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(ask(0, Some(CallKey(1))), Consent::Given);
    assert_eq!(ask(1, Some(CallKey(2))), Consent::Refused);
    // Systems also ask about tools of their own, and about tools that need no approval.
    assert_eq!(ask(2, None), Consent::Given);
    assert_eq!(ask(3, Some(CallKey(0))), Consent::Given);
    (0..2).for_each(|_| drop(conductor.observe(&Event::Quiet)));
    let late = Event::Asked { question: QuestionId(4), id: String::new(), call: Some(CallKey(1)) };
    let withheld =
        Command::Answer { question: QuestionId(4), call: Some(CallKey(1)), consent: Consent::Withheld };
    assert_eq!(conductor.observe(&late), [withheld]);
}

#[test]
fn the_stop_waits_for_the_planned_result() {
    let plan = plan();
    let mut conductor = Conductor::new(Arc::clone(&plan), PATIENCE, None);
    ask_for_first_reply(&mut conductor);
    conductor.observe(&Event::Replied { exchange: ExchangeId(0), ending: Ending::Complete });
    let start = |key| Event::ToolStarted { call: Some(CallKey(key)), args: String::new() };
    assert_eq!(conductor.observe(&start(0)), []);
    assert_eq!(conductor.observe(&start(1)), []);
    let second = CallKey(1);
    let outcome = plan.calls[1].outcome.clone();
    assert_eq!(conductor.observe(&start(2)), [Command::Settle { call: second, outcome: outcome.clone() }]);
    let settled = Event::ToolSettled { call: second, outcome, grade: Confidence::Observed };
    assert_eq!(conductor.observe(&settled), [Command::Stop]);
    assert!(conductor.receipts()[0].fired);
}

#[test]
fn a_fault_that_waits_for_tools_does_not_hide_the_action_behind_it() {
    // With the shortest patience, the fault and the result that will not be asked for are both due at the first silence.
    let mut conductor = conductor_of(
        "schema: 1\ncomment: c\ntools: { lookup: { returns: ok } }\nturns:\n  - user: Go.\n    replies:\n      - - call: { as: b, tool: lookup, args: {} }\n    at:\n      - { after: { end: b }, do: end-early }\n      - { after: { end: b }, do: { settle: b } }\n",
    );
    ask_for_first_reply(&mut conductor);
    let PlannedPoint::Stream { mark, side, .. } = conductor.receipts()[0].at else { panic!() };
    let (exchange, at) = (ExchangeId(0), Held { mark, side });
    assert_eq!(conductor.observe(&Event::Held { exchange, at, grade: Confidence::Observed }), []);
    assert_eq!(conductor.observe(&Event::Quiet), [Command::Release(exchange)]);
}

fn conductor_of(text: &str) -> Conductor {
    let plans = lower::plans("x", "x.yaml", text, &[Dialect::OpenaiChat], 0).unwrap();
    Conductor::new(Arc::new(plans.into_iter().next().unwrap()), PATIENCE, None)
}

#[test]
fn a_second_prompt_gets_its_own_turn_unless_it_is_rejected() {
    let text = include_str!("../../../../scenarios/steer/second-prompt.yaml");
    for refused in [true, false] {
        let mut conductor = conductor_of(text);
        ask_for_first_reply(&mut conductor);
        conductor.observe(&Event::Replied { exchange: ExchangeId(0), ending: Ending::Complete });
        let start = |key| Event::ToolStarted { call: Some(CallKey(key)), args: String::new() };
        let commands: Vec<Command> = (0..3).flat_map(|key| conductor.observe(&start(key))).collect();
        let said = |command: &Command| matches!(command, Command::Say { way: Aside::Prompted, .. });
        assert!(commands.iter().any(said), "{commands:?}");
        for key in 0..3 {
            conductor.observe(&Event::ToolCancelled { call: CallKey(key) });
        }
        if refused {
            conductor.observe(&Event::PromptRefused);
        }
        let ended = Event::TurnEnded { outcome: brickbat_scenario::trace::TurnOutcome::Returned };
        let goes_on = |commands: &[Command]| commands.contains(&Command::Prompt { turn: 1 });
        assert_eq!(goes_on(&conductor.observe(&ended)), refused);
        assert_eq!(goes_on(&conductor.observe(&ended)), !refused);
        if refused {
            continue;
        }
        assert!(conductor.receipts()[0].fired);
    }
}

#[test]
fn a_question_left_open_is_answered_when_nothing_else_happens() {
    let mut conductor = conductor_of(include_str!("../../../../scenarios/approval/answered-late.yaml"));
    conductor.start();
    let asked = Event::Asked { question: QuestionId(0), id: String::new(), call: Some(CallKey(1)) };
    assert_eq!(conductor.observe(&asked), []);
    let answer = |consent| Command::Answer { question: QuestionId(0), call: Some(CallKey(1)), consent };
    assert_eq!(conductor.observe(&Event::Quiet), [answer(Consent::Given)]);
}

fn started(key: u32) -> Event {
    Event::ToolStarted { call: Some(CallKey(key)), args: String::new() }
}

fn settled(key: u32) -> Event {
    let outcome = ToolOutcome::Return("ok".to_owned());
    Event::ToolSettled { call: CallKey(key), outcome, grade: Confidence::Observed }
}

/// Sends the request for the first reply of the first turn.
fn ask_for_first_reply(conductor: &mut Conductor) {
    conductor.start();
    let kind = RequestKind::Scripted { turn: 0, reply: 0, attempt: 0 };
    conductor.observe(&Event::requested(ExchangeId(0), kind, Vec::new()));
}

#[test]
fn a_call_settles_only_after_it_has_started_itself() {
    let mut conductor = conductor_of(
        "schema: 1\ncomment: Two calls.\nclass: [generated]\ntools: { lookup: { returns: ok } }\nturns:\n\
         - user: Do step 1.\n  replies:\n  - [{ call: { as: a, tool: lookup, args: {} } }, { call: { as: b, tool: lookup, args: {} } }]\n  \
         at: [{ after: { started: 1 }, do: { settle: a } }]\n",
    );
    ask_for_first_reply(&mut conductor);
    // Nothing settles by itself while the reply continues.
    assert_eq!(conductor.observe(&started(1)), []);
    let commands = conductor.observe(&started(0));
    assert!(matches!(commands[..], [Command::Settle { call: CallKey(0), .. }]), "{commands:?}");
    conductor.observe(&settled(0));
    assert!(conductor.receipts()[0].fired);
}

#[test]
fn the_end_of_a_turn_waits_for_a_result_in_flight() {
    let text = include_str!("../../../../corpora/accusations/interrupt-while-a-result-is-under-way.yaml");
    let mut conductor = conductor_of(text);
    ask_for_first_reply(&mut conductor);
    conductor.observe(&Event::Replied { exchange: ExchangeId(0), ending: Ending::Complete });
    let is_settle = |commands: &[Command], key| matches!(commands, [Command::Settle { call, .. }] if *call == CallKey(key));
    assert_eq!(conductor.observe(&started(0)), []);
    assert!(is_settle(&conductor.observe(&started(1)), 0));
    assert!(is_settle(&conductor.observe(&settled(0)), 1));
    assert_eq!(conductor.observe(&settled(1)), [Command::Interrupt(InterruptCause::IdleTimeout)]);
    assert!(conductor.receipts().iter().all(|receipt| receipt.fired));
}

#[test]
fn a_dead_process_gets_no_stop() {
    let text = include_str!("../../../../corpora/accusations/interrupt-while-a-result-is-under-way.yaml");
    let mut conductor = conductor_of(text);
    ask_for_first_reply(&mut conductor);
    conductor.observe(&Event::Replied { exchange: ExchangeId(0), ending: Ending::Complete });
    [started(0), started(1), settled(0)].iter().for_each(|event| drop(conductor.observe(event)));
    let ended = Event::TurnEnded { outcome: brickbat_scenario::trace::TurnOutcome::Returned };
    conductor.observe(&ended);
    assert_eq!(conductor.observe(&Event::ToolCancelled { call: CallKey(1) }), [Command::Prompt { turn: 1 }]);
    assert!(conductor.receipts().iter().all(|receipt| !receipt.fired));
}

#[test]
fn the_user_says_nothing_to_a_stopped_turn() {
    let text = include_str!("../../../../corpora/accusations/prompt-when-asked-after-a-stop.yaml");
    let mut conductor = conductor_of(text);
    ask_for_first_reply(&mut conductor);
    assert_eq!(conductor.observe(&started(0)), [Command::Stop]);
    let asked = Event::Asked { question: QuestionId(0), id: String::new(), call: Some(CallKey(1)) };
    let says = |command: &Command| matches!(command, Command::Say { .. });
    assert!(!conductor.observe(&asked).iter().any(says));
    assert!(!conductor.receipts()[0].fired);
}

#[test]
fn a_turn_that_was_just_stopped_gets_time_to_end() {
    let text = include_str!("../../../../corpora/accusations/stall-where-a-call-cannot-settle.yaml");
    let mut conductor = conductor_of(text);
    ask_for_first_reply(&mut conductor);
    let PlannedPoint::Stream { mark, side, .. } = conductor.plan.turns[0].actions[0].at else { panic!() };
    let (at, grade) = (Held { mark, side }, Confidence::Observed);
    assert_eq!(conductor.observe(&Event::Held { exchange: ExchangeId(0), at, grade }), []);
    assert_eq!(conductor.observe(&Event::Quiet), [Command::Stop]);
    assert_eq!(conductor.observe(&Event::Quiet), []);
    assert_eq!(conductor.observe(&Event::Quiet), [Command::GiveUp, Command::Finish]);
}

/// A conductor's commands when the system runs call a and asks about call b, in the order of these events.
fn killed_while_asked(events: &[Event]) -> Vec<Vec<Command>> {
    let mut conductor = conductor_of(include_str!("../../../../scenarios/approval/kill-while-asked.yaml"));
    ask_for_first_reply(&mut conductor);
    conductor.observe(&Event::Replied { exchange: ExchangeId(0), ending: Ending::Complete });
    conductor.observe(&Event::ToolStarted { call: Some(CallKey(0)), args: String::new() });
    let commands = events.iter().map(|event| conductor.observe(event)).collect();
    let fired: Vec<bool> = conductor.receipts().iter().map(|receipt| receipt.fired).collect();
    assert_eq!(fired, [true, true]);
    commands
}

#[test]
fn the_process_dies_while_the_question_is_open_in_either_order() {
    let asked = Event::Asked { question: QuestionId(0), id: String::new(), call: Some(CallKey(1)) };
    let outcome = ToolOutcome::Return("found".into());
    let settled = Event::ToolSettled { call: CallKey(0), outcome, grade: Confidence::Observed };
    let first = killed_while_asked(&[asked.clone(), settled.clone()]);
    assert_eq!(first, [vec![], vec![Command::Kill]]);
    // Some systems ask only after the other tools of the batch have ended.
    assert_eq!(killed_while_asked(&[settled, asked]), first);
}

#[test]
fn a_turn_gets_a_result_reserved_for_a_later_turn_if_it_waits_for_it() {
    let text = include_str!("../../../../corpora/accusations/result-kept-for-a-later-turn.yaml");
    let mut conductor = conductor_of(text);
    ask_for_first_reply(&mut conductor);
    conductor.observe(&Event::Replied { exchange: ExchangeId(0), ending: Ending::Complete });
    let kind = RequestKind::Scripted { turn: 0, reply: 1, attempt: 0 };
    conductor.observe(&Event::requested(ExchangeId(1), kind, Vec::new()));
    conductor.observe(&Event::Replied { exchange: ExchangeId(1), ending: Ending::Complete });
    let settles = |commands: &[Command], key| matches!(commands, [Command::Settle { call, .. }] if *call == CallKey(key));
    assert_eq!(conductor.observe(&started(1)), []);
    assert!(settles(&conductor.observe(&started(2)), 2));
    assert_eq!(conductor.observe(&settled(2)), []);
    assert!(settles(&conductor.observe(&Event::Quiet), 1));
    assert_eq!(conductor.observe(&settled(1)), [Command::Stop]);
}

#[test]
fn no_question_is_answered_while_the_end_of_its_turn_waits_for_a_result() {
    let mut conductor = conductor_of(include_str!("../../../../scenarios/approval/kill-when-asked.yaml"));
    ask_for_first_reply(&mut conductor);
    conductor.observe(&Event::Replied { exchange: ExchangeId(0), ending: Ending::Complete });
    assert!(matches!(conductor.observe(&started(0))[..], [Command::Settle { .. }]));
    let asked = Event::Asked { question: QuestionId(0), id: String::new(), call: Some(CallKey(1)) };
    assert_eq!(conductor.observe(&asked), []);
    assert_eq!(conductor.observe(&settled(0)), [Command::Kill]);
}
