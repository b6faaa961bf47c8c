//! Requests in the thread that reach no provider in the plan: they go to the API of another dialect, or to an
//! API with a different base path.
//!
//! No provider rejects anything then. A client with the wrong address gets a server's usual answer to an
//! unknown path, and the run proves nothing about the system.

use super::Request;
use brickbat_rules::dialect::Dialect;
use brickbat_rules::json::Json;
use brickbat_scenario::plan::Plan;
use brickbat_scenario::wire::{self, Delivery};

/// A request in the thread that its provider never received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misaddressed {
    /// The dialect of the API to which the request was sent.
    pub asked: Dialect,
    /// The path, below the base URL.
    pub path: String,
    /// The dialect of the turn.
    pub dialect: Dialect,
}

/// The maximum number of path characters shown. An API path, including a model name, has fewer than a
/// hundred.
const MAX_PATH_CHARS: usize = 200;

impl std::fmt::Display for Misaddressed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Misaddressed { asked, path, dialect } = self;
        if asked == dialect {
            let own = wire::of(*dialect).post_path("MODEL", Delivery::Streamed);
            return write!(
                f,
                "the system sends its {asked} requests to {path}, but this provider takes them at {own}: give the SDK the \
                 base URL that belongs to that path"
            );
        }
        write!(
            f,
            "the system asks {asked} (POST {path}), but the dialect of this session is {dialect}: make the SDK ask {dialect} \
             here, or take {dialect} out of the dialects that the adapter names"
        )
    }
}

/// The misaddressed requests so far.
#[derive(Debug, Default)]
pub(super) struct Addresses {
    /// The first misaddressed request, with its turn, unless the system found its provider later in that
    /// turn.
    lost: Option<(usize, Misaddressed)>,
}

impl Addresses {
    /// Notes a request that this provider does not know, while the turn still has replies to give.
    pub(super) fn unknown(
        &mut self,
        plan: &Plan,
        (turn, dialect): (usize, Dialect),
        request: Request<'_>,
        body: Json,
    ) {
        let Request { method, path, .. } = request;
        // A plan that changes the provider has another one at that address, and the system may still send
        // requests there.
        let is_of_plan = plan.dialects().iter().any(|own| wire::of(*own).route(method, path).is_some());
        if self.lost.is_some() || is_of_plan {
            return;
        }
        let mut known = std::iter::once(dialect).chain(Dialect::ALL);
        let Some(asked) = known.find(|known| wire::of(*known).is_asked_at(method, path)) else { return };
        let is_of_thread = plan.tools.is_empty() || wire::of(asked).offers_tools(body);
        if is_of_thread && !wire::history(asked, body).items.is_empty() {
            let path = path.chars().take(MAX_PATH_CHARS).collect();
            self.lost = Some((turn, Misaddressed { asked, path, dialect }));
        }
    }

    /// Notes that the provider received a request in the thread: a client that tries several addresses has
    /// found the right one.
    pub(super) fn found(&mut self, turn: usize) {
        self.lost = self.lost.take().filter(|(of, _)| *of != turn);
    }

