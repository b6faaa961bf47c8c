//! The action table, one line each: first the user's actions, then those of the process, the provider, the
//! tools and the history.

use super::Action;
use super::spec::{ActionSpec, Actor, Effect, Ends, NO, Payload, Refusal, Unless};
use crate::point::Region;
use crate::scenario::Need;

/// Every action that a scenario can write.
pub(super) const ALL: [&ActionSpec; 25] = [
    &ABORT,
    &STOP_AGAIN,
    &STALL,
    &STEER,
    &PROMPT,
    &IGNORE,
    &KILL,
    &INTERRUPT,
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
    &TRIM,
    &SUMMARISE,
    &REWIND,
    &ASIDE,
    &THINKING,
    &PROVIDER,
];

const ANYWHERE: &[Region] = &Region::ALL;
const STREAMED: &[Region] =
    &[Region::Unanswered, Region::Opened, Region::Stream, Region::Over, Region::Question];

const fn refused(regions: &'static [Region], message: &'static str, hint: &'static str) -> Unless {
    Unless { regions, refusal: Refusal { message, hint } }
}

/// The values that most actions share.
const PLAIN: ActionSpec = ActionSpec {
    name: "",
    actor: Actor::User,
    ends: Ends::Nothing,
    needs: None,
    payload: Payload::Nothing(|| Action::Finish),
    effect: None,
    at: [NO; Region::ALL.len()],
    unless: &[],
};

// The columns of `at` are Between, Unanswered, Opened, Stream, Over, Question, Tools, Result and Store.

pub(super) static ABORT: ActionSpec = ActionSpec {
    name: "abort",
    ends: Ends::TurnByStop,
    needs: Some(Need::Cancel),
    payload: Payload::Nothing(|| Action::Abort),
    effect: Some(Effect::Stop),
    at: [NO, 2, 4, 4, 2, 3, 5, 5, NO],
    ..PLAIN
};

pub(super) static STOP_AGAIN: ActionSpec = ActionSpec {
    name: "stop-again",
    ends: Ends::TurnByStop,
    needs: Some(Need::Cancel),
    payload: Payload::Nothing(|| Action::StopAgain),
    at: [NO, 1, 1, 1, 2, 1, 1, 1, NO],
    ..PLAIN
};

pub(super) static STALL: ActionSpec = ActionSpec {
    name: "stall",
    actor: Actor::Provider,
    ends: Ends::TurnByStop,
    needs: Some(Need::Cancel),
    payload: Payload::Nothing(|| Action::Stall),
    effect: Some(Effect::Stop),
    at: [NO, 1, 1, 1, 1, NO, NO, NO, NO],
    ..PLAIN
};

pub(super) static STEER: ActionSpec = ActionSpec {
    name: "steer",
    needs: Some(Need::Steer),
    payload: Payload::Text { make: Action::Steer, plain: "Be brief." },
    at: [NO, 1, 1, 1, 1, 1, 2, 2, NO],
    ..PLAIN
};

pub(super) static PROMPT: ActionSpec = ActionSpec {
    name: "prompt",
    needs: Some(Need::SecondPrompt),
    payload: Payload::Text { make: Action::Prompt, plain: "And then?" },
    at: [NO, 1, 1, 1, 0, 2, 2, 2, NO],
    ..PLAIN
};

pub(super) static IGNORE: ActionSpec = ActionSpec {
    name: "ignore",
    payload: Payload::Nothing(|| Action::Ignore),
    at: [NO, NO, NO, NO, NO, 2, NO, NO, NO],
    unless: &[refused(ANYWHERE, "no question is open at this point", "use `after: { asked: … }`")],
    ..PLAIN
};

pub(super) static KILL: ActionSpec = ActionSpec {
    name: "kill",
    actor: Actor::Process,
    ends: Ends::Turn,
    needs: Some(Need::Resume),
    payload: Payload::Nothing(|| Action::Kill),
    effect: Some(Effect::Kill),
    at: [3, 1, 2, 2, 1, 2, 3, 3, 1],
    ..PLAIN
};

