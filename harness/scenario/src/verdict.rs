//! Verdicts: what a plan's run says about the system.

use serde::{Deserialize, Serialize};

use crate::duty::{Application, Duty};
use crate::plan::CallKey;
use crate::trace::ExchangeId;

crate::named! {
    /// The judgement over one plan.
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
    /// Whether a plan could not be judged although it should have been. That makes a run red, whatever else it found.
    pub fn is_unjudged(self) -> bool {
        match self {
            Verdict::Vacuous | Verdict::Inconclusive | Verdict::NotRun | Verdict::HarnessError => true,
            Verdict::Pass | Verdict::Fail | Verdict::Unreachable | Verdict::Unsupported => false,
        }
    }
}

crate::named! {
    /// What the user of a system loses, the worst first.
    #[schemars(rename = "Harm")]
    pub enum Severity {
        /// The provider refuses the history permanently: the last turn fails as well.
        BrickedByProvider = "bricked-by-provider",
        /// The SDK raises an error or sends nothing, from then on: the last turn fails as well.
        BrickedByClient = "bricked-by-client",
        /// A message of the user is lost.
        UserMessageLost = "user-message-lost",
        /// Results that had arrived are lost.
        ResultsLost = "results-lost",
        /// A call ran, or is remembered, with arguments that the model never gave.
        PartialArguments = "partial-arguments",
        /// A call that needs the user's consent ran without it.
        ExecutedUnasked = "executed-unasked",
        /// A call ran twice, or in a later turn.
        ExecutedAgain = "executed-again",
        /// A call that did not succeed is recorded as a success.
        SuccessFabricated = "success-fabricated",
        /// A call that ran is recorded as not run, or one that succeeded is recorded as failed.
        OutcomeDenied = "outcome-denied",
        /// The turn does not end.
        Hang = "hang",
        /// The system sends requests without end.
        RequestLoop = "request-loop",
        /// A stopped turn continues: it runs tools or sends requests.
        RunsOnAfterStop = "runs-on-after-stop",
        /// A turn without a fault fails; a later one works again.
        TurnFailed = "turn-failed",
        /// A call is shown as running forever.
        StuckPart = "stuck-part",
        /// The user's view, the store and the model's input differ.
        ViewsDiffer = "views-differ",
        /// A turn without a fault is sent back modified.
        HistoryAltered = "history-altered",
        /// The history repeats or reorders messages, or still contains messages that the user took back.
        Reordered = "reordered",
        /// A stream that was cut off counts as a success.
        TruncationTaken = "truncation-taken",
        /// The system ignores the provider: it does not wait as asked, or repeats a refused request.
        ProviderUnheeded = "provider-unheeded",
        /// A stopped turn ends only when the provider and the tools continue.
        LateStop = "late-stop",
        /// The turn continues only after a long silence.
        Slow = "slow",
        /// The same history is worded differently from request to request, which defeats the provider's cache.
        PrefixUnstable = "prefix-unstable",
    }
}

impl Severity {
    /// The mildest of all: with it as the threshold, every finding makes a run red.
    pub const MILDEST: Severity = Severity::ALL[Severity::ALL.len() - 1];

    /// True if a system with this finding in a control plan cannot be judged at all: it cannot hold a plain conversation.
    pub fn ends_conversation(self) -> bool {
        matches!(self, Severity::BrickedByProvider | Severity::BrickedByClient | Severity::Hang)
    }

    /// The mildest severity that an option value stands for: a name, or `bricked`, or `any`.
    pub fn threshold(word: &str) -> Option<Severity> {
        match word {
            "any" => Some(Severity::MILDEST),
            "bricked" => Some(Severity::BrickedByClient),
            name => Severity::ALL.into_iter().find(|severity| severity.name() == name),
        }
    }
}

crate::named! {
    /// How much a system keeps of its threads, each level with all below it.
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

/// That a checker was asked about a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Asked {
    /// The checker.
    pub check: &'static str,
    /// The level that it stands for.
    pub level: Level,
    /// Whether the run had anything that it could speak about.
    pub spoke: bool,
    /// Whether its evidence rests on what the application does around the system, so that it says nothing of the system.
    pub is_of_application: bool,
}

