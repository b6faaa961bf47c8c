//! Verdicts: what a plan's run reveals about the system.

use serde::{Deserialize, Serialize};

use crate::duty::{Application, Duty, Left, Repaired};
use crate::plan::CallKey;
use crate::trace::ExchangeId;
use crate::trigger::{CallState, Trigger};

crate::named! {
    /// The verdict on one plan.
    pub enum Verdict {
        /// Nothing is wrong, and everything planned happened.
        Pass = "pass",
        /// Something is wrong with the system.
        Fail = "fail",
        /// It is not proven that the fault happened where it was planned.
        Vacuous = "vacuous",
        /// The plan could not be judged: its control plan failed.
        Inconclusive = "inconclusive",
        /// This system never gets to that point.
        Unreachable = "unreachable",
        /// The system lacks what the scenario needs.
        Unsupported = "unsupported",
        /// The plan was not run.
        NotRun = "not-run",
        /// The harness or the adapter failed.
        HarnessError = "harness-error",
    }
}

impl Verdict {
    /// True if a plan could not be judged although it should have been. Such a plan makes a run fail,
    /// whatever else the run found.
    pub fn is_unjudged(self) -> bool {
        match self {
            Verdict::Vacuous | Verdict::Inconclusive | Verdict::NotRun | Verdict::HarnessError => true,
            Verdict::Pass | Verdict::Fail | Verdict::Unreachable | Verdict::Unsupported => false,
        }
    }
}

crate::named! {
    /// The severity of a finding: what a system's user loses, worst first.
    #[schemars(rename = "Harm")]
    pub enum Severity {
        /// The provider refuses the history permanently: the last turn also fails.
        BrickedByProvider = "bricked-by-provider",
        /// The SDK raises an error or sends nothing, from then on: the last turn also fails.
        BrickedByClient = "bricked-by-client",
        /// A call of a complete reply is neither run nor answered.
        CallDropped = "call-dropped",
        /// A message of the user is lost.
        UserMessageLost = "user-message-lost",
        /// Results that had arrived are lost.
        ResultsLost = "results-lost",
        /// A call ran with arguments that the model never gave, such as the first part of a text that was cut off.
        PartialArguments = "partial-arguments",
        /// A call that needs the user's consent ran without it.
        ExecutedUnasked = "executed-unasked",
        /// A call ran twice, or in a later turn.
        ExecutedAgain = "executed-again",
        /// A call that did not succeed is recorded as a success.
        SuccessFabricated = "success-fabricated",
        /// A call that ran is recorded as not run, or one that succeeded is recorded as failed.
        OutcomeDenied = "outcome-denied",
        /// A tool ran without the arguments that it requires, since nothing compared them with its schema.
        MissingArguments = "missing-arguments",
        /// The turn does not end.
        Hang = "hang",
        /// The system sends requests without end.
        RequestLoop = "request-loop",
        /// A stopped turn continues: it runs tools or sends requests.
        RunsOnAfterStop = "runs-on-after-stop",
        /// A turn that should work fails; a later one works again.
        TurnFailed = "turn-failed",
        /// A call of a finished turn is never shown, or stored, as finished.
        StuckPart = "stuck-part",
        /// A call that had started disappears from the history without notice.
        ForgottenCall = "forgotten-call",
        /// The user's view, the store and the model's input differ.
        ViewsDiffer = "views-differ",
        /// A turn without a fault is sent back modified.
        HistoryAltered = "history-altered",
        /// A call has more than one result in the history.
        ResultsRepeated = "results-repeated",
        /// The history repeats or reorders messages, or still contains messages that the user took back.
        Reordered = "reordered",
        /// The incomplete arguments of a call that never ran are sent back to the model.
        PartialArgumentsKept = "partial-arguments-kept",
        /// A stream that was cut off counts as a success.
        TruncationTaken = "truncation-taken",
        /// The error of a tool is marked as a success, although its text reports the failure.
        ErrorUnmarked = "error-unmarked",
        /// A stream without its end counts as a success: some providers of the dialect leave the stop reason out,
        /// or everything but the terminal event had arrived.
        EndAssumed = "end-assumed",
        /// The system ignores the provider: it does not wait as asked, or repeats a refused request.
        ProviderUnheeded = "provider-unheeded",
        /// A request that failed in an earlier turn is sent again in the background, and paid for again.
        AbandonedRequestRepeated = "abandoned-request-repeated",
        /// A stopped turn ends only when the provider and the tools continue.
        LateStop = "late-stop",
        /// The turn continues only after a long silence.
        Slow = "slow",
        /// The same history is worded differently from request to request, which defeats the provider's cache.
        PrefixUnstable = "prefix-unstable",
    }
}

/// The turns that do not work because of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prevented {
    /// The turn, and those after it, because of the messages in the thread.
    Thread,
    /// The turn, and those after it, whatever the thread contains.
    LaterTurns,
    /// The turn.
    OneTurn,
    /// None.
    Nothing,
}

/// The author of a finding's message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Message {
    OfTheSystem,
    Ours,
}

/// The treatment of a finding that the control plan also has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BesideControl {
    /// The plan has not passed.
    Counts,
    /// Only the control plan reports it.
    IsFolded,
}

