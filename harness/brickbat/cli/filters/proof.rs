//! Proves the filter checks with planted bugs and correct filters.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::vectors;
use crate::cli::error::{CliError, Outcome};
use crate::cli::output::{paint, print_plain};
use brickbat_filter_suite::planted::{self, Planted, SOUND};
use brickbat_filter_suite::{Input, run};
use brickbat_report::report::text::{Tone, counted};

/// Exit code if a check misses its bug, or accuses a correct filter.
const UNPROVEN: u8 = 1;

/// The number of histories of each kind that a planted bug gets: some bugs need a rare one.
pub(in crate::cli) const N_PLANTED: u64 = 40;

/// Judges all of them; correct filters get this number of histories of each kind.
pub(super) fn execute(histories: u64) -> Outcome {
    let mut text = String::new();
    let mut n_wrong = 0;
    for planted in planted::planted() {
        let caught = caught(planted)?;
        let is_proven = caught == BTreeSet::from([planted.check]);
        n_wrong += usize::from(!is_proven);
        let by = caught.into_iter().collect::<Vec<_>>().join(", ");
        let (tone, word) = if is_proven { (Tone::Good, "caught") } else { (Tone::Bad, "WRONG ") };
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{}  {:<24}  {}",
            paint(tone, word),
            planted.own.name,
            if by.is_empty() { "by no check" } else { &by }
        );
    }
    for own in SOUND {
        let modes = (own.modes)();
        let mut filter = (own.filter)();
        let (mut n, mut n_causes) = (0, 0);
        for route in modes.iter().flat_map(|mode| mode.routes()) {
            let inputs = Input::for_route(&route, vectors(&route), 0, histories);
            let back = planted::back(&modes, &route);
            let report =
                run(filter.as_mut(), &route, back.as_ref(), inputs, |_| {}).map_err(CliError::start)?;
            n += report.judged;
            n_causes += report.causes.len();
        }
        n_wrong += usize::from(n_causes > 0 || n == 0);
        let (tone, word) = if n_causes == 0 { (Tone::Good, "sound ") } else { (Tone::Bad, "WRONG ") };
        let _ =
            writeln!(text, "{}  {:<24}  accused of {n_causes} on {n} histories", paint(tone, word), own.name);
    }
    let n_planted = planted::planted().count();
    let bugs = counted(n_planted, "planted bug");
    let _ = writeln!(text, "{bugs}, {}, {n_wrong} wrong", counted(SOUND.len(), "sound filter"));
    print_plain(&text);
    Ok(if n_wrong == 0 { 0 } else { UNPROVEN })
}

/// The checks that catch a planted bug.
pub(in crate::cli) fn caught(planted: &Planted) -> Result<BTreeSet<&'static str>, CliError> {
    let caught = planted::caught_by(&planted.own, vectors, N_PLANTED).map_err(CliError::start)?;
    Ok(caught.into_keys().collect())
}
