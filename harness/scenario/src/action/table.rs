//! The action table, one line each: first the user's actions, then those of the process, the provider, the
//! tools and the history.

use super::spec::{ActionSpec, Actor, Effect, Ends, Payload, Unless};
use super::write_failure::FAILURES;
use super::{Action, PoorSummary};
use crate::point::Refusal;
use crate::point::Region::{
    self, Between, Opened, Over, Question, Result, Store, Stream, Summary, Tools, Unanswered, Unsummarised,
};
use crate::premise::Premise;
use crate::scenario::Need;
use crate::trace::Ending;
use crate::trigger::Trigger;

/// Every action that a scenario can write.
pub(super) const ALL: [&ActionSpec; 28] = [
    &ABORT,
    &STOP_AGAIN,
    &STALL,
    &STEER,
    &PROMPT,
    &IGNORE,
    &KILL,
    &INTERRUPT,
    &FAIL,
    &INJECT,
    &PAUSE,
    &RESET,
    &EOF,
    &END_EARLY,
    &ERROR,
    &HTTP,
    &TOKENS,
    &DUPLICATE,
    &MALFORMED,
    &SETTLE,
    &SUMMARY,
    &TRIM,
    &SUMMARISE,
    &REWIND,
    &ASIDE,
    &THINKING,
    &PROVIDER,
    &TOOLS,
];

const ANYWHERE: &[Region] = &Region::ALL;
/// From the request to the end of the turn.
const IN_TURN: &[Region] =
    &[Unanswered, Opened, Stream, Over, Question, Tools, Result, Unsummarised, Summary];
/// The same without requests for a summary.
const IN_THREAD: &[Region] = &[Unanswered, Opened, Stream, Over, Question, Tools, Result];
/// From the request to the end of its answer.
const IN_REPLY: &[Region] = &[Unanswered, Opened, Stream, Over, Unsummarised, Summary];
const STREAMED: &[Region] = &[Unanswered, Opened, Stream, Over, Question];

const fn refused(regions: &'static [Region], message: &'static str, hint: &'static str) -> Unless {
    Unless { regions, refusal: Refusal { message, hint } }
}

/// Nothing goes wrong: the turn only takes longer, or runs in another order.
const HARMLESS: bool = true;
const HARMFUL: bool = false;

/// The values that most actions share. An action has no default for who is responsible for it.
const fn because(premise: Premise, trigger: Trigger, harmless: bool) -> ActionSpec {
    ActionSpec {
        name: "",
        actor: Actor::User,
        premise,
        trigger,
        ends: Ends::Nothing,
        harmless,
        ending: None,
        needs: None,
        payload: Payload::Nothing(|| Action::Finish),
        effect: None,
        allowed: &[],
        weights: &[],
        unless: &[],
    }
}

pub(super) static ABORT: ActionSpec = ActionSpec {
    name: "abort",
    ends: Ends::TurnByStop,
    needs: Some(Need::Cancel),
    payload: Payload::Nothing(|| Action::Abort),
    effect: Some(Effect::Stop),
    allowed: IN_TURN,
    weights: &[(Unanswered, 2), (Opened, 4), (Stream, 4), (Over, 2), (Question, 3), (Tools, 5), (Result, 5)],
    ..because(Premise::User, Trigger::Stop, HARMFUL)
};

pub(super) static STOP_AGAIN: ActionSpec = ActionSpec {
    name: "stop-again",
    ends: Ends::TurnByStop,
    needs: Some(Need::Cancel),
    payload: Payload::Nothing(|| Action::StopAgain),
    allowed: IN_TURN,
    weights: &[(Over, 2)],
    ..because(Premise::User, Trigger::Stop, HARMFUL)
};

pub(super) static STALL: ActionSpec = ActionSpec {
    name: "stall",
    actor: Actor::Provider,
    ends: Ends::TurnByStop,
    needs: Some(Need::Cancel),
    payload: Payload::Nothing(|| Action::Stall),
    effect: Some(Effect::Stop),
    allowed: IN_REPLY,
    ..because(Premise::Network, Trigger::Stop, HARMFUL)
};

