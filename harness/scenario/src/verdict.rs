//! Verdicts: what a plan's run says about the system.

use serde::{Deserialize, Serialize};

/// The judgement over one plan.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Nothing is wrong, and everything planned happened.
    Pass,
    /// Something is wrong with the system.
    Fail,
    /// It is not proven that the fault happened where it was planned.
    Vacuous,
    /// The plan could not be judged: its control plan failed.
    Inconclusive,
    /// This system never gets to that point.
    Unreachable,
    /// The system lacks what the scenario needs.
    Unsupported,
    /// The plan was not run.
    NotRun,
    /// The harness or the adapter failed.
    HarnessError,
}

impl Verdict {
    /// Every verdict, in the order of the summary.
    pub const ALL: [Verdict; 8] = [
        Verdict::Pass,
        Verdict::Fail,
        Verdict::Vacuous,
        Verdict::Inconclusive,
        Verdict::Unreachable,
        Verdict::Unsupported,
        Verdict::NotRun,
        Verdict::HarnessError,
    ];

    /// Whether a plan could not be judged although it should have been. That makes a run red, whatever else it found.
    pub fn is_unjudged(self) -> bool {
        match self {
            Verdict::Vacuous | Verdict::Inconclusive | Verdict::NotRun | Verdict::HarnessError => true,
            Verdict::Pass | Verdict::Fail | Verdict::Unreachable | Verdict::Unsupported => false,
        }
    }

    /// The word that reports use.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Pass => "pass",
            Verdict::Fail => "fail",
            Verdict::Vacuous => "vacuous",
            Verdict::Inconclusive => "inconclusive",
            Verdict::Unreachable => "unreachable",
            Verdict::Unsupported => "unsupported",
            Verdict::NotRun => "not-run",
            Verdict::HarnessError => "harness-error",
        }
    }
}

/// What the user of a system loses, the worst first.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Harm {
    /// The provider refuses the history.
    BrickedByProvider,
    /// The SDK raises an error and sends nothing.
    BrickedByClient,
    /// What the user said is gone.
    UserMessageLost,
    /// Results that had come are gone.
    ResultsLost,
    /// A call ran, or is remembered, with arguments that the model never gave.
    PartialArguments,
    /// A call ran without the user's consent, which it needs.
    ExecutedUnasked,
    /// A call ran twice, or in a later turn.
    ExecutedAgain,
    /// A call that did not succeed is recorded as a success.
    SuccessFabricated,
    /// A call that ran is recorded as one that did not run, or one that succeeded as one that failed.
    OutcomeDenied,
    /// The turn does not end.
    Hang,
    /// Requests without end.
    RequestLoop,
    /// A call is shown as running for ever.
    StuckPart,
    /// The user is shown, or the store holds, something else than the model is told.
    ViewsDiffer,
    /// A turn in which nothing went wrong is told otherwise than it happened.
    HistoryAltered,
    /// The history tells things in another order, more than once, or that were taken back.
    Reordered,
    /// A stream that was cut off is taken for a success.
    TruncationTaken,
    /// What the provider asks for is not heeded: a pause, or to give up what it refuses.
    ProviderUnheeded,
    /// The history is told in other words from request to request, so that the provider's cache is of no use.
    PrefixUnstable,
}

impl Harm {
    /// Every harm, the worst first.
    pub const ALL: [Harm; 18] = [
        Harm::BrickedByProvider,
        Harm::BrickedByClient,
        Harm::UserMessageLost,
        Harm::ResultsLost,
        Harm::PartialArguments,
        Harm::ExecutedUnasked,
        Harm::ExecutedAgain,
        Harm::SuccessFabricated,
        Harm::OutcomeDenied,
        Harm::Hang,
        Harm::RequestLoop,
        Harm::StuckPart,
        Harm::ViewsDiffer,
        Harm::HistoryAltered,
        Harm::Reordered,
        Harm::TruncationTaken,
        Harm::ProviderUnheeded,
        Harm::PrefixUnstable,
    ];

    /// The mildest of all: what makes a run red where every finding does.
    pub const MILDEST: Harm = Harm::PrefixUnstable;

    /// The word that reports and options use.
    pub fn name(self) -> &'static str {
        match self {
            Harm::BrickedByProvider => "bricked-by-provider",
            Harm::BrickedByClient => "bricked-by-client",
            Harm::UserMessageLost => "user-message-lost",
            Harm::ResultsLost => "results-lost",
            Harm::PartialArguments => "partial-arguments",
            Harm::ExecutedUnasked => "executed-unasked",
            Harm::ExecutedAgain => "executed-again",
            Harm::SuccessFabricated => "success-fabricated",
            Harm::OutcomeDenied => "outcome-denied",
            Harm::Hang => "hang",
            Harm::RequestLoop => "request-loop",
            Harm::StuckPart => "stuck-part",
            Harm::ViewsDiffer => "views-differ",
            Harm::HistoryAltered => "history-altered",
            Harm::Reordered => "reordered",
            Harm::TruncationTaken => "truncation-taken",
            Harm::ProviderUnheeded => "provider-unheeded",
            Harm::PrefixUnstable => "prefix-unstable",
        }
    }

    /// The mildest harm that an option value stands for: a name, or `bricked`, or `any`.
    pub fn threshold(word: &str) -> Option<Harm> {
        match word {
            "any" => Some(Harm::MILDEST),
            "bricked" => Some(Harm::BrickedByClient),
            name => Harm::ALL.into_iter().find(|harm| harm.name() == name),
        }
    }
}

/// How much a system keeps of its threads, each level with all below it.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
pub enum Level {
    /// The next request is strictly valid, and every turn ends.
    L0,
    /// Repairs are idempotent and deterministic, and what is whole is left alone.
    L1,
    /// All views agree: what the user is shown, what is stored, what the model is told.
    L2,
    /// What is told is honest against the ledger of what really ran.
    L3,
    /// The provider is treated with care: the prefix of requests stays, and what it asks for is heeded.
    L4,
    /// Old broken histories heal.
    L5,
}

impl Level {
    /// Every level, the lowest first.
    pub const ALL: [Level; 6] = [Level::L0, Level::L1, Level::L2, Level::L3, Level::L4, Level::L5];

    /// The word that reports use.
    pub fn name(self) -> &'static str {
        match self {
            Level::L0 => "L0",
            Level::L1 => "L1",
            Level::L2 => "L2",
            Level::L3 => "L3",
            Level::L4 => "L4",
            Level::L5 => "L5",
        }
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
}

/// Whether the thread recovers.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Permanence {
    /// The last follow-up turn fails as well.
    Permanent,
    /// A later turn works again.
    Transient,
}

/// One thing that is wrong, with its evidence.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
pub struct Finding {
    /// The checker that found it.
    pub check: &'static str,
    /// What the user loses.
    pub harm: Harm,
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
    /// What was expected.
    pub expected: String,
    /// What was found.
    pub got: String,
}

/// A verdict with its evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// What is wrong, the worst first.
    pub findings: Vec<Finding>,
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
        Judgement { verdict, findings: Vec::new(), reason: Some(reason.into()), asked: Vec::new() }
    }
}