impl Severity {
    /// The mildest severity of all: as the threshold, it makes every finding turn a run red.
    pub const MILDEST: Severity = Severity::ALL[Severity::ALL.len() - 1];

    /// The turns that do not work because of such a finding.
    pub fn prevents(self) -> Prevented {
        self.nature().0
    }

    /// True if the message of such a finding is the system's own error.
    pub fn quotes_error(self) -> bool {
        self.nature().1 == Message::OfTheSystem
    }

    /// True if a system with this finding in a control plan cannot be judged, because it cannot hold a plain
    /// conversation.
    pub fn ends_conversation(self) -> bool {
        match self.prevents() {
            Prevented::Thread | Prevented::LaterTurns => true,
            Prevented::OneTurn | Prevented::Nothing => false,
        }
    }

    /// True if the messages of a thread with such a finding prevent every later turn.
    pub fn bricks(self) -> bool {
        self.prevents() == Prevented::Thread
    }

    fn nature(self) -> (Prevented, Message, BesideControl) {
        use BesideControl::{Counts, IsFolded};
        match self {
            Severity::BrickedByClient => (Prevented::Thread, Message::OfTheSystem, IsFolded),
            Severity::BrickedByProvider => (Prevented::Thread, Message::Ours, IsFolded),
            Severity::Hang => (Prevented::LaterTurns, Message::Ours, IsFolded),
            Severity::TurnFailed => (Prevented::OneTurn, Message::OfTheSystem, IsFolded),
            Severity::RequestLoop => (Prevented::OneTurn, Message::Ours, IsFolded),
            Severity::CallDropped => (Prevented::Nothing, Message::Ours, Counts),
            Severity::UserMessageLost
            | Severity::ResultsLost
            | Severity::PartialArguments
            | Severity::ExecutedUnasked
            | Severity::ExecutedAgain
            | Severity::SuccessFabricated
            | Severity::OutcomeDenied
            | Severity::MissingArguments
            | Severity::RunsOnAfterStop
            | Severity::StuckPart
            | Severity::ForgottenCall
            | Severity::ViewsDiffer
            | Severity::HistoryAltered
            | Severity::ResultsRepeated
            | Severity::Reordered
            | Severity::PartialArgumentsKept
            | Severity::TruncationTaken
            | Severity::ErrorUnmarked
            | Severity::EndAssumed
            | Severity::ProviderUnheeded
            | Severity::AbandonedRequestRepeated
            | Severity::LateStop
            | Severity::Slow
            | Severity::PrefixUnstable => (Prevented::Nothing, Message::Ours, IsFolded),
        }
    }

    /// True if a plan with this finding has not passed even if its control plan has it, too. Findings of
    /// other severities are then reported only for the control plan.
    pub fn counts_beside_control(self) -> bool {
        self.nature().2 == BesideControl::Counts
    }

    /// True if a turn with such a finding never ends, so that the rest of the plan is not played.
    pub fn ends_no_turn(self) -> bool {
        self.prevents() == Prevented::LaterTurns
    }

    /// The mildest severity that an option value represents: a name, `bricked` or `any`.
    pub fn threshold(word: &str) -> Option<Severity> {
        match word {
            "any" => Some(Severity::MILDEST),
            "bricked" => Severity::ALL.into_iter().rfind(|severity| severity.bricks()),
            name => Severity::ALL.into_iter().find(|severity| severity.name() == name),
        }
    }
}

crate::named! {
    /// How much of its threads a system keeps; each level includes all levels below it.
    pub enum Level {
        /// The next request is strictly valid, and every turn ends.
        L0 = "L0",
        /// Repairs are idempotent and deterministic, and valid histories stay unchanged.
        L1 = "L1",
        /// All views agree: what the user sees, what is stored, and what the model gets.
        L2 = "L2",
        /// The user and the model see exactly what really ran.
        L3 = "L3",
        /// The provider is treated with care: the prefix of requests stays, and its instructions are followed.
        L4 = "L4",
        /// Old broken histories heal.
        L5 = "L5",
    }
}

/// The record that a check was applied to a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Asked {
    /// The check.
    pub check: &'static str,
    /// The level that the check belongs to.
    pub level: Level,
    /// True if the run contained anything that the check can judge.
    pub spoke: bool,
    /// True if its evidence rests on what the application does around the system, so that it proves nothing
    /// about the system.
    pub is_of_application: bool,
}

/// How lasting a failure is.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Permanence {
    /// The last follow-up turn also fails.
    Permanent,
    /// A later turn works again, or fails because of the application.
    Transient,
}

