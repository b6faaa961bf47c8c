//! CPU time of work, measured in turns with a floor.

use std::time::Duration;

use crate::clock::{cpu_time, median};
use crate::figures::Wish;

/// The amount of measurement.
#[derive(Clone, Copy)]
pub struct Effort {
    pub n_rounds: usize,
    /// CPU time of one measurement in one round.
    pub spell: Duration,
}

pub const FULL: Effort = Effort { n_rounds: 11, spell: Duration::from_millis(100) };

/// For the CI run: some seconds in total.
pub const QUICK: Effort = Effort { n_rounds: 5, spell: Duration::from_millis(10) };

/// One measured piece of work.
pub struct Row<'a> {
    pub name: &'static str,
    pub work: &'a dyn Fn(),
}

/// A row that is measured alternately with its floors. `n_units` is the number of units that one
/// call processes, for the row and for each floor.
pub struct Table<'a> {
    pub of: &'a str,
    pub unit: &'static str,
    pub n_units: usize,
    pub floors: &'a [Row<'a>],
    pub rows: &'a [Row<'a>],
}

impl Table<'_> {
    /// Prints the median of each row and adds it to the figures.
    pub fn measure(&self, effort: Effort, wish: &mut Wish) {
        let all: Vec<&Row<'_>> = self.floors.iter().chain(self.rows).collect();
        let mut seconds: Vec<Vec<f64>> = vec![Vec::new(); all.len()];
        for _ in 0..effort.n_rounds {
            for (row, seconds) in all.iter().zip(&mut seconds) {
                seconds.push(seconds_per_call(row.work, effort.spell) / self.n_units as f64);
            }
        }
        println!("{}\n  {:<34} {:>10} {:>8}  ÷ floors", self.of, "", self.unit, "µs");
        for (at, (row, own)) in all.iter().zip(&seconds).enumerate() {
            let ratio = |floor: &Vec<f64>| median(own.iter().zip(floor).map(|(own, floor)| own / floor));
            let ratios: Vec<f64> = seconds.iter().take(self.floors.len()).map(ratio).collect();
            let time = median(own.iter().copied());
            print!("  {:<34} {:>10.0} {:>8.2} ", row.name, 1.0 / time, time * 1e6);
            println!("{}", ratios.iter().map(|ratio| format!(" {ratio:.2}")).collect::<String>());
            if at >= self.floors.len() {
                let floors = self.floors.iter().zip(ratios).map(|(floor, ratio)| (floor.name, ratio));
                let floors: Vec<(&str, f64)> = floors.collect();
                wish.take(format!("{}: {}", self.of, row.name), (1.0 / time, self.unit), &floors);
            }
        }
    }
}

/// Repeats calls until the CPU time is used up.
fn seconds_per_call(work: &dyn Fn(), spell: Duration) -> f64 {
    let start = cpu_time();
    let mut n_calls = 0_u32;
    loop {
        work();
        n_calls += 1;
        let spent = cpu_time() - start;
        if spent >= spell {
            return spent.as_secs_f64() / f64::from(n_calls);
        }
    }
}
