//! A filter's description of itself: one mode of its manifest, and one route through it.

use std::collections::BTreeMap;

use brickbat_rules::histories::generate::{Fault, Mending};
use brickbat_rules::{Dialect, Profile};
use serde::{Deserialize, Serialize};

/// The purpose of a filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Converts a history to another dialect or format.
    Converter,
    /// A converter between client and provider.
    Gateway,
    /// Fixes histories that a provider would reject.
    Repairer,
    /// Removes messages until the rest fits.
    Trimmer,
    /// Replaces messages with a summary.
    Compactor,
}

/// The format of a filter's input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// A request body of the dialect.
    #[default]
    Request,
    /// A list of the AI SDK's `ModelMessage`.
    AiSdkModel,
    /// A list of the AI SDK's `UIMessage`.
    AiSdkUi,
    /// A list of pydantic-ai's `ModelMessage`, as JSON.
    PydanticAi,
}

impl Form {
    /// Returns its name in a manifest.
    pub fn name(self) -> &'static str {
        match self {
            Form::Request => "request",
            Form::AiSdkModel => "ai-sdk-model",
            Form::AiSdkUi => "ai-sdk-ui",
            Form::PydanticAi => "pydantic-ai",
        }
    }
}

/// The unit of a budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Budget {
    /// No budget.
    #[default]
    None,
    /// Entries in the message list, without instructions.
    Messages,
    /// Tokens, according to the filter's counter.
    Tokens,
}

/// A loss or change by design.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Loss {
    /// Complete messages are removed.
    DropsMessages,
    /// Calls are removed, with their results.
    DropsCalls,
    /// The text of results is replaced or shortened.
    ClearsResults,
    /// Thinking and signatures are removed.
    DropsThinking,
    /// Images are removed.
    DropsPictures,
    /// Text is rewritten, summarised, or joined.
    ChangesText,
    /// A valid history is written in another form with the same meaning.
    ChangesForm,
    /// Calls get new ids.
    ChangesIds,
    /// Messages or calls are reordered.
    Reorders,
    /// A call without a result gets one that does not state that none was recorded.
    MakesUpResults,
    /// More is kept than the budget allows, so that the rest stays legal.
    ExceedsBudget,
}

/// One way to use a filter.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mode {
    /// The name, in kebab-case.
    pub name: String,
    /// The purpose of the filter in this mode.
    pub kind: Kind,
    /// A description of the called function.
    pub description: String,
    /// The dialects of the input.
    pub from: Vec<Dialect>,
    /// The dialect of the output. The default is the dialect of the input.
    pub to: Option<Dialect>,
    /// The name of the profile that judges the output. The default is the newest of its dialect.
    pub profile: Option<String>,
    /// The model in the output. The default is the model of the input.
    pub model: Option<String>,
    /// The format of the input.
    #[serde(default)]
    pub form: Form,
    /// True if the driver can run the same conversion without the filter.
    #[serde(default)]
    pub control: bool,
    /// The unit of the budget.
    #[serde(default)]
    pub budget: Budget,
    /// True if the filter claims to fix everything that can be fixed.
    #[serde(default)]
    pub repairs: bool,
    /// The faults that it claims to fix, if not all.
    #[serde(default)]
    pub mends: Vec<String>,
    /// The name of the mode that converts back.
    pub back: Option<String>,
    /// True if it can be applied repeatedly.
    #[serde(default = "yes")]
    pub rounds: bool,
    /// The documented kinds of errors for broken histories.
    #[serde(default)]
    pub refuses: Vec<String>,
    /// Histories that it rejects by design although the provider accepts them.
    #[serde(default)]
    pub declines: Vec<Declined>,
    /// Losses by design, each with a link to its documentation.
    #[serde(default)]
    pub declares: BTreeMap<Loss, String>,
}

/// A rejection by design: an error of this kind with this message. Any other error is still a finding.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Declined {
    /// The class or the code.
    pub kind: String,
    /// A part of the message.
    pub says: String,
    /// A link to its documentation.
    pub link: String,
}

fn yes() -> bool {
    true
}

impl Mode {
    /// Creates a mode that declares nothing.
    pub(crate) fn new(name: &str, kind: Kind, description: &str, from: &[Dialect]) -> Mode {
        Mode {
            name: name.to_owned(),
            kind,
            description: description.to_owned(),
            from: from.to_vec(),
            to: None,
            profile: None,
            model: None,
            form: Form::default(),
            control: false,
            budget: Budget::None,
            repairs: false,
            mends: Vec::new(),
            back: None,
            rounds: true,
            refuses: Vec::new(),
            declines: Vec::new(),
            declares: BTreeMap::new(),
        }
    }