    pub(super) fn lost(&self) -> Option<&Misaddressed> {
        self.lost.as_ref().map(|(_, lost)| lost)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::{Headers, Provider};
    use super::*;
    use brickbat_rules::Profile;
    use brickbat_scenario::lower;
    use brickbat_scenario::wire::thread::Message;
    use brickbat_scenario::wire::{OfferedTool, Searching, Thinking};
    use serde_json::json;

    /// The providers of a scenario's plans, before the first request of the first turn.
    fn providers(scenario: &str, dialect: Dialect) -> impl Iterator<Item = (Arc<Plan>, Provider)> {
        let plans = lower::plans("x", "x.yaml", scenario, &[dialect], 0).unwrap();
        plans.into_iter().map(Arc::new).map(move |plan| {
            let mut provider = Provider::new(Arc::clone(&plan), Profile::newest(dialect));
            provider.begin_turn(0);
            (plan, provider)
        })
    }

    fn provider(scenario: &str, dialect: Dialect) -> (Arc<Plan>, Provider) {
        providers(scenario, dialect).next().unwrap()
    }

    const BATCH: &str = include_str!("../../../../scenarios/control/plain-batch.yaml");
    const SWITCH: &str = include_str!("../../../../scenarios/switch/after-batch.yaml");

    fn post(provider: &mut Provider, path: &str, body: &[u8]) {
        ask(provider, "POST", path, body);
    }

    fn ask(provider: &mut Provider, method: &str, path: &str, body: &[u8]) {
        provider.answer(Request { method, path, headers: Headers::NONE, body });
    }

    /// The first request of a client in this dialect, with the user's first message, and with or without
    /// tools.
    fn first(plan: &Plan, dialect: Dialect, with_tools: bool) -> (String, Vec<u8>) {
        let wire = wire::of(dialect);
        let schema = json!({ "type": "object" });
        let tools = plan.tools.iter().filter(|_| with_tools);
        let tools: Vec<OfferedTool> = tools
            .map(|tool| OfferedTool { name: &tool.name, description: "a tool", input_schema: &schema })
            .collect();
        let declared = wire.declared_tools(&tools, Searching::Unoffered);
        let thread = [Message::User(plan.turns[0].user.clone())];
        let model = wire.current_model();
        let body = wire.request_body(model, Delivery::Streamed, Thinking::Unasked, &declared, &thread);
        (wire.post_path(model, Delivery::Streamed), body)
    }

    fn pairs() -> impl Iterator<Item = (Dialect, Dialect)> {
        let pairs = Dialect::ALL.into_iter().flat_map(|own| Dialect::ALL.map(|other| (own, other)));
        let path = |dialect| wire::of(dialect).post_path("m", Delivery::Streamed);
        pairs.filter(move |(own, other)| path(*own) != path(*other))
    }

    #[test]
    fn a_request_to_the_api_of_another_dialect_names_both_dialects() {
        let mut n_pairs = 0;
        for (own, other) in pairs() {
            let (plan, mut provider) = provider(BATCH, own);
            let (path, body) = first(&plan, other, true);
            post(&mut provider, &path, &body);
            let lost = provider.misaddressed().unwrap_or_else(|| panic!("{own}, {other}"));
            let words = lost.to_string();
            assert!(words.contains(&format!("POST {path}")) && words.contains(own.name()), "{words}");
            // The path is the same for OpenAI's API and for Mistral's, which has the same form.
            assert!(words.contains(other.name()) || other == Dialect::Mistral, "{words}");
            n_pairs += 1;
        }
        assert!(n_pairs >= 28, "{n_pairs}");
    }

    #[test]
    fn a_base_url_that_is_too_short_or_too_long_is_reported() {
        for (own, path, is_lost) in [
            (Dialect::OpenaiChat, "/chat/completions", true),
            (Dialect::OpenaiChat, "/v1/v1/chat/completions", true),
            (Dialect::AnthropicMessages, "/messages", true),
            (Dialect::AnthropicMessages, "/v1/v1/messages", true),
            (Dialect::Gemini, "/models/m:streamGenerateContent", true),
            (Dialect::OpenaiResponses, "/openai/v1/responses", true),
            (Dialect::BedrockConverse, "/v1/model/m/converse-stream", true),
            (Dialect::OpenaiChat, "/v1/chat/completion", false),
            (Dialect::OpenaiChat, "/", false),
        ] {
            let (plan, mut provider) = provider(BATCH, own);
            post(&mut provider, path, &first(&plan, own, true).1);
            let words = provider.misaddressed().map(Misaddressed::to_string);
            assert_eq!(words.is_some(), is_lost, "{path}: {words:?}");
            assert!(words.is_none_or(|words| words.contains(&format!("requests to {path}, but"))), "{path}");
        }
    }

    #[test]
    fn requests_outside_the_thread_are_answered_as_before() {
        for (own, other) in pairs() {
            let (plan, mut provider) = provider(BATCH, own);
            let (path, title) = first(&plan, other, false);
            let (_, body) = first(&plan, other, true);
            post(&mut provider, &path, &title);
            for path in ["/v1/embeddings", "/v1/messages/count_tokens", "/v1/responses/input_tokens"] {
                post(&mut provider, path, &body);
            }
            post(&mut provider, "/v1beta/models/m:countTokens", &body);
            post(&mut provider, "/model/m/count-tokens", &body);
            for path in ["/v1/models", "/v1beta/models", path.as_str()] {
                ask(&mut provider, "GET", path, b"");
            }
            assert_eq!(provider.misaddressed(), None, "{own}, {other}");
        }
    }

    #[test]
    fn a_client_that_finds_its_provider_in_the_same_turn_is_not_misaddressed() {
        for (own, other) in pairs() {
            let (plan, mut provider) = provider(BATCH, own);
            let (path, body) = first(&plan, other, true);
            post(&mut provider, &path, &body);
            let (own_path, own_body) = first(&plan, own, true);
            post(&mut provider, &own_path, &own_body);
            assert_eq!(provider.misaddressed(), None, "{own}, {other}");
        }
    }

    #[test]
    fn the_other_provider_of_a_switching_plan_is_not_a_wrong_address() {
        let mut n_switches = 0;
        for own in Dialect::ALL {
            for (plan, mut provider) in providers(SWITCH, own) {
                for other in plan.dialects().into_iter().filter(|other| *other != own) {
                    let (path, body) = first(&plan, other, true);
                    post(&mut provider, &path, &body);
                    assert_eq!(provider.misaddressed(), None, "{own}, {other}");
                    n_switches += 1;
                }
            }
        }
        assert!(n_switches > 0);
    }
}
