//! The table of duties, `harness/systems/duties.yaml`: what the documentation of each SDK leaves to the
//! application, for every built-in system and mode.
//!
//! A duty applies to each mode of its system, unless an exception states why not. So two modes of a system
//! can differ only for a stated reason. The manifests of built-in systems do not list duties themselves.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::manifest::Manifest;
use brickbat_scenario::duty::{Duty, Statement};
use brickbat_scenario::parse::{self, Diagnostic};

/// The name of the file, in messages.
pub const TABLE: &str = "duties.yaml";

/// The table of duties.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Duties {
    /// The systems that ship the store of a mode, each with what ships and with the modes that use another.
    #[serde(default)]
    pub ships: BTreeMap<String, Shipped>,
    /// For each duty, the systems that leave it to the application.
    #[serde(default)]
    pub duties: BTreeMap<Duty, BTreeMap<String, Stated>>,
    /// The systems that claim to repair a thread that was already broken, although the application stores it.
    #[serde(default)]
    pub repairs: BTreeMap<String, Stated>,
    /// The repairs that an adapter makes in the application's place, by system and by name.
    #[serde(default)]
    pub adapters: BTreeMap<String, BTreeMap<String, AdapterRepair>>,
}

/// A store that comes with an SDK.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shipped {
    /// The name of the store.
    pub store: String,
    /// The modes in which the application stores the thread instead, each with the reason.
    #[serde(default)]
    pub except: BTreeMap<String, String>,
}

/// A statement of a documentation about a system.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stated {
    /// The sentence, word for word.
    pub says: String,
    /// Its address.
    pub at: String,
    /// The modes for which it does not hold, each with the reason.
    #[serde(default)]
    pub except: BTreeMap<String, String>,
}

/// A repair that an adapter makes in the application's place, because the documentation asks for it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AdapterRepair {
    /// The repair, as the end of a sentence that begins with the adapter.
    pub does: String,
    /// The sentence of the documentation that asks for it, word for word.
    pub says: String,
    /// Its address.
    pub at: String,
}

impl Duties {
    /// Reads the table for these systems.
    pub fn parse(file_name: &str, text: &str, systems: &[Manifest]) -> Result<Duties, Diagnostic> {
        parse::document(file_name, text, |table: &Duties| {
            table.complaint(systems).map(|(at, what)| (at, what.to_owned()))
        })
    }

    /// Gives each mode of a system its duties.
    pub fn apply(&self, manifest: &mut Manifest) {
        let name = &manifest.name;
        for mode in &mut manifest.modes {
            mode.documented = self.left(name, &mode.name).collect();
            mode.application = mode.documented.keys().copied().collect();
            mode.repairs = self.repairs.get(name).is_some_and(|stated| stated.holds_for(&mode.name));
            let repairs = self.adapters.get(name).into_iter().flatten();
            mode.adapter_repairs = repairs.map(|(name, repair)| (name.clone(), repair.statement())).collect();
        }
    }

    fn left(&self, system: &str, mode: &str) -> impl Iterator<Item = (Duty, Statement)> {
        let of_system = self.duties.iter().filter_map(move |(duty, rows)| Some((*duty, rows.get(system)?)));
        let holding = of_system.filter(move |(_, stated)| stated.holds_for(mode));
        holding.map(|(duty, stated)| (duty, stated.statement()))
    }