/// Whether the thread recovers.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Permanence {
    /// The last follow-up turn fails as well.
    Permanent,
    /// A later turn works again, or fails for what the application does.
    Transient,
}

/// One thing that is wrong, with its evidence.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
pub struct Finding {
    /// The checker that found it.
    pub check: &'static str,
    /// What the user loses.
    pub harm: Severity,
    /// Whether the thread recovers, where that is the question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permanence: Option<Permanence>,
    /// What is wrong, in a sentence.
    pub message: String,
    /// Where: the turn and request, and the place in it.
    #[serde(rename = "where")]
    pub place: String,
    /// The provider's rule that is broken, if one is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<&'static str>,
    /// The model that the system was asked to use, where one was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What was expected.
    pub expected: String,
    /// What was found.
    pub got: String,
    /// What follows from it: other findings of the same plan with the same cause.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<Finding>,
    /// What its evidence rests on: where the application does one of these, it is not the system's.
    #[serde(skip)]
    #[schemars(skip)]
    pub rests_on: Vec<Duty>,
    /// What it speaks of.
    #[serde(skip)]
    #[schemars(skip)]
    pub about: About,
}

/// What a finding speaks of, by which those with one cause are known.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct About {
    /// The turn in which it shows, or whose message is missing, from 0.
    pub turn: Option<usize>,
    /// The calls that it names, or on whose account a request was refused.
    pub calls: Vec<CallKey>,
    /// The request that it was judged on.
    pub request: Option<ExchangeId>,
    /// The requests of the thread that were refused, where that is what it says.
    pub refused: Vec<ExchangeId>,
    /// What it rests on that the last turn fails as well, where the thread does not recover.
    pub lasts_on: Vec<Duty>,
}

impl Finding {
    /// A finding that says what is wrong and nothing else.
    pub fn new(check: &'static str, harm: Severity, message: &str) -> Finding {
        Finding {
            check,
            harm,
            permanence: None,
            message: message.to_owned(),
            place: String::new(),
            rule: None,
            model: None,
            expected: String::new(),
            got: String::new(),
            also: Vec::new(),
            rests_on: Vec::new(),
            about: About::default(),
        }
    }

    /// The finding and all that follows from it.
    pub fn with_also(&self) -> impl Iterator<Item = &Finding> {
        std::iter::once(self).chain(&self.also)
    }

    /// The same about these calls.
    #[must_use]
    pub fn of_calls(mut self, calls: impl IntoIterator<Item = CallKey>) -> Finding {
        self.about.calls.extend(calls);
        self
    }

    /// The same about that turn.
    #[must_use]
    pub fn of_turn(mut self, turn: usize) -> Finding {
        self.about.turn = Some(turn);
        self
    }

    /// The same where an application does its part: a thread whose last failure is the application's is not bricked by
    /// the system.
    #[must_use]
    pub fn beside(self, application: &Application) -> Finding {
        let is_permanent = self.permanence == Some(Permanence::Permanent);
        if !is_permanent
            || application.does_any(&self.rests_on)
            || !application.does_any(&self.about.lasts_on)
        {
            return self;
        }
        Finding { harm: Severity::TurnFailed, permanence: Some(Permanence::Transient), ..self }
    }

    /// The same, where the evidence rests on these.
    #[must_use]
    pub fn resting_on(self, duties: &[Duty]) -> Finding {
        Finding { rests_on: duties.to_vec(), ..self }
    }
}

/// A verdict with its evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// What is wrong, the worst first.
    pub findings: Vec<Finding>,
    /// What would be wrong if the application's part were the system's. It counts for nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub application: Vec<Finding>,
    /// Why the verdict is neither pass nor fail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The checkers that were asked: all of them, or none where nothing was judged.
    #[serde(skip)]
    pub asked: Vec<Asked>,
}

impl Judgement {
    /// A verdict that rests on no run.
    pub fn without_run(verdict: Verdict, reason: impl Into<String>) -> Judgement {
        Judgement {
            verdict,
            findings: Vec::new(),
            application: Vec::new(),
            reason: Some(reason.into()),
            asked: Vec::new(),
        }
    }
}
