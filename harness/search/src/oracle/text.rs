//! Checks that a scenario that is written as YAML is read back unchanged.

use brickbat_scenario::parse;
use brickbat_scenario::scenario::Scenario;
use brickbat_scenario::yaml;

/// Writes a scenario as a file, reads it, and writes it again. Returns the difference.
pub fn round_trip(scenario: &Scenario) -> Option<String> {
    let text = yaml::text(scenario);
    let variants = match parse::parse("generated.yaml", &text) {
        Ok(variants) => variants,
        Err(error) => return Some(format!("{error}\n{text}")),
    };
    let [variant] = variants.as_slice() else {
        return Some(format!("{} variants are read of one scenario\n{text}", variants.len()));
    };
    if variant.scenario != *scenario {
        return Some(format!("read as {:?}\n{text}", variant.scenario));
    }
    let again = yaml::text(&variant.scenario);
    (again != text).then(|| format!("written as\n{text}\nand then as\n{again}"))
}
