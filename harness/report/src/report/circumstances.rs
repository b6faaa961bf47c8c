//! The circumstances of a run, and the report of a run in them.

use super::{Account, EarlyEnd, Report, Shard, Stopped, Timing};

/// The parts of a report that do not follow from its cases.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Circumstances {
    /// The dated requirements that ran completely.
    pub requirements: Option<String>,
    /// The words that selected the plans, such as `--exclude kill/`; empty for all plans.
    pub selection: Vec<String>,
    /// The part of the run that the report covers; `None` for all of it.
    pub shard: Option<Shard>,
    /// The reason why the run ended early, if it did.
    pub stopped: Option<EarlyEnd>,
    /// Milliseconds from start to end, if they are known.
    pub wall_ms: Option<u64>,
}

impl Report {
    /// The report of a run in these circumstances.
    ///
    /// Only a run of complete requirements has a level. A shard and a run that ended early have none.
    #[must_use]
    pub fn of_run(self, run: Circumstances) -> Report {
        let Circumstances { requirements, selection, shard, stopped, wall_ms } = run;
        let requirements = requirements.filter(|_| stopped.is_none());
        let accounts = if requirements.is_some() && shard.is_none() {
            self.accounts
        } else {
            self.accounts.into_iter().map(Account::without_level).collect()
        };
        let cases_ms = self.cases.iter().map(|case| case.took_ms.unwrap_or(0)).collect();
        let timing = wall_ms.map(|wall_ms| Timing { wall_ms, cases_ms });
        let report = Report { requirements, selection, shard, timing, accounts, ..self };
        Report { stopped: stopped.map(|end| Stopped::of(&report, end)), ..report }
    }
}
