//! The output of the provider: each script of the suite once in each dialect, the effect of a fault on one,
//! and the places where a stream is held.
//!
//! The bytes of a reply depend only on its script, so two scenarios with the same replies have one snapshot.
//! Ids and markers, which are generated from the name of the scenario, are the same in all of them.

use std::collections::BTreeSet;
use std::fmt::Write;

use brickbat_engine::provider::{Answer, Frames, Hold, Sent};
use brickbat_scenario::action::Action;
use brickbat_scenario::hash::fnv1a;
use brickbat_scenario::plan::{BoundAction, MARKER, PlannedPoint, PlannedTurn, ServerBlock, Side};
use brickbat_scenario::trace::{ExchangeId, Held};

use super::*;

/// The frames of a reply, in words, each with the marks that it completes.
type Lines = Vec<String>;

#[test]
fn each_script_is_served_as_written() {
    for dialect in Dialect::ALL {
        let mut known: Vec<(String, Lines)> = Vec::new();
        let mut text = String::new();
        for (name, plan) in suite(dialect) {
            for (place, script) in scripts(&plan) {
                let lines = script_lines(&plan, script);
                if known.iter().all(|(_, other)| *other != lines) {
                    let title = format!("{name} {place}");
                    writeln!(text, "{title}\n{}", words(&lines, nearest(&lines, &known))).unwrap();
                    known.push((title, lines));
                }
            }
        }
        text.push_str("\nWhat a fault makes of one:\n");
        let mut seen = BTreeSet::new();
        for (name, plans) in plans::built_in() {
            let of_dialect = || plans.iter().filter(|plan| plan.dialects() == [dialect]);
            let Some(plan) = of_dialect().nth(of_dialect().count() / 2) else { continue };
            let changed = changed(&canonical(plan), &known);
            if !changed.is_empty() && seen.insert(changed.clone()) {
                write!(text, "{name}#{}\n{changed}", plan.id.variant).unwrap();
            }
        }
        snapshot(dialect.name(), &text);
    }
}