    /// Returns the first error that the types do not rule out: the key, and a description.
    pub fn complaint(&self) -> Option<(String, String)> {
        let wrong = |key: &str, words: String| Some((key.to_owned(), words));
        if self.from.is_empty() {
            return wrong("from", "this needs at least one dialect".to_owned());
        }
        if let Some(profile) = &self.profile {
            match Profile::named(profile) {
                None => return wrong("profile", format!("there is no profile `{profile}`")),
                Some(known) if self.to.is_some_and(|to| to != known.dialect) => {
                    return wrong("profile", format!("`{profile}` is of another dialect than `to`"));
                }
                Some(known) if self.to.is_none() && self.from.iter().any(|from| *from != known.dialect) => {
                    return wrong("profile", format!("`{profile}` is of another dialect than `from`"));
                }
                Some(_) => {}
            }
        }
        let is_known = |name: &String| Fault::all().any(|fault| fault.name() == name);
        if let Some(at) = self.mends.iter().position(|name| !is_known(name)) {
            let names: Vec<&str> = mendable().map(Fault::name).collect();
            return wrong(&format!("mends/{at}"), format!("there is {}", names.join(", ")));
        }
        if let Some(at) = self.declines.iter().position(|own| own.says.trim().is_empty()) {
            return wrong(&format!("declines/{at}/says"), "this needs words of the message".to_owned());
        }
        if self.repairs && !self.mends.is_empty() {
            return wrong("mends", "with `repairs: true` it repairs all of them".to_owned());
        }
        if self.form != Form::Request && self.control {
            return wrong("control", "a form that goes in only has no way round".to_owned());
        }
        None
    }

    /// Returns the faults that it claims to fix.
    pub fn faults(&self) -> Vec<Fault> {
        mendable()
            .filter(|fault| self.repairs || self.mends.iter().any(|name| name == fault.name()))
            .collect()
    }

    /// Returns the link to the documentation of a rejection by design. `None` if it is not documented.
    pub fn declined(&self, kind: &str, message: &str) -> Option<&str> {
        let is_meant = |own: &&Declined| own.kind == kind && message.contains(&own.says);
        self.declines.iter().find(is_meant).map(|own| own.link.as_str())
    }

    /// Returns whether it declares this loss.
    pub fn declares(&self, loss: Loss) -> bool {
        self.declares.contains_key(&loss)
    }

    /// Returns whether it removes messages, because of its kind or by its declaration.
    pub fn drops(&self) -> bool {
        matches!(self.kind, Kind::Trimmer | Kind::Compactor) || self.declares(Loss::DropsMessages)
    }

    /// Returns each route through the mode, one per dialect of the input.
    pub fn routes(&self) -> Vec<Route<'_>> {
        self.from.iter().map(|from| Route::new(self, *from)).collect()
    }
}

fn mendable() -> impl Iterator<Item = Fault> {
    Fault::all().filter(|fault| fault.mending() == Mending::Possible)
}

/// One route through a filter: a mode, and a dialect of the input.
#[derive(Debug, Clone)]
pub struct Route<'a> {
    /// The mode.
    pub mode: &'a Mode,
    /// The dialect of the input.
    pub from: Dialect,
    /// The dialect of the output.
    pub to: Dialect,
    /// The profile that judges the output.
    pub profile: &'static Profile,
    /// The model in the output. The default is the model of the input.
    pub model: Option<String>,
}

impl<'a> Route<'a> {
    fn new(mode: &'a Mode, from: Dialect) -> Route<'a> {
        let to = mode.to.unwrap_or(from);
        let named = mode.profile.as_deref().and_then(Profile::named);
        let foreign = (from != to).then(|| to.codec().model.to_owned());
        let model = mode.model.clone().or(foreign);
        Route { mode, from, to, profile: named.unwrap_or_else(|| Profile::newest(to)), model }
    }

    /// Returns whether input and output have different dialects.
    pub fn is_foreign(&self) -> bool {
        self.from != self.to
    }

    /// Returns whether the input is a request body in the output's dialect. Then the two can be compared, and
    /// the output can be an input again.
    pub fn is_round(&self) -> bool {
        !self.is_foreign() && self.mode.form == Form::Request
    }

    /// Returns the name in reports: the mode, and the dialects.
    pub fn name(&self) -> String {
        let Route { mode, from, to, .. } = self;
        match from == to {
            true => format!("{} ({from})", mode.name),
            false => format!("{} ({from} to {to})", mode.name),
        }
    }
}
