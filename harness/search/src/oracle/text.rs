//! What is written of a scenario is read again as it was.

use brickbat_scenario::parse;
use brickbat_scenario::scenario::Scenario;
use brickbat_scenario::yaml;

/// Writes a scenario as a file, reads it, and writes it again; says where the two part.
///
/// # Errors
///
/// The file is not read, or it says something else.
pub fn round_trip(scenario: &Scenario) -> Result<(), String> {
    let text = yaml::text(scenario);
    let variants = parse::parse("generated.yaml", &text).map_err(|error| format!("{error}\n{text}"))?;
    let [variant] = variants.as_slice() else {
        return Err(format!("{} variants are read of one scenario\n{text}", variants.len()));
    };
    if variant.scenario != *scenario {
        return Err(format!("read as {:?}\n{text}", variant.scenario));
    }
    match yaml::text(&variant.scenario) {
        again if again == text => Ok(()),
        again => Err(format!("written as\n{text}\nand then as\n{again}")),
    }
}