fn snapshot(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../snapshots/wire");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

/// The answer is exactly the script, unless a fault cuts it off or adds to it; and it is sent up to where the
/// plan waits.
#[test]
fn each_answer_is_its_script_and_is_held_where_the_plan_says() {
    let (mut n_answers, mut n_holds) = (0, 0);
    for (name, plan) in Dialect::ALL.into_iter().flat_map(suite) {
        for (kind, answer) in answers(&plan) {
            let RequestKind::Scripted { turn, reply, attempt } = kind else {
                assert!(matches!(kind, RequestKind::Faulted { .. }), "{kind:?} in {name}");
                continue;
            };
            let turn = &plan.turns[turn];
            let script = &turn.replies[reply].attempts[attempt];
            if finds_what_was_called_before(script) {
                // That depends on the calls of the request, and these have none.
                continue;
            }
            let encoded = encoded(&plan, script, answer.exchange);
            let is_held = |what: &BoundAction| !matches!(what, Action::Http(_) | Action::Tokens(_));
            let actions = turn.actions.iter().filter(|action| is_held(&action.what));
            let actions: Vec<_> = actions.collect();
            let mut holds: Vec<Hold> = Vec::new();
            // A full context is reported with other replies, too.
            let mut all_actions = plan.turns.iter().flat_map(|turn| &turn.actions);
            let mut is_changed = all_actions.any(|action| action.what.tokens().is_some());
            for action in &actions {
                match action.at {
                    PlannedPoint::Stream { reply: r, attempt: a, mark, side }
                        if (r, a) == (reply, attempt) =>
                    {
                        let at = Held { mark, side };
                        holds.push(Hold { after: sent_at(&encoded, at), at });
                        is_changed |= action.what.spec().ending.is_some();
                        is_changed |= matches!(action.what, Action::Duplicate | Action::Malformed);
                    }
                    PlannedPoint::SettledCount(_) | PlannedPoint::Settled(..) => {
                        let at = Held { mark: Mark::Headers, side: Side::Before };
                        holds.push(Hold { after: Sent::Nothing, at });
                    }
                    _ => {}
                }
            }
            holds.sort_by_key(|hold| hold.after);
            holds.dedup();
            assert_eq!(answer.holds, holds, "{kind:?} in {name}");
            if !is_changed {
                let [own, script] = [&answer.frames, &encoded.frames].map(|frames| lines_of(frames, &plan));
                assert_eq!(own, script, "{kind:?} in {name}");
                assert_eq!(answer.ending, Ending::Complete, "{kind:?} in {name}");
            }
            n_answers += 1;
            n_holds += holds.len();
        }
    }
    assert!(n_answers > 5000 && n_holds > 1000, "{n_answers} answers, {n_holds} holds");
}

/// True if a reply begins with the results of a search of the reply before.
fn finds_what_was_called_before(script: &Script) -> bool {
    let is_called = |key| script.server_blocks().any(|block| block == ServerBlock::Search(key));
    script.server_blocks().any(|block| matches!(block, ServerBlock::Found(key) if !is_called(key)))
}

/// How much has been sent when a stream is held at a mark.
fn sent_at(encoded: &Encoded, at: Held) -> Sent {
    match (at.mark, at.side) {
        (Mark::Headers, Side::Before) => Sent::Nothing,
        (Mark::Headers, Side::After) => Sent::Frames(0),
        (mark, side) => {
            let frame = encoded.marks.iter().find(|(own, _)| *own == mark).unwrap().1;
            Sent::Frames(frame + usize::from(side == Side::After))
        }
    }
}

/// The order in which the calls of each turn settle, and what happens outside of streams.
#[test]
fn each_scenario_is_lowered_as_written() {
    let told = plans::built_in().into_iter().map(|(name, plans)| {
        let plan = &plans[plans.len() / 2];
        let turns = plan.turns.iter().filter(|turn| !turn.follow_up).map(|turn| turn_words(plan, turn));
        let id = [name.as_str(), &plan.id.variant].join("#");
        format!("{}: {}", id.trim_end_matches('#'), turns.collect::<Vec<_>>().join(" | "))
    });
    snapshot("turns", &told.collect::<Vec<_>>().join("\n"));
}

fn turn_words(plan: &Plan, turn: &PlannedTurn) -> String {
    let outside = turn.actions.iter().filter(|action| !matches!(action.at, PlannedPoint::Stream { .. }));
    let actions: Vec<&str> = outside.map(|action| action.words.as_str()).collect();
    let settle: Vec<String> = turn.settle.iter().map(|key| call_words(plan, *key)).collect();
    [settle.join(" "), actions.join(", ")].join("; ").trim_matches([';', ' ']).to_owned()
}

/// The plans of the suite in one dialect, those without a fault first.
fn suite(dialect: Dialect) -> Vec<(String, Plan)> {
    let all = plans::built_in().into_iter().flat_map(|(_, plans)| plans);
    let of_dialect = all.filter(|plan| plan.dialects() == [dialect]);
    let mut plans: Vec<_> = of_dialect.map(|plan| (plan.id.scenario.clone(), canonical(&plan))).collect();
    plans.sort_by_key(|(name, _)| !name.starts_with("control/"));
    plans
}

/// The plan with ids and markers that are the same in every scenario.
fn canonical(plan: &Plan) -> Plan {
    let mut plan = Plan { seed: 0, id: empty_plan(plan.dialect).id, ..plan.clone() };
    let minted: Vec<(String, String)> = plan
        .calls
        .iter()
        .zip(0..)
        .map(|(call, key)| (call.id.clone(), format!("<id of {}>", call_words(&plan, CallKey(key)))))
        .collect();
    for call in &mut plan.calls {
        let is_own = call.malformation.as_ref().is_none_or(|malformation| malformation.right.id == call.id);
        let is_of_another = minted.iter().filter(|(id, _)| *id == call.id).count() > 1;
        if (is_own || is_of_another) && !call.id.is_empty() {
            call.id = minted.iter().find(|(id, _)| *id == call.id).unwrap().1.clone();
        }
        let (name, minted) = call.marker.rsplit_once('-').unwrap();
        let marker = format!("{name}-{}", "x".repeat(minted.len()));
        // The cuts between the deltas stay where they are.
        let text = call.deltas.concat().replace(&call.marker, &marker);
        let mut rest = text.as_str();
        for delta in &mut call.deltas {
            let (own, after) = rest.split_at(delta.len());
            (*delta, rest) = (own.to_owned(), after);
        }
        call.args = serde_json::from_str(&call.args.to_string().replace(&call.marker, &marker)).unwrap();
        call.marker = marker;
    }
    for search in &mut plan.searches {
        search.id = format!("<id of {}>", search.name);
    }
    plan
}

fn call_words(plan: &Plan, key: CallKey) -> String {
    let call = &plan.calls[key.0 as usize];
    format!("{}{}", call.name, "'".repeat(call.attempt))
}

/// Every attempt of every reply, with its place.
fn scripts(plan: &Plan) -> impl Iterator<Item = (String, &Script)> {
    plan.turns.iter().zip(1..).flat_map(move |(turn, t)| {
        turn.replies.iter().zip(1..).flat_map(move |(reply, r)| {
            let title = move |a| format!("turn {t} reply {r} attempt {a}");
            reply.attempts.iter().zip(1..).map(move |(script, a)| (title(a), script))
        })
    })
}

/// A script in the answer with that number.
fn encoded(plan: &Plan, script: &Script, exchange: ExchangeId) -> Encoded {
    let unique = format!("{:016x}{:08x}", fnv1a(plan.id.to_string().as_bytes()), exchange.0);
    let id = wire::of(plan.dialect).message_id(&unique);
    let envelope = Envelope { id: &id, model: "m", usage: true, tokens: Tokens::of(plan) };
    wire::encode_stream(plan.dialect, plan, script, envelope)
}

/// A script in words, independent of the names of its texts, tools and calls.
fn script_lines(plan: &Plan, script: &Script) -> Lines {
    let (plan, script) = shape(plan, script);
    let encoded = encoded(&plan, &script, ExchangeId(0));
    let marks = |frame: usize| {
        let own = encoded.marks.iter().filter(move |(_, at)| *at == frame);
        own.map(|(mark, _)| mark_words(*mark, &plan)).collect::<Vec<_>>().join(" ")
    };
    let lines = lines_of(&encoded.frames, &plan).into_iter().enumerate();
    lines.map(|(frame, line)| format!("{line}  {}", marks(frame)).trim_end().to_owned()).collect()
}

/// The script with plain texts, the plain tool, and calls that are named in their order.
fn shape(plan: &Plan, script: &Script) -> (Plan, Script) {
    let (mut plan, mut script) = (plan.clone(), script.clone());
    for block in &mut script.blocks {
        match block {
            ScriptBlock::Text(text) if text.len() == 2 => {
                *text = ["Let me loo", "k these up."].map(str::to_owned).to_vec()
            }
            ScriptBlock::Think(text) if text.len() == 2 => {
                *text = ["Which orde", "rs are they?"].map(str::to_owned).to_vec()
            }
            _ => {}
        }
    }
    let keys: Vec<CallKey> = script.calls().collect();
    let ids: Vec<String> = keys.iter().map(|key| plan.calls[key.0 as usize].id.clone()).collect();
    for (key, name) in keys.iter().zip('a'..) {
        let call = &mut plan.calls[key.0 as usize];
        call.name = name.to_string();
        if call.id.starts_with("<id of ") {
            let first = ids.iter().position(|id| *id == call.id).unwrap();
            call.id = format!("<id of {}>", char::from(b'a' + first as u8));
        }
        if !call.is_malformed(|it| it.tool) {
            call.tool = "lookup".to_owned();
        }
        let is_plain = call.args.as_object().is_some_and(|args| args.keys().eq(["key", MARKER]));
        if is_plain && !call.is_malformed(|it| it.args) {
            call.args = json!({ "key": call.name, "ref": format!("{name}-xxxxxx") });
            if call.deltas.len() == 3 {
                call.deltas =
                    [format!("{{\"key\":\"{name}"), "\",\"ref\":\"".to_owned(), format!("{name}-xxxxxx\"}}")]
                        .to_vec();
            }
        }
    }
    (plan, script)
}

/// How many lines two scripts share at the beginning, and at the end.
fn alike(lines: &[String], other: &[String]) -> (usize, usize) {
    let first = lines.iter().zip(other).take_while(|(own, other)| own == other).count();
    let after = lines[first..].iter().rev().zip(other[first..].iter().rev());
    (first, after.take_while(|(own, other)| own == other).count())
}

/// The known script that shares most of the lines.
fn nearest<'a>(lines: &[String], known: &'a [(String, Lines)]) -> Option<&'a (String, Lines)> {
    let n_alike = |(_, other): &&(String, Lines)| {
        let (first, last) = alike(lines, other);
        first + last
    };
    // The first of several, so that a new scenario changes nothing here.
    known.iter().rev().max_by_key(n_alike).filter(|other| n_alike(other) > MIN_ALIKE)
}