pub(super) static STEER: ActionSpec = ActionSpec {
    name: "steer",
    needs: Some(Need::Steer),
    payload: Payload::Text { make: Action::Steer, plain: "Be brief." },
    allowed: IN_TURN,
    weights: &[(Tools, 2), (Result, 2)],
    ..because(Premise::User, Trigger::Message, HARMFUL)
};

pub(super) static PROMPT: ActionSpec = ActionSpec {
    name: "prompt",
    needs: Some(Need::SecondPrompt),
    payload: Payload::Text { make: Action::Prompt, plain: "And then?" },
    allowed: IN_TURN,
    weights: &[(Over, 0), (Question, 2), (Tools, 2), (Result, 2)],
    ..because(Premise::User, Trigger::Message, HARMFUL)
};

pub(super) static IGNORE: ActionSpec = ActionSpec {
    name: "ignore",
    payload: Payload::Nothing(|| Action::Ignore),
    allowed: &[Question],
    weights: &[(Question, 2)],
    unless: &[refused(ANYWHERE, "no question is open at this point", "use `after: { asked: … }`")],
    ..because(Premise::User, Trigger::Approval, HARMFUL)
};

pub(super) static KILL: ActionSpec = ActionSpec {
    name: "kill",
    actor: Actor::Process,
    ends: Ends::Turn,
    needs: Some(Need::Resume),
    payload: Payload::Nothing(|| Action::Kill),
    effect: Some(Effect::Kill),
    allowed: ANYWHERE,
    weights: &[(Between, 3), (Opened, 2), (Stream, 2), (Question, 2), (Tools, 3), (Result, 3)],
    ..because(Premise::Process, Trigger::Kill, HARMFUL)
};

pub(super) static INTERRUPT: ActionSpec = ActionSpec {
    name: "interrupt",
    actor: Actor::Process,
    ends: Ends::Turn,
    needs: Some(Need::Interrupt),
    payload: Payload::Cause(Action::Interrupt),
    allowed: IN_TURN,
    weights: &[(Tools, 3), (Result, 3)],
    ..because(Premise::Process, Trigger::Exception, HARMFUL)
};

pub(super) static FAIL: ActionSpec = ActionSpec {
    name: "fail",
    actor: Actor::Process,
    needs: Some(Need::FailingWrites),
    payload: Payload::OneOf(&FAILURES),
    allowed: &[Store],
    weights: &[(Store, 3)],
    unless: &[refused(
        ANYWHERE,
        "no entry is about to be written at this point",
        "use `before: { saved: … }`",
    )],
    ..because(Premise::Process, Trigger::Write, HARMFUL)
};

pub(super) static INJECT: ActionSpec = ActionSpec {
    name: "inject",
    actor: Actor::Process,
    needs: Some(Need::Hooks),
    payload: Payload::Text { make: Action::Inject, plain: "A note." },
    allowed: &[Result],
    weights: &[(Result, 2)],
    unless: &[refused(ANYWHERE, "a hook can add context only after a result", "use `after: { settled: … }`")],
    ..because(Premise::Process, Trigger::Message, HARMFUL)
};

pub(super) static PAUSE: ActionSpec = ActionSpec {
    name: "pause",
    actor: Actor::Provider,
    payload: Payload::Nothing(|| Action::Pause),
    effect: Some(Effect::Pause),
    allowed: IN_REPLY,
    ..because(Premise::Network, Trigger::Stream, HARMLESS)
};

pub(super) static RESET: ActionSpec = ActionSpec {
    name: "reset",
    actor: Actor::Provider,
    ends: Ends::Attempt,
    payload: Payload::Nothing(|| Action::Reset),
    effect: Some(Effect::Cut),
    allowed: IN_REPLY,
    weights: &[(Opened, 2), (Stream, 2)],
    ending: Some(Ending::Reset),
    ..because(Premise::Network, Trigger::Stream, HARMFUL)
};

pub(super) static EOF: ActionSpec = ActionSpec {
    name: "eof",
    actor: Actor::Provider,
    ends: Ends::Attempt,
    payload: Payload::Nothing(|| Action::Eof),
    effect: Some(Effect::Cut),
    allowed: IN_REPLY,
    ending: Some(Ending::Eof),
    ..because(Premise::Network, Trigger::Stream, HARMFUL)
};

