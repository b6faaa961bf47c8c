//! Numbers within the bounds of a schema.

use serde_json::Value;

use brickbat_scenario::random::Random;

/// Numbers are chosen from the lowest allowed value up to this much above it.
const SPREAD: u64 = 9;

/// The largest integer that is chosen: JSON readers represent integers up to here exactly.
const MOST: f64 = 9_007_199_254_740_991.0;

/// An integer.
pub(super) fn integer(schema: &Value, random: &mut Random) -> Value {
    let bounds = Bounds::of(schema);
    bounds.whole(random).map_or_else(|| Value::from(bounds.low.clamp(-MOST, MOST) as i64), Value::from)
}

/// A number; an integer if one fits.
pub(super) fn number(schema: &Value, random: &mut Random) -> Value {
    let bounds = Bounds::of(schema);
    match bounds.whole(random) {
        Some(number) => Value::from(number),
        None => Value::from(bounds.low + (bounds.high - bounds.low) / 2.0),
    }
}

struct Bounds {
    low: f64,
    high: f64,
    /// True if the bound itself is excluded: for the lower and the upper bound.
    excludes: [bool; 2],
    step: f64,
}

impl Bounds {
    fn of(schema: &Value) -> Bounds {
        let number = |key: &str| schema.get(key).and_then(Value::as_f64);
        // Older drafts have a boolean for an exclusive bound.
        let excludes = |key: &str| schema.get(key) == Some(&Value::Bool(true));
        let (least, above) = (number("minimum"), number("exclusiveMinimum"));
        let (most, below) = (number("maximum"), number("exclusiveMaximum"));
        let low = [least, above].into_iter().flatten().fold(f64::NEG_INFINITY, f64::max);
        let high = [most, below].into_iter().flatten().fold(f64::INFINITY, f64::min);
        let (low, high) = match (low.is_finite(), high.is_finite()) {
            (true, true) => (low, high),
            (true, false) => (low, low + SPREAD as f64 * number("multipleOf").unwrap_or(1.0).max(1.0) + 1.0),
            (false, true) => {
                (high - SPREAD as f64 * number("multipleOf").unwrap_or(1.0).max(1.0) - 1.0, high)
            }
            (false, false) => (1.0, 1.0 + SPREAD as f64 * number("multipleOf").unwrap_or(1.0).max(1.0)),
        };
        Bounds {
            low,
            high,
            excludes: [
                excludes("exclusiveMinimum") || above == Some(low),
                excludes("exclusiveMaximum") || below == Some(high),
            ],
            step: number("multipleOf").filter(|step| *step >= 1.0 && step.fract() == 0.0).unwrap_or(1.0),
        }
    }

    /// An integer within the bounds, if there is one.
    fn whole(&self, random: &mut Random) -> Option<i64> {
        let [without_low, without_high] = self.excludes;
        let mut least = (self.low / self.step).ceil();
        let mut most = (self.high / self.step).floor();
        if without_low && least * self.step <= self.low {
            least += 1.0;
        }
        if without_high && most * self.step >= self.high {
            most -= 1.0;
        }
        if least > most || least.abs() * self.step > MOST {
            return None;
        }
        let spread = (most - least).min(SPREAD as f64) as u64;
        let drawn = (least + random.below(spread + 1) as f64) * self.step;
        (drawn.abs() <= MOST).then_some(drawn as i64)
    }
}