/// One problem, with its evidence.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
pub struct Finding {
    /// The check that found it.
    pub check: &'static str,
    /// The severity: what the user loses.
    #[serde(rename = "harm")]
    pub severity: Severity,
    /// How lasting it is, if the finding is about a failure that may last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permanence: Option<Permanence>,
    /// The problem, in one sentence.
    pub message: String,
    /// The turn and the request, and the location in the request.
    #[serde(rename = "where")]
    pub place: String,
    /// The provider's rule that is broken, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<&'static str>,
    /// The interruption of the system before it, or another unusual event.
    pub trigger: Trigger,
    /// The state of the calls that it concerns.
    pub calls: CallState,
    /// The model that the system was asked to use, if one was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The expected behaviour.
    pub expected: String,
    /// The observed behaviour.
    pub got: String,
    /// Its consequences: other findings of the same plan with the same cause.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<Finding>,
    /// The duty that makes the finding the application's, if it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left: Option<Left>,
    /// The duties that its evidence rests on: if the application performs one of them, the finding is not the
    /// system's.
    #[serde(skip)]
    #[schemars(skip)]
    pub rests_on: Vec<Duty>,
    /// The subject of the finding.
    #[serde(skip)]
    #[schemars(skip)]
    pub about: About,
}

/// The subject of a finding, by which findings with one cause are recognised.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct About {
    /// The 0-based index of the turn in which the problem occurs, or whose message is missing.
    pub turn: Option<usize>,
    /// The calls that the finding names, or that caused a request to be refused.
    pub calls: Vec<CallKey>,
    /// The request that was judged.
    pub request: Option<ExchangeId>,
    /// The refused requests in the thread, if the finding reports them.
    pub refused: Vec<ExchangeId>,
    /// The duties on which the last turn's failure rests, if the thread does not recover.
    pub lasts_on: Vec<Duty>,
}

impl Finding {
    /// A finding with only a check, a severity and a message.
    pub fn new(check: &'static str, severity: Severity, message: &str) -> Finding {
        Finding {
            check,
            severity,
            permanence: None,
            message: message.to_owned(),
            place: String::new(),
            rule: None,
            trigger: Trigger::Nothing,
            calls: CallState::NoCall,
            model: None,
            expected: String::new(),
            got: String::new(),
            also: Vec::new(),
            left: None,
            rests_on: Vec::new(),
            about: About::default(),
        }
    }

    /// The finding and all its consequences.
    pub fn with_also(&self) -> impl Iterator<Item = &Finding> {
        std::iter::once(self).chain(&self.also)
    }

    /// Adds calls to the subject of the finding.
    #[must_use]
    pub fn of_calls(mut self, calls: impl IntoIterator<Item = CallKey>) -> Finding {
        self.about.calls.extend(calls);
        self
    }

    /// Sets the turn in which the finding occurs.
    #[must_use]
    pub fn of_turn(mut self, turn: usize) -> Finding {
        self.about.turn = Some(turn);
        self
    }

    /// The finding alongside this application: if the application causes the last failure of a thread, the
    /// system has not bricked the thread.
    #[must_use]
    pub fn beside(self, application: &Application) -> Finding {
        let is_permanent = self.permanence == Some(Permanence::Permanent);
        if !is_permanent
            || application.does_any(&self.rests_on)
            || !application.does_any(&self.about.lasts_on)
        {
            return self;
        }
        // The error of a system is part of the cause, so only the sentence of a rule is extended.
        let later = if self.rule.is_some() { LEFT_REFUSED } else { "" };
        let message = self.message + later;
        Finding { severity: Severity::TurnFailed, permanence: Some(Permanence::Transient), message, ..self }
    }

    /// The finding as the application's, with the duty that makes it so.
    #[must_use]
    pub fn left_to(self, application: &Application) -> Finding {
        let left = application.first_of(&self.rests_on).cloned();
        Finding { left, ..self }
    }

    /// The finding with evidence that rests on these duties.
    #[must_use]
    pub fn resting_on(self, duties: &[Duty]) -> Finding {
        Finding { rests_on: duties.to_vec(), ..self }
    }
}

/// The end of the sentence about a turn after which the application keeps the thread from working.
const LEFT_REFUSED: &str = "; later turns fail, too, because of a task that is the application's";

/// A verdict with its evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Judgement {
    /// The verdict on the plan.
    pub verdict: Verdict,
    /// The findings, worst first.
    pub findings: Vec<Finding>,
    /// Findings that would count if the application's duties were the system's. They are never counted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub application: Vec<Finding>,
    /// The repairs that the adapter made in the application's place. A finding may be missing due to them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub repaired: Vec<Repaired>,
    /// Why the verdict is neither pass nor fail; absent for both.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The checks that were applied: all of them, or none if nothing was judged.
    #[serde(skip)]
    pub asked: Vec<Asked>,
}

impl Judgement {
    /// A verdict without a run.
    pub fn without_run(verdict: Verdict, reason: impl Into<String>) -> Judgement {
        Judgement { reason: Some(reason.into()), ..Judgement::with_findings(verdict, Vec::new()) }
    }

    /// A verdict with findings of the system only.
    pub fn with_findings(verdict: Verdict, findings: Vec<Finding>) -> Judgement {
        Judgement {
            verdict,
            findings,
            application: Vec::new(),
            repaired: Vec::new(),
            reason: None,
            asked: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_bricked_means_the_severities_that_brick_a_thread() {
        let mildest = Severity::threshold("bricked").expect("the word");
        for severity in Severity::ALL {
            assert_eq!(severity.bricks(), severity <= mildest, "{}", severity.name());
        }
    }
}
