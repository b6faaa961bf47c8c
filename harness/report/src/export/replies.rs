//! The provider's replies in a test: the recorded ones, and a short text for all later requests.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::Refusal;
use super::story::Story;
use crate::record::{Exchange, Observed, Record, Reply};
use brickbat_engine::provider::{Headers, Provider, Request};
use brickbat_rules::Profile;
use brickbat_scenario::plan::{Plan, PlanId, PlannedTurn};
use brickbat_scenario::trace::Ending;
use brickbat_scenario::wire;

/// The replies as data of a test.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Replies {
    /// One for each request that is answered.
    pub(super) recorded: Vec<Value>,
    /// The reply to any other request.
    pub(super) spare: Value,
}

/// The replies that a story needs.
pub(super) fn of(record: &Record, observed: &Observed, story: &Story) -> Result<Replies, Refusal> {
    let stream_type = wire::of(record.plan.dialect).traits.stream_type;
    if !stream_type.starts_with("text/") {
        return Err(Refusal::Story(format!(
            "a stream of binary frames, as {} sends it",
            record.plan.dialect
        )));
    }
    let found = |id| observed.exchanges.iter().find(|known| known.id == id);
    let answered: Vec<&Exchange> = story.answered.iter().filter_map(|id| found(*id)).collect();
    let reply = |(at, exchange): (usize, &&Exchange)| {
        let hold = story.holds.iter().find(|(number, _)| *number == at + 1);
        as_data(&exchange.reply, hold.map(|(_, frames)| *frames))
    };
    let first = observed
        .exchanges
        .first()
        .ok_or_else(|| Refusal::Story("a conversation without a request".to_owned()))?;
    Ok(Replies {
        recorded: answered.iter().enumerate().map(reply).collect(),
        spare: as_data(&spare(record, first), None),
    })
}

/// The reply to a request that no script covers.
fn spare(record: &Record, first: &Exchange) -> Reply {
    let id = PlanId::new("spare", record.plan.dialect);
    let turns = vec![PlannedTurn::new("", Vec::new())];
    let plan = Plan { turns, ..Plan::new(id, record.plan.seed) };
    let profile = record.case.profile.as_deref().and_then(Profile::named);
    let profile = profile.unwrap_or_else(|| Profile::newest(record.plan.dialect));
    let request =
        Request { method: &first.method, path: &first.path, headers: Headers::NONE, body: &first.body };
    let (_, answer) = Provider::new(Arc::new(plan), profile).answer(request);
    Exchange::new(request, &answer).reply
}

/// Headers that a test does not need, because the stub does its own framing.
const LEFT_OUT: [&str; 3] = ["content-length", "transfer-encoding", "connection"];

fn as_data(reply: &Reply, hold: Option<Option<usize>>) -> Value {
    let headers = reply.headers.iter().filter_map(|line| line.split_once(": "));
    let headers = headers.filter(|(name, _)| !LEFT_OUT.contains(name));
    let headers: Map<String, Value> = headers.map(|(name, value)| (name.to_owned(), value.into())).collect();
    let ending = match reply.ending {
        Ending::Eof => "eof",
        Ending::Reset => "reset",
        Ending::Complete | Ending::EndEarly | Ending::ErrorEvent | Ending::Status => "complete",
    };
    let mut data =
        json!({ "status": reply.status, "headers": headers, "frames": reply.frames, "ending": ending });
    if let (Some(hold), Some(fields)) = (hold, data.as_object_mut()) {
        fields.insert("hold".to_owned(), hold.map_or_else(|| "nothing".into(), Value::from));
    }
    data
}
