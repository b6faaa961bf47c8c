//! Our own agents as systems: the reference agent and the canaries, over HTTP, over ACP, in the simulation.

use std::path::Path;

use super::{Origin, Subject, System, UnknownSystem};
use crate::driver::Manifest;
use crate::driver::serve::MODE;
use brickbat_engine::agent::Delivery;
use brickbat_engine::flaws::Canary;
use brickbat_scenario::parse::did_you_mean;

impl Subject {
    pub(super) fn new(manifest: Manifest, mode: Option<String>, origin: Origin) -> Subject {
        Subject { manifest, mode, origin, mend: None, patience: 1.0 }
    }
}

impl System {
    /// The reference agent, or a canary, in a separate process, served over ACP by this same program.
    pub fn served(canary: Option<Canary>) -> Result<System, UnknownSystem> {
        let program = std::env::current_exe()
            .map_err(|error| UnknownSystem(format!("cannot find the program that runs: {error}")))?;
        System::served_by(&program, canary)
    }

    /// The same, served by another binary of Brickbat.
    pub fn served_by(program: &Path, canary: Option<Canary>) -> Result<System, UnknownSystem> {
        let Some(program) = program.to_str() else {
            let text = format!("the path of the program is not UTF-8: {}", program.display());
            return Err(UnknownSystem(text));
        };
        let mut command = vec![program.to_owned(), "agent".to_owned()];
        if let Some(canary) = canary {
            command.extend(["--canary".to_owned(), canary.name().to_owned()]);
        }
        let manifest = Manifest::of_command(command, std::env::temp_dir());
        let mode = Some(MODE.to_owned());
        Ok(System::Adapted(Box::new(Subject::new(manifest, mode, Origin::Own(canary)))))
    }
}

/// The planted bug that a name refers to: `canary/<name>` over HTTP, `canary/<name>/simulated`,
/// `canary/<name>/acp`.
pub(super) fn planted(name: &str) -> Result<System, UnknownSystem> {
    let mut words = name.splitn(3, '/').skip(1);
    let bug = words.next().unwrap_or_default();
    let Some(canary) = Canary::from_name(bug) else {
        let known: Vec<&str> = Canary::all().map(Canary::name).collect();
        let hint = did_you_mean(bug, &known).unwrap_or_else(|| format!("there is {}", known.join(", ")));
        return Err(UnknownSystem(format!("unknown canary `{bug}`; {hint}")));
    };
    match words.next() {
        None => Ok(System::Live(Some(canary), Delivery::Streamed)),
        Some("simulated") => Ok(System::Simulated(Some(canary))),
        Some("acp") => System::served(Some(canary)),
        Some(other) => {
            let text = format!("unknown way `{other}` to run a canary; there is acp, simulated");
            Err(UnknownSystem(text))
        }
    }
}