    /// An error that the types do not catch, and its location.
    fn complaint(&self, systems: &[Manifest]) -> Option<(String, &'static str)> {
        const SYSTEM: &str = "there is no built-in system of that name";
        const NAMED: &str = "this needs a name and a description";
        let modes_of = |system: &str| {
            let manifests = systems.iter().filter(|manifest| manifest.name == system);
            let modes = manifests.flat_map(|manifest| &manifest.modes).map(|mode| mode.name.as_str());
            modes.collect::<Vec<&str>>()
        };
        for (system, shipped) in &self.ships {
            let (at, modes) = (format!("/ships/{system}"), modes_of(system));
            if modes.is_empty() {
                return Some((at, SYSTEM));
            }
            if let Some(found) = complaint_about_modes(&at, &shipped.except, &modes) {
                return Some(found);
            }
        }
        let duties = self.duties.iter().flat_map(|(duty, rows)| {
            rows.iter()
                .map(move |(system, stated)| (format!("/duties/{}/{system}", duty.name()), system, stated))
        });
        let repairs =
            self.repairs.iter().map(|(system, stated)| (format!("/repairs/{system}"), system, stated));
        for (at, system, stated) in duties.chain(repairs) {
            let modes = modes_of(system);
            if modes.is_empty() {
                return Some((at, SYSTEM));
            }
            let found = complaint_about_statement(&at, &stated.says, &stated.at)
                .or_else(|| complaint_about_modes(&at, &stated.except, &modes));
            if found.is_some() {
                return found;
            }
        }
        for (system, repairs) in &self.adapters {
            let at = format!("/adapters/{system}");
            if modes_of(system).is_empty() {
                return Some((at, SYSTEM));
            }
            for (name, repair) in repairs {
                let at = format!("{at}/{name}");
                if repair.does.trim().is_empty() {
                    return Some((at, NAMED));
                }
                if let Some(found) = complaint_about_statement(&at, &repair.says, &repair.at) {
                    return Some(found);
                }
            }
        }
        self.complaint_about_stores(&modes_of)
    }

    /// A store that the SDK ships is never the application's, and only who stores a thread can leave its
    /// repair to the SDK.
    fn complaint_about_stores<'m>(
        &self,
        modes_of: &dyn Fn(&str) -> Vec<&'m str>,
    ) -> Option<(String, &'static str)> {
        const SHIPPED: &str =
            "the SDK ships the store of a mode here, and such a store is never the application's";
        const REPAIR: &str =
            "the code that stores the thread repairs it; list the claims of an SDK under `repairs`";
        const IDLE: &str = "an SDK that stores the thread repairs it anyway";
        if self.duties.contains_key(&Duty::Repair) {
            return Some(("/duties/repair".to_owned(), REPAIR));
        }
        let stores = self.duties.get(&Duty::Store);
        for (system, shipped) in &self.ships {
            let Some(store) = stores.and_then(|rows| rows.get(system)) else { continue };
            let is_shipped = |mode: &&str| !shipped.except.contains_key(*mode) && store.holds_for(mode);
            if modes_of(system).iter().any(is_shipped) {
                return Some((format!("/duties/store/{system}"), SHIPPED));
            }
        }
        let is_idle = |system: &str| stores.is_none_or(|rows| !rows.contains_key(system));
        let idle = self.repairs.keys().find(|system| is_idle(system))?;
        Some((format!("/repairs/{idle}"), IDLE))
    }
}

impl Stated {
    fn holds_for(&self, mode: &str) -> bool {
        !self.except.contains_key(mode)
    }

    fn statement(&self) -> Statement {
        Statement { says: self.says.clone(), at: self.at.clone() }
    }
}

impl AdapterRepair {
    fn statement(&self) -> Statement {
        Statement { says: self.says.clone(), at: self.at.clone() }
    }
}

/// The reason why a sentence with its address is not one.
fn complaint_about_statement(at: &str, says: &str, address: &str) -> Option<(String, &'static str)> {
    const SAYS: &str = "this needs the sentence of the documentation, word for word";
    const AT: &str = "this needs the address of the sentence, which begins with `https://`";
    if says.trim().is_empty() {
        return Some((format!("{at}/says"), SAYS));
    }
    let is_address = address.starts_with("https://") && !address.contains(char::is_whitespace);
    (!is_address).then(|| (format!("{at}/at"), AT))
}