/// With fewer shared lines, the lines are repeated.
const MIN_ALIKE: usize = 4;

/// The lines, or their differences from another script.
fn words(lines: &[String], other: Option<&(String, Lines)>) -> String {
    let Some((title, other)) = other else {
        return lines.iter().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n");
    };
    let (first, last) = alike(lines, other);
    let mut words =
        vec![format!("    {first} and {last} of the {} frames of {title}, between them", other.len())];
    words.extend(lines[first..lines.len() - last].iter().map(|line| format!("    {line}")));
    words.join("\n")
}

fn lines_of(frames: &Frames, plan: &Plan) -> Vec<String> {
    (0..frames.len()).map(|frame| payload(frames.slice(frame..frame + 1), plan)).collect()
}

/// Every answer of the provider to a client that keeps sending requests.
fn answers(plan: &Plan) -> Vec<(RequestKind, Answer)> {
    let mut provider = Provider::new(Arc::new(plan.clone()), plan.profile_from(&[]));
    // A request without what the user says now may be one from the past.
    let said: Vec<&str> = plan.turns.iter().map(|turn| turn.user.as_str()).collect();
    let said = Value::from(said.join("\n")).to_string();
    let body = asking(plan).to_string().replace(&Value::from(SAID).to_string(), &said);
    let path = wire::of(plan.dialect).post_path("m", Delivery::Streamed);
    let mut answers = Vec::new();
    for turn in 0..plan.turns.len() {
        provider.begin_turn(turn);
        for _ in 0..MAX_REQUESTS {
            let request =
                Request { method: "POST", path: &path, headers: Headers::NONE, body: body.as_bytes() };
            match provider.answer(request) {
                (RequestKind::Surplus, _) => break,
                answer => answers.push(answer),
            }
        }
    }
    answers
}

