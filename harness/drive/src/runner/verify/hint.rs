//! Who is examined, and how what a probe finds is mended.

use super::probe::Probe;
use crate::runner::system::Subject;

/// Who is examined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Examinee {
    /// An adapter, which speaks the protocol on top of ACP.
    Adapter,
    /// An agent that speaks plain ACP, together with the manifest that speaks for it.
    Agent,
}

impl Examinee {
    pub(super) fn of(subject: &Subject) -> Examinee {
        match subject.manifest.acp {
            Some(_) => Examinee::Agent,
            None => Examinee::Adapter,
        }
    }

    /// What it is called.
    pub(super) fn noun(self) -> &'static str {
        match self {
            Examinee::Adapter => "the adapter",
            Examinee::Agent => "the agent",
        }
    }

    /// How what a probe finds is mended, where nothing more exact is known.
    pub(super) fn hint(self, probe: Probe) -> &'static str {
        match self {
            Examinee::Adapter => of_adapter(probe),
            Examinee::Agent => of_agent(probe),
        }
    }
}

fn of_adapter(probe: Probe) -> &'static str {
    match probe {
        Probe::IntroducesItself => {
            "answer `initialize` with protocolVersion 1 and `_meta.brickbat`: protocol, sdk, version, modes, \
             capabilities, as the manifest says them"
        }
        Probe::SilentOnStdout => {
            "write one JSON-RPC message a line to standard output, with one answer to each request, and \
             everything else to standard error: send what the SDK prints there as well"
        }
        Probe::HoldsAConversation => {
            "post the arguments, exactly as the SDK passed them, to `gateUrl`, and give the SDK what the gate \
             answers; ask the provider at `baseUrl`"
        }
        Probe::KeepsNativeIds => {
            "show each call with `tool_call` and `tool_call_update` under its native id, and store histories \
             with the ids that they came with"
        }
        Probe::PassesTheStopOn => {
            "on session/cancel stop the turn as the SDK wants it; pass the SDK's stop signal to the request at \
             the gate, unless the tool is `deaf`"
        }
        Probe::AwaitsTheTurn => {
            "answer session/prompt when the turn has really ended: the stream is consumed and the history is \
             stored"
        }
        Probe::TellsTheOutcome => {
            "answer session/prompt with `_meta.brickbat.outcome`: `returned`, `raised` with the error's class \
             and text for every error that the SDK lets its caller see, `cancelled` if the SDK reports a stop"
        }
        Probe::IsolatesSessions => {
            "keep everything in the session: provider, tools, history and the stop signal, nothing in globals"
        }
        Probe::ReloadsSessions => {
            "on session/load restore what was stored in `stateDir` under this sessionId; write to `stateDir` \
             and nowhere else, before session/prompt is answered"
        }
        Probe::HonoursTheMode => "refuse a mode or dialect that you do not know with a JSON-RPC error",
        Probe::AnswersExtensions => {
            "answer the extension methods of the capabilities that `initialize` claims, or do not claim them"
        }
        Probe::SurvivesManyPlans => {
            "one process serves many sessions, also at the same time: keep nothing of a session that is over"
        }
        Probe::EndsWithItsInput => "end the process when standard input ends, whatever still waits",
    }
}

fn of_agent(probe: Probe) -> &'static str {
    match probe {
        Probe::IntroducesItself => {
            "say in `versions` of the manifest what the agent says as `agentInfo.version` in its answer to \
             `initialize`; claim `load` only if it says `loadSession`"
        }
        Probe::SilentOnStdout => {
            "silence what the agent prints beside ACP, with an option in `command` or a variable in `env`"
        }
        Probe::HoldsAConversation => {
            "let `config` lead the agent to `${baseUrl}` and allow it every tool, and write the names under which it \
             offers the tools of an MCP server in `tools`"
        }
        Probe::KeepsNativeIds => {
            "the harness knows calls by the provider's ids; if a setting in `config` makes the agent keep them, use it"
        }
        Probe::PassesTheStopOn => {
            "the agent has to cancel a call that it gives up with `notifications/cancelled`, and to let the tool \
             server live; if it cannot stop a turn, the manifest must not claim `cancel`"
        }
        Probe::AwaitsTheTurn => {
            "the agent answers session/prompt before its turn is over, so no verdict on it can be trusted; nothing in \
             a manifest mends that"
        }
        Probe::TellsTheOutcome => {
            "the agent has to answer session/prompt with an error that has the provider's words, and with \
             `cancelled` after a stop; a small adapter can say what the agent does not"
        }
        Probe::IsolatesSessions => {
            "let `config` lie in the working folder, which each session has for itself, and not in `env`"
        }
        Probe::ReloadsSessions => {
            "claim `load` only if a new process takes a session up after the old one was killed; let the agent keep \
             its store in its home folder, which goes with the run"
        }
        Probe::HonoursTheMode => "list only dialects that `config` and `words` make work",
        Probe::AnswersExtensions => "plain ACP has no extension methods",
        Probe::SurvivesManyPlans => {
            "if another probe has seen the same, begin there; otherwise lower `maxSessions` to the number of sessions \
             that one process bears, one after the other"
        }
        Probe::EndsWithItsInput => {
            "the agent has to end when its standard input ends; start the agent itself in `command`, and no \
             program around it that stays"
        }
    }
}
