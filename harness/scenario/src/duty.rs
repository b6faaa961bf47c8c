//! Who is responsible for something: the system, or the application around it.
//!
//! An SDK leaves part of the work to the application that uses it, and an adapter then does that part instead
//! of the application. A fault in that part is not a bug of the SDK. So a finding lists the duties on which
//! its evidence rests, and the table of duties, or the manifest of a user, lists those that the application
//! performs. If the two overlap, the finding belongs to the application.
//!
//! A store that the SDK ships is never the application's, and neither is the user's message in it. A sentence
//! that says *when* such a store is written leaves only the work of a turn that was still running
//! (`unfinished`), or of one that was stopped or failed (`turns`).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

crate::named! {
    /// A task that an SDK may leave to the application.
    pub enum Duty {
        /// It stores the thread and returns it to the SDK in the next turn or the next process.
        Store = "store",
        /// It stores the user's message before the turn begins, and keeps it if the turn fails.
        Input = "input",
        /// It decides how a call is shown: the SDK has no state for each call that a user would see.
        States = "states",
        /// It runs the tools that the model calls, and answers each call.
        Loop = "loop",
        /// It keeps the questions to the user about calls, and answers each of them before the next prompt.
        Questions = "questions",
        /// It continues the conversation after the user has refused a call: the system states that a refusal ends
        /// the turn.
        Refusals = "refusals",
        /// It runs the client's tools, and returns a result for each call that it was given before the next
        /// prompt.
        Client = "client",
        /// It keeps the output of a step that a stop interrupted: the system states that it returns only
        /// complete steps.
        Steps = "steps",
        /// It keeps the output of a turn that was stopped or failed: the system states that it stores a turn
        /// when the turn is over.
        Turns = "turns",
        /// It keeps the output of a turn that still runs, in case its process dies: the system states that it
        /// writes its store when the turn is over.
        Unfinished = "unfinished",
        /// It makes its tools end when it stops a turn: the system states that it waits for them.
        Tools = "tools",
        /// It stops a turn in a way that lets the current step continue, as the system states, to its end or
        /// to the system's next check.
        Stop = "stop",
        /// It repeats a message whose reply was empty or broke off: the system states that it leaves such
        /// turns out.
        Invalid = "invalid",
        /// It repairs a thread that was broken before it was loaded.
        Repair = "repair",
    }
}

/// A sentence of a documentation, and its address.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Statement {
    /// The sentence, word for word.
    pub says: String,
    /// The address of the page, or of the file with the documentation comment.
    pub at: String,
}

/// The duty that makes a finding the application's.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Left {
    /// The duty.
    pub duty: Duty,
    /// The statement of the documentation; missing if a manifest of the user lists the duty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub documented: Option<Statement>,
}

impl Left {
    /// The duty as text, with the sentence that leaves it to the application.
    pub fn words(&self) -> String {
        match &self.documented {
            Some(Statement { says, at }) => {
                format!("`{}`, as documented: \"{says}\" ({at})", self.duty.name())
            }
            None => format!("`{}`, as the manifest says", self.duty.name()),
        }
    }
}

/// The repairs of one kind that an adapter has made in the application's place, in one run.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Repaired {
    /// The name of the repair.
    pub repair: String,
    /// The number of turns with this repair.
    pub turns: usize,
    /// The statement of the documentation that asks for it; missing if the adapter is the user's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub documented: Option<Statement>,
}

/// The duties that the application performs around a system. `None` if the system performs all of them itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Application {
    duties: Vec<Left>,
    repairs: BTreeMap<String, Statement>,
}

impl Application {
    /// An application with these duties. Storing the thread includes repairing it, unless the system
    /// `repairs` it.
    pub fn with(duties: &[Duty], repairs: Repairs) -> Application {
        Application::documented(duties.iter().map(|duty| Left { duty: *duty, documented: None }), repairs)
    }

    /// The same with the statements of the documentation.
    pub fn documented(duties: impl IntoIterator<Item = Left>, repairs: Repairs) -> Application {
        let mut duties: Vec<Left> = duties.into_iter().collect();
        let store = duties.iter().find(|left| left.duty == Duty::Store);
        let repair = store.map(|store| Left { duty: Duty::Repair, ..store.clone() });
        duties.extend(repair.filter(|_| repairs == Repairs::Never));
        duties.sort();
        duties.dedup();
        Application { duties, repairs: BTreeMap::new() }
    }

    /// The same with the repairs that the adapter makes in the application's place, by name.
    #[must_use]
    pub fn repairing(self, repairs: BTreeMap<String, Statement>) -> Application {
        Application { repairs, ..self }
    }

    /// True if the application performs one of these.
    pub fn does_any(&self, duties: &[Duty]) -> bool {
        self.first_of(duties).is_some()
    }

    /// The first duty among these that the application performs.
    pub fn first_of(&self, duties: &[Duty]) -> Option<&Left> {
        self.duties.iter().find(|left| duties.contains(&left.duty))
    }

    /// Counts the repairs that an adapter reports, one name for each turn with that repair.
    pub fn repaired<'a>(&self, names: impl Iterator<Item = &'a str>) -> Vec<Repaired> {
        let mut turns: BTreeMap<&str, usize> = BTreeMap::new();
        names.for_each(|name| *turns.entry(name).or_default() += 1);
        let repaired = turns.into_iter().map(|(name, turns)| Repaired {
            repair: name.to_owned(),
            turns,
            documented: self.repairs.get(name).cloned(),
        });
        repaired.collect()
    }
}

/// The claim of a system to repair threads that were broken before it got them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repairs {
    /// The system claims it.
    Claimed,
    /// The system does not claim it, or leaves repairs to the application.
    Never,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn storing_the_thread_includes_repairing_it_unless_the_system_does() {
        let never = Application::with(&[Duty::Store], Repairs::Never);
        assert!(never.does_any(&[Duty::Input, Duty::Repair]) && !never.does_any(&[Duty::Loop]));
        assert!(!Application::with(&[Duty::Store], Repairs::Claimed).does_any(&[Duty::Repair]));
        assert!(!Application::default().does_any(&Duty::ALL));
        assert!(!never.does_any(&[]));
    }
}