/// The reason why a list of exceptions is wrong.
fn complaint_about_modes(
    at: &str,
    except: &BTreeMap<String, String>,
    modes: &[&str],
) -> Option<(String, &'static str)> {
    const MODE: &str = "the system has no mode of that name";
    const REASON: &str = "this needs the reason why the mode differs from the others";
    const ALL: &str = "this holds for no mode of the system";
    let at_of = |mode: &String| format!("{at}/except/{mode}");
    if let Some(mode) = except.keys().find(|mode| !modes.contains(&mode.as_str())) {
        return Some((at_of(mode), MODE));
    }
    if let Some((mode, _)) = except.iter().find(|(_, reason)| reason.trim().is_empty()) {
        return Some((at_of(mode), REASON));
    }
    modes.iter().all(|mode| except.contains_key(*mode)).then(|| (format!("{at}/except"), ALL))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::manifest::FileSource;

    const TEXT: &str = "ships:\n  own: { store: Its own., except: { old: The application has a file. } }\n\
        duties:\n  store:\n    own: { says: You store., at: \"https://own.dev\", except: { new: The SDK ships it. } }\n  \
        states:\n    own: { says: No state., at: \"https://own.dev/states\" }\n\
        repairs:\n  own: { says: It repairs., at: \"https://own.dev\", except: { new: It stores. } }\n\
        adapters:\n  own:\n    cut: { does: drops a cut reply, says: Send it again., at: \"https://own.dev/cut\" }\n";

    fn own() -> Vec<Manifest> {
        let sheet = "name: own\nsdk: own\ndescription: Mine.\nversions: [{ version: 1.0.0 }]\ndialects: [gemini]\n\
                     modes: [{ name: old, description: Old. }, { name: new, description: New. }]\ncommand: [own]\n";
        Manifest::parse("system.yaml", sheet, &FileSource::Folder("/nowhere".into())).unwrap()
    }

    fn parse(text: &str) -> Result<Duties, Diagnostic> {
        Duties::parse(TABLE, text, &own())
    }

    #[test]
    fn a_duty_holds_for_each_mode_without_an_exception() {
        let mut manifest = own().remove(0);
        parse(TEXT).unwrap().apply(&mut manifest);
        let [old, new] = [0, 1].map(|at| manifest.modes[at].clone());
        assert_eq!(old.application, [Duty::Store, Duty::States]);
        assert_eq!(new.application, [Duty::States]);
        assert!(old.repairs && !new.repairs);
        let left = old.application();
        assert!(!left.does_any(&[Duty::Repair, Duty::Input]), "the SDK claims to repair");
        let documented = left.first_of(&[Duty::States]).and_then(|left| left.documented.clone());
        assert_eq!(documented.map(|found| found.at).as_deref(), Some("https://own.dev/states"));
        let repaired = left.repaired(["cut", "cut"].into_iter()).remove(0);
        assert_eq!((repaired.turns, repaired.documented.unwrap().says.as_str()), (2, "Send it again."));
    }

    #[test]
    fn mistakes_are_shown_at_their_place() {
        for (from, to, text) in [
            ("says: No state.", "says: \"\"", "the sentence of the documentation"),
            ("\"https://own.dev/states\"", "the README", "begins with `https://`"),
            ("says: No state., ", "", "the key `says` is missing"),
            (", except: { new: The SDK ships it. }", "", "never the application's"),
            (
                "except: { new: The SDK ships it. }",
                "except: { new: \"\" }",
                "the reason why the mode differs",
            ),
            ("except: { new: The SDK ships it. }", "except: { newer: x }", "no mode of that name"),
            ("except: { new: The SDK ships it. }", "except: { new: x, old: y }", "no mode of the system"),
            ("  states:\n    own:", "  states:\n    other:", "no built-in system of that name"),
            ("  states:\n", "  repair:\n", "under `repairs`"),
            ("  store:\n", "  input:\n", "repairs it anyway"),
            ("does: drops a cut reply", "does: \"\"", "a name and a description"),
        ] {
            let error = parse(&TEXT.replacen(from, to, 1)).expect_err(to).to_string();
            assert!(error.contains(text) && error.contains(TABLE), "{to}: {error}");
        }
    }
}
