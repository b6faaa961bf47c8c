//! The actions that can happen at a point in a turn, and the one table that describes them.
//!
//! Lowering, generation, exploration, shrinking, reports and the reference page all read the table. A new
//! action is a variant of [`Action`], its [`ActionSpec`] and its arm in [`Action::spec`]; the engine
//! implements its effect.

use std::fmt::{self, Display};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::scenario::{InterruptCause, Need};
#[cfg(test)]
use brickbat_rules::dialect::Dialect;

mod provider_choice;
mod spec;
mod table;
mod tool_change;
mod write_failure;

pub use crate::point::Refusal;
pub use provider_choice::ProviderChoice;
pub use spec::{ActionSpec, Actor, Effect, Ends, Payload};
pub use tool_change::{DETAIL, ToolChange};
pub use write_failure::WriteFailure;
pub(crate) use write_failure::{schema, written};

/// Something that happens at a point. In a scenario, a call has the author's name, and a rewind names a turn,
/// counted from 1; a plan has resolved both.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "Action", description = "What happens at a point.")]
pub enum Action<Call = String, Since = u32> {
    /// The user stops the turn.
    Abort,
    /// The process of the system is killed (SIGKILL). A new one is started and loads the session for the next turn.
    Kill,
    /// The provider stays silent until the end, and the user stops the turn after a while without data.
    Stall,
    /// The provider is silent until the system has read everything sent so far, then continues.
    Pause,
    /// The connection is reset (RST).
    Reset,
    /// The connection is closed inside the body (FIN).
    Eof,
    /// The body ends correctly in HTTP, without the terminal event of the stream.
    EndEarly,
    /// An error event inside the stream that began with status 200; then the connection closes.
    Error(ErrorKind),
    /// The request is answered with an HTTP error, a number of times, and served normally after that. With `status: 400` and
    /// `overflow: true`, it reports that the request is too long for the model. Belongs to `before: headers` or
    /// `before: { compaction: … }`.
    Http(HttpFault),
    /// This call settles here, earlier or later than it would.
    Settle(Call),
    /// The provider reports this number of tokens for the request of this reply: more than the system allows, so that the
    /// system compacts the history. Belongs to `before: headers`.
    Tokens(u64),
    /// The first event of the reply is sent twice, as by a gateway. Belongs to `after: headers`.
    Duplicate,
    /// The provider sends a truncated frame, then continues the reply.
    Malformed,
    /// The user stops the turn, and immediately stops it again.
    StopAgain,
    /// An exception leaves the system's loop.
    Interrupt(InterruptCause),
    /// The write of the entry to the store fails, together with the other entries of the same write. The word alone is
    /// `fail: once`. Belongs to `before: { saved: … }`.
    Fail(WriteFailure),
    /// The user sends this to the running turn, which then continues.
    Steer(String),
    /// The user sends this as another prompt while the turn runs.
    Prompt(String),
    /// A hook adds this context for the model, after a result.
    Inject(String),
    /// The user leaves the question open until nothing else happens.
    Ignore,
    /// The history is cut to the last N messages, or to a few more or fewer so that calls and their results stay together.
    Trim(u32),
    /// The model answers the request for a summary with this. Belongs to `before: { compaction: … }`.
    Summary(PoorSummary),
    /// A summary replaces the history except for the last N messages, or a few more or fewer.
    Summarise(u32),
    /// The user takes back everything from the message in that turn onwards; turns are counted from 1. Belongs to
    /// `before: prompt`.
    Rewind(Since),
    /// The user asks this outside the conversation; it does not become part of it. Belongs to `before: prompt`.
    Aside(String),
    /// The user switches the model's thinking on or off, from the next turn on. Belongs to `before: prompt`.
    Thinking(bool),
    /// From the next turn on the thread continues with another provider, named by its dialect, or with the `first` one again. Belongs to `before: prompt`.
    Provider(ProviderChoice),
    /// The list of tools changes: from the next request on, the system offers the model one tool less, one more, or one with
    /// another schema.
    Tools(ToolChange),
    /// The system ends the turn on its own: a limit is reached, or a tool ends it. No scenario writes it.
    #[schemars(skip)]
    Finish,
}

