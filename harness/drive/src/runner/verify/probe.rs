//! The probes by name, their possible outcomes, and advice for what they find.

use crate::driver::DriverError;

/// One requirement for adapters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Probe {
    IntroducesItself,
    SilentOnStdout,
    HoldsAConversation,
    KeepsNativeIds,
    SendsPromptsOnce,
    PassesTheStopOn,
    AwaitsTheTurn,
    TellsTheOutcome,
    IsolatesSessions,
    ReloadsSessions,
    HonoursTheMode,
    AnswersExtensions,
    ChangesTheHistory,
    KeepsItsClaims,
    SurvivesManyPlans,
    EndsWithItsInput,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProbeOutcome {
    /// The adapter is correct; a warning is allowed, but worth knowing.
    Ok {
        warnings: Vec<String>,
    },
    /// The adapter is not correct; the hint describes how to fix it.
    Failed {
        seen: String,
        hint: String,
        /// The adapter's standard error during the probe.
        stderr: String,
        /// The line for the manifest, if the SDK may be the cause.
        limit: Option<String>,
    },
    /// The adapter does not claim this capability.
    Skipped {
        reason: String,
    },
    NotJudged {
        reason: String,
    },
}

impl ProbeOutcome {
    pub(super) fn ok() -> ProbeOutcome {
        ProbeOutcome::Ok { warnings: Vec::new() }
    }

    pub(super) fn failed(seen: impl Into<String>, hint: impl Into<String>) -> ProbeOutcome {
        ProbeOutcome::Failed { seen: seen.into(), hint: hint.into(), stderr: String::new(), limit: None }
    }
}

/// The result of a probe: warnings if the adapter is correct.
pub(super) type Probed = Result<Vec<String>, Halt>;