pub(super) static END_EARLY: ActionSpec = ActionSpec {
    name: "end-early",
    actor: Actor::Provider,
    ends: Ends::Attempt,
    payload: Payload::Nothing(|| Action::EndEarly),
    effect: Some(Effect::Cut),
    allowed: &[Opened, Stream, Summary],
    weights: &[(Opened, 2), (Stream, 2)],
    unless: &[
        refused(&[Unanswered], "no body is open before the headers", "use `eof`, or `after: headers`"),
        refused(&[Over], "the terminal event has been sent, so the reply is complete", "use `before: reply`"),
    ],
    ending: Some(Ending::EndEarly),
    // A client notices a broken connection. A body that ends correctly without its terminal event comes from a gateway or
    // a server that closes it early.
    ..because(Premise::Gateway, Trigger::Stream, HARMFUL)
};

pub(super) static ERROR: ActionSpec = ActionSpec {
    name: "error",
    actor: Actor::Provider,
    ends: Ends::Attempt,
    payload: Payload::Error(Action::Error),
    effect: Some(Effect::Error),
    allowed: &[Opened, Stream, Over, Summary],
    weights: &[(Opened, 2), (Stream, 2)],
    unless: &[refused(
        &[Unanswered],
        "no stream is open before the headers",
        "use `http`, or `after: headers`",
    )],
    ending: Some(Ending::ErrorEvent),
    ..because(Premise::Provider, Trigger::Stream, HARMFUL)
};

pub(super) static HTTP: ActionSpec = ActionSpec {
    name: "http",
    actor: Actor::Provider,
    payload: Payload::Http(Action::Http),
    effect: Some(Effect::Refusal),
    allowed: &[Unanswered, Unsummarised],
    weights: &[(Unanswered, 4), (Unsummarised, 4)],
    unless: &[refused(
        &[Opened, Stream, Over],
        "an HTTP error replaces the entire reply",
        "use `before: headers`",
    )],
    ending: Some(Ending::Status),
    ..because(Premise::Provider, Trigger::Refusal, HARMFUL)
};

pub(super) static TOKENS: ActionSpec = ActionSpec {
    name: "tokens",
    actor: Actor::Provider,
    needs: Some(Need::AutoCompaction),
    payload: Payload::Tokens(Action::Tokens),
    allowed: &[Unanswered],
    unless: &[refused(
        ANYWHERE,
        "the provider counts the tokens of a request when it comes",
        "use `before: headers`",
    )],
    ..because(Premise::Process, Trigger::Transform, HARMLESS)
};

pub(super) static DUPLICATE: ActionSpec = ActionSpec {
    name: "duplicate",
    actor: Actor::Provider,
    payload: Payload::Nothing(|| Action::Duplicate),
    allowed: &[Opened],
    unless: &[refused(
        ANYWHERE,
        "only the first event of a stream is known to be sent twice, by gateways",
        "use `after: headers`",
    )],
    ..because(Premise::Gateway, Trigger::Stream, HARMFUL)
};

pub(super) static MALFORMED: ActionSpec = ActionSpec {
    name: "malformed",
    actor: Actor::Provider,
    payload: Payload::Nothing(|| Action::Malformed),
    allowed: &[Opened, Stream],
    unless: &[
        refused(&[Unanswered], "no stream is open before the headers", "use `after: headers`"),
        refused(
            &[Over],
            "the terminal event has been sent, and clients stop reading there",
            "use `before: reply`",
        ),
    ],
    ..because(Premise::Provider, Trigger::Stream, HARMFUL)
};

pub(super) static SETTLE: ActionSpec = ActionSpec {
    name: "settle",
    actor: Actor::Tool,
    payload: Payload::Call(Action::Settle),
    effect: Some(Effect::Settle),
    allowed: IN_THREAD,
    weights: &[(Opened, 2), (Stream, 2)],
    ..because(Premise::Tool, Trigger::Tool, HARMLESS)
};

const WHILE_TOOLS_RUN: Unless = refused(
    STREAMED,
    "the history can be changed only between two turns or while tools run",
    "use `before: prompt`, or a point of the tools such as `after: { settled: 1 }`",
);