crate::named! {
    /// The error that an event inside a stream reports.
    pub enum ErrorKind {
        /// The provider is overloaded.
        Overloaded = "overloaded",
        /// The provider has an internal error.
        Server = "server",
        /// The account has exceeded its rate limit.
        RateLimit = "rate-limit",
    }
}

crate::named! {
    /// A reply to a request for a summary that is not a whole summary.
    pub enum PoorSummary {
        /// A text without characters.
        Empty = "empty",
        /// A text that ends because the reply has reached its maximum length.
        Length = "length",
    }
}

/// An HTTP error instead of a reply.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct HttpFault {
    /// The status, 400 to 599.
    pub status: u16,
    /// True if the provider reports that the request is too long for the model, with its own error message.
    /// This needs status 400, and the provider asks for no pause.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub overflow: bool,
    /// The number of requests that get it before the reply is served, 1 to 20, or 1 to 60 for a request for a summary.
    #[serde(default = "HttpFault::once")]
    pub times: u32,
    /// Milliseconds in the header `retry-after-ms`; 250 by default.
    #[serde(default = "HttpFault::soon")]
    pub retry_after_ms: u32,
}

/// The default pause that a fault asks for, in milliseconds. It is short enough to wait for, and longer than
/// a busy machine takes to deliver a request that does not wait.
pub const SOON_MS: u32 = 250;

/// The number of tokens that fills the context of every system here. Their models have 200,000; this is
/// nearly all of that, as a real provider reports before it begins to refuse.
pub const FULL_CONTEXT: u64 = 190_000;

impl HttpFault {
    fn once() -> u32 {
        1
    }

    fn soon() -> u32 {
        SOON_MS
    }
}