/// The reason why a probe ends early.
#[derive(Debug, thiserror::Error)]
pub(super) enum Halt {
    #[error(transparent)]
    Defect(#[from] Defect),
    #[error("{0}")]
    Skipped(String),
    #[error(transparent)]
    Driver(#[from] DriverError),
}

impl Halt {
    pub(super) fn unclaimed(capability: &str) -> Halt {
        Halt::Skipped(format!("the capability `{capability}` is not claimed"))
    }
}

/// A defect in an adapter, with its own advice if the probe's advice does not fit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{seen}")]
pub(super) struct Defect {
    pub(super) seen: String,
    pub(super) hint: Option<Hint>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hint {
    /// The hint of another probe.
    Of(Probe),
    Text(&'static str),
}

/// An `Err` with this defect.
pub(super) fn wrong<T, E: From<Defect>>(seen: impl Into<String>) -> Result<T, E> {
    Err(Defect::new(seen).into())
}

impl Defect {
    pub(super) fn new(seen: impl Into<String>) -> Defect {
        Defect { seen: seen.into(), hint: None }
    }

    /// The defect with this advice, unless it has its own.
    pub(super) fn hint(self, hint: Hint) -> Defect {
        Defect { hint: self.hint.or(Some(hint)), ..self }
    }

    /// The same defect, prefixed with the location where it was observed.
    pub(super) fn within(self, place: impl std::fmt::Display) -> Defect {
        Defect { seen: format!("{place}: {}", self.seen), ..self }
    }

    pub(super) fn no_gate() -> Defect {
        Defect::new("no tool reached its gate").hint(Hint::Of(Probe::HoldsAConversation))
    }
}

struct ProbeText {
    id: &'static str,
    title: &'static str,
    /// The fix for its finding in an adapter.
    adapter: &'static str,
    /// The fix in a manifest, or in the agent that speaks ACP itself.
    agent: &'static str,
}

impl Probe {
    /// All probes, in the order of reports.
    pub const ALL: [Probe; 16] = [
        Probe::IntroducesItself,
        Probe::SilentOnStdout,
        Probe::HoldsAConversation,
        Probe::KeepsNativeIds,
        Probe::SendsPromptsOnce,
        Probe::PassesTheStopOn,
        Probe::AwaitsTheTurn,
        Probe::TellsTheOutcome,
        Probe::IsolatesSessions,
        Probe::ReloadsSessions,
        Probe::HonoursTheMode,
        Probe::AnswersExtensions,
        Probe::ChangesTheHistory,
        Probe::KeepsItsClaims,
        Probe::SurvivesManyPlans,
        Probe::EndsWithItsInput,
    ];

    /// True if the modes of an adapter may differ in it, so that each is tried.
    pub(super) fn is_of_each_mode(self) -> bool {
        match self {
            Probe::KeepsNativeIds
            | Probe::SendsPromptsOnce
            | Probe::PassesTheStopOn
            | Probe::AwaitsTheTurn
            | Probe::TellsTheOutcome
            | Probe::ReloadsSessions
            | Probe::ChangesTheHistory
            | Probe::KeepsItsClaims => true,
            Probe::IntroducesItself
            | Probe::SilentOnStdout
            | Probe::HoldsAConversation
            | Probe::IsolatesSessions
            | Probe::HonoursTheMode
            | Probe::AnswersExtensions
            | Probe::SurvivesManyPlans
            | Probe::EndsWithItsInput => false,
        }
    }

    /// The probe that must pass for the result of this one to mean anything.
    pub(super) fn rests_on(self) -> Option<Probe> {
        match self {
            Probe::KeepsNativeIds
            | Probe::SendsPromptsOnce
            | Probe::PassesTheStopOn
            | Probe::TellsTheOutcome
            | Probe::ReloadsSessions
            | Probe::HonoursTheMode
            | Probe::AnswersExtensions
            | Probe::ChangesTheHistory
            | Probe::KeepsItsClaims
            | Probe::SurvivesManyPlans => Some(Probe::HoldsAConversation),
            // A turn that is answered too early, or two sessions that are mixed up, may be the reason why no
            // conversation works.
            Probe::AwaitsTheTurn
            | Probe::IsolatesSessions
            | Probe::IntroducesItself
            | Probe::SilentOnStdout
            | Probe::HoldsAConversation
            | Probe::EndsWithItsInput => None,
        }
    }

    /// True if an adapter that does everything it can may still fail it, because of its SDK. Only the protocol
    /// itself is always the adapter's.
    pub(super) fn may_be_the_sdk(self) -> bool {
        !matches!(self, Probe::IntroducesItself | Probe::SilentOnStdout)
    }

    pub fn id(self) -> &'static str {
        self.text().id
    }

    pub fn title(self) -> &'static str {
        self.text().title
    }

    pub(super) fn adapter_hint(self) -> &'static str {
        self.text().adapter
    }

    pub(super) fn agent_hint(self) -> &'static str {
        self.text().agent
    }

    fn text(self) -> &'static ProbeText {
        // In the order of the variants.
        &TEXTS[self as usize]
    }
}