pub(super) static INTERRUPT: ActionSpec = ActionSpec {
    name: "interrupt",
    actor: Actor::Process,
    ends: Ends::Turn,
    needs: Some(Need::Interrupt),
    payload: Payload::Cause(Action::Interrupt),
    at: [NO, 1, 1, 1, 1, 1, 3, 3, NO],
    ..PLAIN
};

pub(super) static INJECT: ActionSpec = ActionSpec {
    name: "inject",
    actor: Actor::Process,
    needs: Some(Need::Hooks),
    payload: Payload::Text { make: Action::Inject, plain: "A note." },
    at: [NO, NO, NO, NO, NO, NO, NO, 2, NO],
    unless: &[refused(ANYWHERE, "a hook can add context only after a result", "use `after: { settled: … }`")],
    ..PLAIN
};

pub(super) static PAUSE: ActionSpec = ActionSpec {
    name: "pause",
    actor: Actor::Provider,
    payload: Payload::Nothing(|| Action::Pause),
    effect: Some(Effect::Pause),
    at: [NO, 1, 1, 1, 1, NO, NO, NO, NO],
    ..PLAIN
};

pub(super) static RESET: ActionSpec = ActionSpec {
    name: "reset",
    actor: Actor::Provider,
    ends: Ends::Attempt,
    payload: Payload::Nothing(|| Action::Reset),
    effect: Some(Effect::Cut),
    at: [NO, 1, 2, 2, 1, NO, NO, NO, NO],
    ..PLAIN
};

pub(super) static EOF: ActionSpec = ActionSpec {
    name: "eof",
    actor: Actor::Provider,
    ends: Ends::Attempt,
    payload: Payload::Nothing(|| Action::Eof),
    effect: Some(Effect::Cut),
    at: [NO, 1, 1, 1, 1, NO, NO, NO, NO],
    ..PLAIN
};

pub(super) static END_EARLY: ActionSpec = ActionSpec {
    name: "end-early",
    actor: Actor::Provider,
    ends: Ends::Attempt,
    payload: Payload::Nothing(|| Action::EndEarly),
    effect: Some(Effect::Cut),
    at: [NO, NO, 2, 2, NO, NO, NO, NO, NO],
    unless: &[
        refused(
            &[Region::Unanswered],
            "no body is open before the headers",
            "use `eof`, or `after: headers`",
        ),
        refused(
            &[Region::Over],
            "the terminal event has been sent, so the reply is complete",
            "use `before: reply`",
        ),
    ],
    ..PLAIN
};

pub(super) static ERROR: ActionSpec = ActionSpec {
    name: "error",
    actor: Actor::Provider,
    ends: Ends::Attempt,
    payload: Payload::Error(Action::Error),
    effect: Some(Effect::Error),
    at: [NO, NO, 2, 2, 1, NO, NO, NO, NO],
    unless: &[refused(
        &[Region::Unanswered],
        "no stream is open before the headers",
        "use `http`, or `after: headers`",
    )],
    ..PLAIN
};

pub(super) static HTTP: ActionSpec = ActionSpec {
    name: "http",
    actor: Actor::Provider,
    payload: Payload::Http(Action::Http),
    effect: Some(Effect::Refusal),
    at: [NO, 4, NO, NO, NO, NO, NO, NO, NO],
    unless: &[refused(
        &[Region::Opened, Region::Stream, Region::Over],
        "an HTTP error replaces the entire reply",
        "use `before: headers`",
    )],
    ..PLAIN
};

pub(super) static TOKENS: ActionSpec = ActionSpec {
    name: "tokens",
    actor: Actor::Provider,
    needs: Some(Need::AutoCompaction),
    payload: Payload::Tokens(Action::Tokens),
    at: [NO, 1, NO, NO, NO, NO, NO, NO, NO],
    unless: &[refused(
        ANYWHERE,
        "the provider counts the tokens of a request when it comes",
        "use `before: headers`",
    )],
    ..PLAIN
};

pub(super) static DUPLICATE: ActionSpec = ActionSpec {
    name: "duplicate",
    actor: Actor::Provider,
    payload: Payload::Nothing(|| Action::Duplicate),
    at: [NO, NO, 1, NO, NO, NO, NO, NO, NO],
    unless: &[refused(
        ANYWHERE,
        "only the first event of a stream is known to be sent twice, by gateways",
        "use `after: headers`",
    )],
    ..PLAIN
};