impl<Call, Since> Action<Call, Since> {
    /// The entry of this action in the table.
    pub fn spec(&self) -> &'static ActionSpec {
        match self {
            Action::Abort => &table::ABORT,
            Action::Kill => &table::KILL,
            Action::Stall => &table::STALL,
            Action::Pause => &table::PAUSE,
            Action::Reset => &table::RESET,
            Action::Eof => &table::EOF,
            Action::EndEarly => &table::END_EARLY,
            Action::Error(_) => &table::ERROR,
            Action::Http(_) => &table::HTTP,
            Action::Settle(_) => &table::SETTLE,
            Action::Tokens(_) => &table::TOKENS,
            Action::Duplicate => &table::DUPLICATE,
            Action::Malformed => &table::MALFORMED,
            Action::StopAgain => &table::STOP_AGAIN,
            Action::Interrupt(_) => &table::INTERRUPT,
            Action::Fail(_) => &table::FAIL,
            Action::Steer(_) => &table::STEER,
            Action::Prompt(_) => &table::PROMPT,
            Action::Inject(_) => &table::INJECT,
            Action::Ignore => &table::IGNORE,
            Action::Trim(_) => &table::TRIM,
            Action::Summary(_) => &table::SUMMARY,
            Action::Summarise(_) => &table::SUMMARISE,
            Action::Rewind(_) => &table::REWIND,
            Action::Aside(_) => &table::ASIDE,
            Action::Thinking(_) => &table::THINKING,
            Action::Provider(_) => &table::PROVIDER,
            Action::Tools(_) => &table::TOOLS,
            Action::Finish => &table::FINISH,
        }
    }

    /// The action with its call and its turn resolved.
    pub fn bind<C, S, E>(
        &self,
        call: impl FnOnce(&Call) -> Result<C, E>,
        since: impl FnOnce(&Since) -> Result<S, E>,
    ) -> Result<Action<C, S>, E> {
        Ok(match self {
            Action::Abort => Action::Abort,
            Action::Kill => Action::Kill,
            Action::Stall => Action::Stall,
            Action::Pause => Action::Pause,
            Action::Reset => Action::Reset,
            Action::Eof => Action::Eof,
            Action::EndEarly => Action::EndEarly,
            Action::Error(kind) => Action::Error(*kind),
            Action::Http(fault) => Action::Http(fault.clone()),
            Action::Settle(name) => Action::Settle(call(name)?),
            Action::Tokens(tokens) => Action::Tokens(*tokens),
            Action::Duplicate => Action::Duplicate,
            Action::Malformed => Action::Malformed,
            Action::StopAgain => Action::StopAgain,
            Action::Interrupt(cause) => Action::Interrupt(*cause),
            Action::Fail(how) => Action::Fail(*how),
            Action::Steer(text) => Action::Steer(text.clone()),
            Action::Prompt(text) => Action::Prompt(text.clone()),
            Action::Inject(text) => Action::Inject(text.clone()),
            Action::Ignore => Action::Ignore,
            Action::Trim(keep) => Action::Trim(*keep),
            Action::Summary(poor) => Action::Summary(*poor),
            Action::Summarise(keep) => Action::Summarise(*keep),
            Action::Rewind(turn) => Action::Rewind(since(turn)?),
            Action::Aside(question) => Action::Aside(question.clone()),
            Action::Thinking(on) => Action::Thinking(*on),
            Action::Provider(choice) => Action::Provider(*choice),
            Action::Tools(change) => Action::Tools(change.clone()),
            Action::Finish => Action::Finish,
        })
    }

    /// True if the attempt ends here, so that a client may ask again.
    pub fn ends_attempt(&self) -> bool {
        self.spec().ends == Ends::Attempt
    }

    /// True if it ends the turn in which it happens: the turn is stopped or broken off, or it dies.
    pub fn ends_turn(&self) -> bool {
        matches!(self.spec().ends, Ends::TurnByStop | Ends::Turn)
    }

    /// True if nothing goes wrong: the turn only takes longer, or runs in another order.
    pub fn is_harmless(&self) -> bool {
        self.spec().harmless
    }

    /// True if it changes the history or the list of tools, asks something outside the history, or switches thinking or the
    /// provider.
    pub fn changes_history(&self) -> bool {
        self.spec().actor == Actor::History
    }

    /// True if it ends the process of the system, so that another process has to resume the session.
    pub fn ends_process(&self) -> bool {
        self.spec().actor == Actor::Process && self.spec().needs == Some(Need::Resume)
    }

    /// True if the provider does it with the reply: it refuses, breaks or empties it.
    pub fn is_of_reply(&self) -> bool {
        let spec = self.spec();
        spec.actor == Actor::Provider && (spec.ending.is_some() || matches!(self, Action::Summary(_)))
    }

    /// True if it adds a message to the running turn.
    pub fn adds_message(&self) -> bool {
        self.spec().is_said() && !self.changes_history()
    }

    /// The HTTP error that requests get instead of the reply, if the action is one.
    pub fn http(&self) -> Option<&HttpFault> {
        match self {
            Action::Http(fault) => Some(fault),
            _ => None,
        }
    }

    /// The number of tokens that the provider reports for a request, if the action sets it.
    pub fn tokens(&self) -> Option<u64> {
        match self {
            Action::Tokens(tokens) => Some(*tokens),
            _ => None,
        }
    }

    /// True if the provider reports that the context is full or too long.
    pub fn fills_context(&self) -> bool {
        self.tokens().is_some() || self.http().is_some_and(|fault| fault.overflow)
    }

    /// The tool that it withdraws, offers or changes, if it does.
    pub fn changed_tool(&self) -> Option<&str> {
        match self {
            Action::Tools(change) => Some(change.tool()),
            _ => None,
        }
    }

    /// The text that the action sends, if it has one.
    pub fn text(&self) -> Option<&str> {
        match self {
            Action::Steer(text) | Action::Prompt(text) | Action::Inject(text) | Action::Aside(text) => {
                Some(text)
            }
            _ => None,
        }
    }

    /// Mutable version of [`Action::text`].
    pub fn text_mut(&mut self) -> Option<&mut String> {
        match self {
            Action::Steer(text) | Action::Prompt(text) | Action::Inject(text) | Action::Aside(text) => {
                Some(text)
            }
            _ => None,
        }
    }

    /// The call that it settles, if it settles one.
    pub fn call(&self) -> Option<&Call> {
        match self {
            Action::Settle(call) => Some(call),
            _ => None,
        }
    }

    /// Mutable version of [`Action::call`].
    pub fn call_mut(&mut self) -> Option<&mut Call> {
        match self {
            Action::Settle(call) => Some(call),
            _ => None,
        }
    }
}