const TEXTS: [ProbeText; Probe::ALL.len()] = [
    ProbeText {
        id: "introduces-itself",
        title: "starts and introduces itself",
        adapter: "answer `initialize` with protocolVersion 1 and `_meta.brickbat`: protocol, sdk, version, \
                  modes, capabilities, as in the manifest",
        agent: "write in `versions` of the manifest what the agent reports as `agentInfo.version` in its answer to \
                `initialize`; claim `load` only if it reports `loadSession`",
    },
    ProbeText {
        id: "silent-on-stdout",
        title: "writes only the protocol to standard output",
        adapter: "write one JSON-RPC message per line to standard output, with one answer to each request, \
                  and everything else to standard error: redirect what the SDK prints there as well",
        agent: "silence what the agent prints besides ACP, with an option in `command` or a variable in `env`",
    },
    ProbeText {
        id: "holds-a-conversation",
        title: "holds a conversation with a batch of three calls",
        adapter: "post the arguments, exactly as the SDK passed them, to `gateUrl`, and give the SDK the \
                  gate's response; send requests for the provider to `baseUrl`",
        agent: "make `config` point the agent to `${baseUrl}` and allow it every tool, and write the names under which \
                it offers the tools of an MCP server in `tools`",
    },
    ProbeText {
        id: "keeps-native-ids",
        title: "shows and sends back the provider's ids",
        adapter: "show each call with `tool_call` and `tool_call_update` under its native id, and store histories \
                  with the ids that they came with",
        agent: "the harness identifies calls by the provider's ids; if a setting in `config` makes the agent keep them, \
                use it",
    },
    ProbeText {
        id: "sends-prompts-once",
        title: "sends each of the user's messages once",
        adapter: "if the SDK stores the user's message itself, do not add it to the history as well",
        agent: "send the prompt only as `session/prompt` brings it, not in `config` or `env` as well",
    },
    ProbeText {
        id: "passes-the-stop-on",
        title: "passes the stop on to the tools that take the signal",
        adapter: "on session/cancel stop the turn as the SDK expects; pass the SDK's stop signal to the request at \
                  the gate, unless the tool is `deaf`",
        agent: "the agent must cancel an abandoned call with `notifications/cancelled` and keep the tool \
                server alive; if it cannot stop a turn, the manifest must not claim `cancel`",
    },
    ProbeText {
        id: "awaits-the-turn",
        title: "answers session/prompt when the turn is over",
        adapter: "answer session/prompt when the turn has really ended: the stream is consumed and the history is \
                  stored",
        agent: "the agent answers session/prompt before its turn is over, so no verdict on it can be trusted; a \
                manifest cannot fix that",
    },
    ProbeText {
        id: "tells-the-outcome",
        title: "reports how a turn ended",
        adapter: "answer session/prompt with `_meta.brickbat.outcome`: `returned`, `raised` with the error's class \
                  and text for every error that the SDK lets its caller see, `cancelled` if the SDK reports a stop",
        agent: "the agent must answer session/prompt with an error that contains the provider's message, \
                and with `cancelled` after a stop; a small adapter can report what the agent does not",
    },
    ProbeText {
        id: "isolates-sessions",
        title: "keeps two sessions apart",
        adapter: "keep everything in the session: provider, tools, history and the stop signal, nothing in globals",
        agent: "put `config` into the working folder of the session, not into `env`",
    },
    ProbeText {
        id: "reloads-sessions",
        title: "loads a session in a new process",
        adapter: "on session/load restore what was stored in `stateDir` under this sessionId; write only \
                  to `stateDir`, and before session/prompt is answered",
        agent: "claim `load` only if a new process continues a session after the old one was killed; let the agent \
                keep its store in its home folder, which is removed after the run",
    },
    ProbeText {
        id: "honours-the-mode",
        title: "offers the modes that it claims and refuses others",
        adapter: "refuse an unknown mode or dialect with a JSON-RPC error",
        agent: "list only dialects that `config` and `words` make work",
    },
    ProbeText {
        id: "answers-extensions",
        title: "answers _brickbat/barrier and _brickbat/history",
        adapter: "answer the extension methods of the capabilities that `initialize` claims, or do not claim them",
        agent: "plain ACP has no extension methods",
    },
    ProbeText {
        id: "changes-the-history",
        title: "cuts and summarises the history if it claims to",
        adapter: "on _brickbat/action with a change, call what the SDK offers for it, and answer when it is \
                  done; do not claim a change that the SDK cannot make",
        agent: "write in `summarise` of the manifest the prompt that makes the agent summarise its history",
    },
    ProbeText {
        id: "keeps-its-claims",
        title: "does everything that it claims to support",
        adapter: "carry out `_brickbat/action`, `ends` and `maxSteps` through the SDK as its users do, or do not claim \
                  them",
        agent: "claim `secondPrompt` only if the agent answers a prompt that comes while a turn runs",
    },
    ProbeText {
        id: "survives-many-plans",
        title: "runs many plans in one process",
        adapter: "one process serves many sessions, some at the same time: keep nothing of a session that is over",
        agent: "if another probe fails in the same way, begin there; otherwise lower `maxSessions` to the number of \
                sessions that one process can serve one after the other",
    },
    ProbeText {
        id: "ends-with-its-input",
        title: "ends when its standard input ends",
        adapter: "end the process when standard input ends, whatever is still pending",
        agent: "the agent must end when its standard input ends; start the agent itself in `command`, \
                without a wrapper that stays",
    },
];