/// Requests of one turn, far above what any scenario scripts.
const MAX_REQUESTS: usize = 32;

/// The answers that are more or less than their scripts, identified by the part of the script in them.
fn changed(plan: &Plan, known: &[(String, Lines)]) -> String {
    let mut text = String::new();
    for (kind, answer) in answers(plan) {
        let own = lines_of(&answer.frames, plan);
        let RequestKind::Scripted { turn, reply, attempt } = kind else {
            let line = format!("    {}: {}\n", answer.status, own.concat());
            if !text.ends_with(&line) {
                text.push_str(&line);
            }
            continue;
        };
        let shape = script_lines(plan, &plan.turns[turn].replies[reply].attempts[attempt]);
        let (title, _) = known.iter().find(|(_, other)| *other == shape).unwrap();
        let script = encoded(plan, &plan.turns[turn].replies[reply].attempts[attempt], answer.exchange);
        let script = lines_of(&script.frames, plan);
        if own == script && answer.ending == Ending::Complete {
            continue;
        }
        let changed = words(&own, Some(&(title.clone(), script)));
        writeln!(text, "{changed}").unwrap();
        writeln!(text, "    -- {:?}", answer.ending).unwrap();
    }
    text
}

fn mark_words(mark: Mark, plan: &Plan) -> String {
    let name = |key: CallKey| plan.calls[key.0 as usize].name.as_str();
    match mark {
        Mark::Headers => "[headers]".to_owned(),
        Mark::Think(k) => format!("[think {k}]"),
        Mark::Text(k) => format!("[text {k}]"),
        Mark::Start(key) => format!("[start {}]", name(key)),
        Mark::Delta(key, k) => format!("[delta {} {k}]", name(key)),
        Mark::End(key) => format!("[end {}]", name(key)),
        Mark::Search(key) => format!("[search {}]", plan.searches[key.0 as usize].name),
        Mark::Found(key) => format!("[found {}]", plan.searches[key.0 as usize].name),
        Mark::Calls => "[calls]".to_owned(),
        Mark::Stop => "[stop]".to_owned(),
        Mark::Reply => "[reply]".to_owned(),
    }
}