static POOR_SUMMARIES: [Action; 2] =
    [Action::Summary(PoorSummary::Empty), Action::Summary(PoorSummary::Length)];

pub(super) static SUMMARY: ActionSpec = ActionSpec {
    name: "summary",
    actor: Actor::Provider,
    payload: Payload::OneOf(&POOR_SUMMARIES),
    allowed: &[Unsummarised],
    weights: &[(Unsummarised, 6)],
    unless: &[refused(ANYWHERE, "this is not a request for a summary", "use `before: { compaction: 1 }`")],
    ..because(Premise::Model, Trigger::Transform, HARMFUL)
};

pub(super) static TRIM: ActionSpec = ActionSpec {
    name: "trim",
    actor: Actor::History,
    needs: Some(Need::Trim),
    payload: Payload::Keep { make: Action::Trim, least: 1 },
    allowed: &[Between, Tools, Result],
    weights: &[(Between, 2)],
    unless: &[WHILE_TOOLS_RUN],
    ..because(Premise::Process, Trigger::Transform, HARMFUL)
};

pub(super) static SUMMARISE: ActionSpec = ActionSpec {
    name: "summarise",
    actor: Actor::History,
    needs: Some(Need::Summarise),
    payload: Payload::Keep { make: Action::Summarise, least: 0 },
    allowed: &[Between, Tools, Result],
    weights: &[(Between, 2)],
    unless: &[WHILE_TOOLS_RUN],
    ..because(Premise::Process, Trigger::Transform, HARMFUL)
};

const BETWEEN_TURNS: Unless =
    refused(ANYWHERE, "this is allowed only between two turns", "use `before: prompt`");

pub(super) static REWIND: ActionSpec = ActionSpec {
    name: "rewind",
    actor: Actor::History,
    needs: Some(Need::Rewind),
    payload: Payload::Turn(Action::Rewind),
    allowed: &[Between],
    weights: &[(Between, 2)],
    unless: &[BETWEEN_TURNS],
    ..because(Premise::User, Trigger::Transform, HARMFUL)
};

pub(super) static ASIDE: ActionSpec = ActionSpec {
    name: "aside",
    actor: Actor::History,
    needs: Some(Need::Aside),
    payload: Payload::Text { make: Action::Aside, plain: "Why so?" },
    allowed: &[Between],
    unless: &[BETWEEN_TURNS],
    ..because(Premise::User, Trigger::Message, HARMFUL)
};

pub(super) static THINKING: ActionSpec = ActionSpec {
    name: "thinking",
    actor: Actor::History,
    needs: Some(Need::ThinkingSwitch),
    payload: Payload::Switch(Action::Thinking),
    allowed: &[Between],
    weights: &[(Between, 2)],
    unless: &[BETWEEN_TURNS],
    ..because(Premise::User, Trigger::Switch, HARMFUL)
};

// Generation leaves this action out: the scenarios below `scenarios/switch` list the pairs of providers.
pub(super) static PROVIDER: ActionSpec = ActionSpec {
    name: "provider",
    actor: Actor::History,
    needs: Some(Need::ProviderSwitch),
    payload: Payload::Provider(Action::Provider),
    allowed: &[Between],
    weights: &[(Between, 0)],
    unless: &[BETWEEN_TURNS],
    ..because(Premise::User, Trigger::Switch, HARMFUL)
};

pub(super) static TOOLS: ActionSpec = ActionSpec {
    name: "tools",
    actor: Actor::History,
    needs: Some(Need::ToolChanges),
    payload: Payload::Tools(Action::Tools),
    allowed: &[Between, Tools, Result],
    unless: &[refused(
        STREAMED,
        "the list of tools can be changed only between two turns or while tools run",
        "use `before: prompt`, or a point of the tools such as `after: { settled: 1 }`",
    )],
    ..because(Premise::Process, Trigger::Switch, HARMFUL)
};

pub(super) static FINISH: ActionSpec = ActionSpec {
    name: "finish",
    actor: Actor::Process,
    unless: &[refused(
        ANYWHERE,
        "the system ends its turn by itself; a scenario cannot say where",
        "use `limits: { steps: … }`, or a tool with `ends: true`",
    )],
    ..because(Premise::Process, Trigger::Exception, HARMFUL)
};
