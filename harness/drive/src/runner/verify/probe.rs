//! The probes by name, and what can come of one.

use super::host::Host;
use super::{conversation, lifetime, sessions, stop};
use crate::driver::DriverError;

/// One thing that an adapter must do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Probe {
    /// It starts and says what it is.
    IntroducesItself,
    /// Nothing but the protocol is on its standard output, in all probes.
    SilentOnStdout,
    /// A plain conversation with a batch of calls works.
    HoldsAConversation,
    /// The provider's ids are shown and sent back.
    KeepsNativeIds,
    /// The user's stop reaches the tools that hear it, and no others.
    PassesTheStopOn,
    /// A turn is answered when it is over and not before.
    AwaitsTheTurn,
    /// The outcome of a turn is what happened.
    TellsTheOutcome,
    /// Sessions share nothing.
    IsolatesSessions,
    /// A new process goes on with a stored session.
    ReloadsSessions,
    /// Modes and dialects are what they say; unknown ones are refused.
    HonoursTheMode,
    /// The extension methods that it claims are there.
    AnswersExtensions,
    /// Many plans in one process.
    SurvivesManyPlans,
    /// It ends when its input ends.
    EndsWithItsInput,
}

/// What came of a probe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// The adapter is right.
    Ok {
        /// What is allowed and yet worth knowing.
        warnings: Vec<String>,
    },
    /// It is not.
    Failed {
        /// What was seen.
        seen: String,
        /// How to mend it.
        hint: String,
    },
    /// The adapter does not claim to be able to do this.
    Skipped {
        /// Why.
        reason: String,
    },
    /// Nothing is known.
    NotJudged {
        /// Why.
        reason: String,
    },
}

impl Found {
    pub(super) fn ok() -> Found {
        Found::Ok { warnings: Vec::new() }
    }

    pub(super) fn failed(seen: impl Into<String>, hint: impl Into<String>) -> Found {
        Found::Failed { seen: seen.into(), hint: hint.into() }
    }

    pub(super) fn lacks(capability: &str) -> Found {
        Found::Skipped { reason: format!("the capability `{capability}` is not claimed") }
    }
}

impl Probe {
    /// All of them, in the order in which they are told.
    pub const ALL: [Probe; 13] = [
        Probe::IntroducesItself,
        Probe::SilentOnStdout,
        Probe::HoldsAConversation,
        Probe::KeepsNativeIds,
        Probe::PassesTheStopOn,
        Probe::AwaitsTheTurn,
        Probe::TellsTheOutcome,
        Probe::IsolatesSessions,
        Probe::ReloadsSessions,
        Probe::HonoursTheMode,
        Probe::AnswersExtensions,
        Probe::SurvivesManyPlans,
        Probe::EndsWithItsInput,
    ];

    /// The name in reports.
    pub fn id(self) -> &'static str {
        match self {
            Probe::IntroducesItself => "introduces-itself",
            Probe::SilentOnStdout => "silent-on-stdout",
            Probe::HoldsAConversation => "holds-a-conversation",
            Probe::KeepsNativeIds => "keeps-native-ids",
            Probe::PassesTheStopOn => "passes-the-stop-on",
            Probe::AwaitsTheTurn => "awaits-the-turn",
            Probe::TellsTheOutcome => "tells-the-outcome",
            Probe::IsolatesSessions => "isolates-sessions",
            Probe::ReloadsSessions => "reloads-sessions",
            Probe::HonoursTheMode => "honours-the-mode",
            Probe::AnswersExtensions => "answers-extensions",
            Probe::SurvivesManyPlans => "survives-many-plans",
            Probe::EndsWithItsInput => "ends-with-its-input",
        }
    }

    /// What it asks, in words.
    pub fn title(self) -> &'static str {
        match self {
            Probe::IntroducesItself => "starts and introduces itself",
            Probe::SilentOnStdout => "writes nothing but the protocol to standard output",
            Probe::HoldsAConversation => "holds a conversation with a batch of three calls",
            Probe::KeepsNativeIds => "shows and sends back the provider's ids",
            Probe::PassesTheStopOn => "passes the stop on to the tools that hear it",
            Probe::AwaitsTheTurn => "answers session/prompt when the turn is over",
            Probe::TellsTheOutcome => "tells how a turn ended",
            Probe::IsolatesSessions => "keeps two sessions apart",
            Probe::ReloadsSessions => "loads a session in a new process",
            Probe::HonoursTheMode => "offers the modes that it claims and refuses others",
            Probe::AnswersExtensions => "answers _brickbat/barrier and _brickbat/history",
            Probe::SurvivesManyPlans => "runs many plans in one process",
            Probe::EndsWithItsInput => "ends when its standard input ends",
        }
    }

    /// Runs it on an adapter that has introduced itself.
    pub(super) async fn run(self, host: &mut Host) -> Result<Found, DriverError> {
        match self {
            // The one has been run before a host is there, the other is read off all of them.
            Probe::IntroducesItself | Probe::SilentOnStdout => Ok(Found::ok()),
            Probe::HoldsAConversation => conversation::holds(host).await,
            Probe::KeepsNativeIds => conversation::keeps_ids(host).await,
            Probe::PassesTheStopOn => stop::passes_on(host).await,
            Probe::AwaitsTheTurn => stop::awaits(host).await,
            Probe::TellsTheOutcome => conversation::tells_outcome(host).await,
            Probe::IsolatesSessions => sessions::isolates(host).await,
            Probe::ReloadsSessions => sessions::reloads(host).await,
            Probe::HonoursTheMode => lifetime::honours_mode(host).await,
            Probe::AnswersExtensions => lifetime::answers_extensions(host).await,
            Probe::SurvivesManyPlans => lifetime::survives(host).await,
            Probe::EndsWithItsInput => lifetime::ends(host).await,
        }
    }
}