/// The content of a frame, without what every frame of its dialect repeats.
fn payload(bytes: &[u8], plan: &Plan) -> String {
    let mut events = Vec::new();
    SseReader::default().feed(bytes, |event| events.push(event_words(&event, plan.dialect)));
    let is_binary = plan.dialect == Dialect::BedrockConverse && !bytes.starts_with(b"{");
    match events.is_empty() {
        true if is_binary => binary_words(bytes),
        true => String::from_utf8(bytes.to_vec()).unwrap(),
        false => events.join(" + "),
    }
}

/// The name and the payload of a binary frame.
fn binary_words(frame: &[u8]) -> String {
    let text = wire::frame_text(wire::of(Dialect::BedrockConverse).traits.stream_type, frame);
    let (headers, payload) = text.split_once("\n\n").unwrap();
    let (_, name) = headers.lines().next().unwrap().split_once(": ").unwrap();
    format!("{name} {payload}")
}

fn event_words(event: &SseEvent, dialect: Dialect) -> String {
    match serde_json::from_str::<Value>(event.data) {
        Ok(mut data) if matches!(dialect, Dialect::AnthropicMessages | Dialect::OpenaiResponses) => {
            assert_eq!(data["type"], event.name, "the event's name is its type");
            data.as_object_mut().unwrap().shift_remove("type");
            if data.get("response").is_some() {
                let n_items = data["response"]["output"].as_array().unwrap().len();
                return format!("{} {n_items} items, number {}", event.name, data["sequence_number"]);
            }
            format!("{} {data}", event.name)
        }
        Ok(data) if data["object"] == "chat.completion.chunk" => {
            assert!(event.name.is_empty(), "no event has a name");
            let choice = &data["choices"][0];
            match choice["finish_reason"].as_str() {
                _ if choice.is_null() => format!("usage {}", data["usage"]),
                None => format!("delta {}", choice["delta"]),
                Some(reason) => format!("finish {reason} {}", choice["delta"]),
            }
        }
        Ok(data) if data["candidates"].is_array() => {
            assert!(event.name.is_empty(), "no event has a name");
            let candidate = &data["candidates"][0];
            let finish = candidate["finishReason"].as_str().map(|reason| format!("finish {reason} "));
            format!("{}{}", finish.unwrap_or_default(), candidate["content"]["parts"])
        }
        _ => event.data.to_string(),
    }
}