pub(super) static MALFORMED: ActionSpec = ActionSpec {
    name: "malformed",
    actor: Actor::Provider,
    payload: Payload::Nothing(|| Action::Malformed),
    at: [NO, NO, 1, 1, NO, NO, NO, NO, NO],
    unless: &[
        refused(&[Region::Unanswered], "no stream is open before the headers", "use `after: headers`"),
        refused(
            &[Region::Over],
            "the terminal event has been sent, and clients stop reading there",
            "use `before: reply`",
        ),
    ],
    ..PLAIN
};

pub(super) static SETTLE: ActionSpec = ActionSpec {
    name: "settle",
    actor: Actor::Tool,
    payload: Payload::Call(Action::Settle),
    effect: Some(Effect::Settle),
    at: [NO, 1, 2, 2, 1, 1, 1, 1, NO],
    ..PLAIN
};

const WHILE_TOOLS_RUN: Unless = refused(
    STREAMED,
    "the history can be changed only between two turns or while tools run",
    "use `before: prompt`, or a point of the tools such as `after: { settled: 1 }`",
);

pub(super) static TRIM: ActionSpec = ActionSpec {
    name: "trim",
    actor: Actor::History,
    needs: Some(Need::Trim),
    payload: Payload::Keep { make: Action::Trim, least: 1 },
    at: [2, NO, NO, NO, NO, NO, 1, 1, NO],
    unless: &[WHILE_TOOLS_RUN],
    ..PLAIN
};

pub(super) static SUMMARISE: ActionSpec = ActionSpec {
    name: "summarise",
    actor: Actor::History,
    needs: Some(Need::Summarise),
    payload: Payload::Keep { make: Action::Summarise, least: 0 },
    at: [2, NO, NO, NO, NO, NO, 1, 1, NO],
    unless: &[WHILE_TOOLS_RUN],
    ..PLAIN
};

const BETWEEN_TURNS: Unless =
    refused(ANYWHERE, "this is allowed only between two turns", "use `before: prompt`");

pub(super) static REWIND: ActionSpec = ActionSpec {
    name: "rewind",
    actor: Actor::History,
    needs: Some(Need::Rewind),
    payload: Payload::Turn(Action::Rewind),
    at: [2, NO, NO, NO, NO, NO, NO, NO, NO],
    unless: &[BETWEEN_TURNS],
    ..PLAIN
};

pub(super) static ASIDE: ActionSpec = ActionSpec {
    name: "aside",
    actor: Actor::History,
    needs: Some(Need::Aside),
    payload: Payload::Text { make: Action::Aside, plain: "Why so?" },
    at: [1, NO, NO, NO, NO, NO, NO, NO, NO],
    unless: &[BETWEEN_TURNS],
    ..PLAIN
};

pub(super) static THINKING: ActionSpec = ActionSpec {
    name: "thinking",
    actor: Actor::History,
    needs: Some(Need::ThinkingSwitch),
    payload: Payload::Switch(Action::Thinking),
    at: [1, NO, NO, NO, NO, NO, NO, NO, NO],
    unless: &[BETWEEN_TURNS],
    ..PLAIN
};

// Generation leaves this action out: the scenarios below `scenarios/switch` list the pairs of providers.
pub(super) static PROVIDER: ActionSpec = ActionSpec {
    name: "provider",
    actor: Actor::History,
    needs: Some(Need::ProviderSwitch),
    payload: Payload::Provider(Action::Provider),
    at: [0, NO, NO, NO, NO, NO, NO, NO, NO],
    unless: &[BETWEEN_TURNS],
    ..PLAIN
};

pub(super) static FINISH: ActionSpec = ActionSpec {
    name: "finish",
    actor: Actor::Process,
    unless: &[refused(
        ANYWHERE,
        "the system ends its turn by itself; a scenario cannot say where",
        "use `limits: { steps: … }`, or a tool with `ends: true`",
    )],
    ..PLAIN
};