/// A short description, such as `settle a` or `http 529 (2 times)`. It leaves out the text of the action.
impl<Call: Display, Since: Display> Display for Action<Call, Since> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.spec().name)?;
        match self {
            Action::Error(kind) => write!(f, " {}", kind.name()),
            Action::Http(fault) if fault.overflow && fault.times > 1 => {
                write!(f, " overflow ({} times)", fault.times)
            }
            Action::Http(fault) if fault.overflow => f.write_str(" overflow"),
            Action::Http(fault) if fault.times > 1 => write!(f, " {} ({} times)", fault.status, fault.times),
            Action::Http(fault) => write!(f, " {}", fault.status),
            Action::Settle(call) => write!(f, " {call}"),
            Action::Interrupt(cause) => write!(f, " {}", cause.name()),
            Action::Fail(how) => write!(f, " {}", how.name()),
            Action::Trim(keep) | Action::Summarise(keep) => write!(f, " {keep}"),
            Action::Tokens(tokens) => write!(f, " {tokens}"),
            Action::Summary(poor) => write!(f, " {}", poor.name()),
            Action::Rewind(since) => write!(f, " {since}"),
            Action::Thinking(on) => f.write_str(if *on { " on" } else { " off" }),
            Action::Provider(choice) => write!(f, " {choice}"),
            Action::Tools(change) => write!(f, " {change}"),
            // A test compares this with the payloads of the table.
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{CallKey, Prompts};

    #[test]
    fn every_action_of_the_format_has_its_line_and_its_key() {
        let schema = serde_json::to_value(schemars::schema_for!(Action)).unwrap();
        let variants = schema["oneOf"].as_array().unwrap().iter().flat_map(|variant| {
            let plain = variant["enum"].as_array().into_iter().flatten().chain(variant.get("const"));
            let keyed = variant["required"].as_array().into_iter().flatten();
            plain.chain(keyed).map(|name| name.as_str().unwrap().to_owned()).collect::<Vec<String>>()
        });
        let mut keys: Vec<String> = variants.collect();
        let mut names: Vec<&str> = ActionSpec::ALL.iter().map(|spec| spec.name).collect();
        keys.sort_unstable();
        names.sort_unstable();
        assert_eq!(keys, names);
    }

    #[test]
    fn an_action_made_from_a_line_has_that_line() {
        for spec in ActionSpec::ALL {
            let made = match &spec.payload {
                Payload::Nothing(make) => make(),
                Payload::Error(make) => make(ErrorKind::Server),
                Payload::Http(make) => {
                    make(HttpFault { status: 500, overflow: false, times: 1, retry_after_ms: 0 })
                }
                Payload::Call(make) => make("a".to_owned()),
                Payload::Cause(make) => make(InterruptCause::Steps),
                Payload::Text { make, plain } => make((*plain).to_owned()),
                Payload::Tokens(make) => make(FULL_CONTEXT),
                Payload::Keep { make, least } => make(*least),
                Payload::Turn(make) => make(1),
                Payload::Switch(make) => make(true),
                Payload::OneOf(all) => all[0].clone(),
                Payload::Provider(make) => make(ProviderChoice::Of(Dialect::OpenaiChat)),
                Payload::Tools(make) => make(ToolChange::Withdraw("lookup".to_owned())),
            };
            assert_eq!(made.spec().name, spec.name);
            let is_told = !matches!(spec.payload, Payload::Nothing(_) | Payload::Text { .. });
            assert_eq!(made.to_string() != spec.name, is_told, "{made}");
            assert!(made.to_string().starts_with(spec.name));
            assert_eq!(made.text().is_some(), matches!(spec.payload, Payload::Text { .. }));
            assert_eq!(made.tokens().is_some(), matches!(spec.payload, Payload::Tokens(_)));
            assert_eq!(made.http().is_some(), matches!(spec.payload, Payload::Http(_)));
            let Ok(bound) = made.bind(|_| Ok::<_, ()>(CallKey(0)), |_| Ok(Prompts(1))) else {
                unreachable!()
            };
            assert_eq!(bound.change().is_some(), bound.changes_history());
            assert_eq!(made.call().is_some(), matches!(spec.payload, Payload::Call(_)));
            assert!(!spec.allowed.is_empty(), "{}", spec.name);
            assert!(spec.weights.iter().all(|(region, _)| spec.allowed.contains(region)), "{}", spec.name);
        }
    }
}
