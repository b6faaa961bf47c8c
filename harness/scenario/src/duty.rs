//! Who is responsible for something: the system, or the application around it.
//!
//! An SDK leaves part of the work to the application that uses it, and an adapter then does that part instead
//! of the application. A fault in that part is not a bug of the SDK. So a finding lists the duties on which
//! its evidence rests, and a manifest lists those that the application performs. If the two overlap, the
//! finding belongs to the application.

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
        /// It runs the client's tools, and returns a result for each call that it was given before the next
        /// prompt.
        Client = "client",
        /// It keeps the output of a step that a stop interrupted: the system states that it returns only
        /// complete steps.
        Steps = "steps",
        /// It keeps the output of a turn that was stopped or failed: the system states that it stores a turn
        /// when the turn is over.
        Turns = "turns",
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

/// The duties that the application performs around a system. `None` if the system performs all of them itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Application {
    duties: Vec<Duty>,
}

impl Application {
    /// An application with these duties. Storing the thread includes repairing it, unless the system
    /// `repairs` it.
    pub fn with(duties: &[Duty], repairs: Repairs) -> Application {
        let mut duties = duties.to_vec();
        if repairs == Repairs::Never && duties.contains(&Duty::Store) {
            duties.push(Duty::Repair);
        }
        duties.sort();
        duties.dedup();
        Application { duties }
    }

    /// True if the application performs one of these.
    pub fn does_any(&self, duties: &[Duty]) -> bool {
        duties.iter().any(|duty| self.duties.contains(duty))
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
