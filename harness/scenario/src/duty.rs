//! Whose something is: the system's, or the application's around it.
//!
//! An SDK leaves a part of the work to the application that uses it, and then an adapter does that part in the
//! application's place. What is wrong there is no bug of the SDK. So a finding says what its evidence rests on, and a
//! manifest says what of that the application does; where the two meet, the finding is the application's.

crate::named! {
    /// What an application may have to do around an SDK.
    pub enum Duty {
        /// It stores the thread, and gives it back to the SDK in the next turn or the next process.
        Store = "store",
        /// It stores what the user said before the turn begins, and has it still when the turn fails.
        Input = "input",
        /// It decides what a call is shown as: the SDK has no state for each call that a user would see.
        States = "states",
        /// It runs the tools that the model calls, and answers each call.
        Loop = "loop",
        /// It keeps what the user is asked about calls, and answers each question before the next prompt.
        Questions = "questions",
        /// It runs the tools of the user's side, and hands in a result for each call that it was handed before the next prompt.
        Client = "client",
        /// It keeps what a step brought that a stop broke off: the system says that it hands on whole steps.
        Steps = "steps",
        /// It keeps what a turn brought that was stopped or failed: the system says that it stores a turn when it is over.
        Turns = "turns",
        /// It has its tools end when it stops a turn: the system says that it waits for them.
        Tools = "tools",
        /// It stops a turn in a way in which, as the system says, the step under way goes on, to its end or to where the
        /// system looks next.
        Stop = "stop",
        /// It says again what had an empty reply, or one that broke off: the system says that it leaves such turns out.
        Invalid = "invalid",
        /// It mends a thread that was broken before it was loaded.
        Repair = "repair",
    }
}

/// What the application does around a system. Nothing, where the system does all of it itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Application {
    duties: Vec<Duty>,
}

impl Application {
    /// Of an application with those duties. To store the thread is to mend it as well, unless the system `repairs` it.
    pub fn with(duties: &[Duty], repairs: Repairs) -> Application {
        let mut duties = duties.to_vec();
        if repairs == Repairs::Never && duties.contains(&Duty::Store) {
            duties.push(Duty::Repair);
        }
        duties.sort();
        duties.dedup();
        Application { duties }
    }

    /// Whether it does one of these.
    pub fn does_any(&self, duties: &[Duty]) -> bool {
        duties.iter().any(|duty| self.duties.contains(duty))
    }
}

/// Whether a system says that it mends threads that were broken when it got them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repairs {
    /// It does.
    Claimed,
    /// It does not, or leaves it to the application.
    Never,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_stores_the_thread_mends_it_unless_the_system_does() {
        let never = Application::with(&[Duty::Store], Repairs::Never);
        assert!(never.does_any(&[Duty::Input, Duty::Repair]) && !never.does_any(&[Duty::Loop]));
        assert!(!Application::with(&[Duty::Store], Repairs::Claimed).does_any(&[Duty::Repair]));
        assert!(!Application::default().does_any(&Duty::ALL));
        assert!(!never.does_any(&[]));
    }
}
