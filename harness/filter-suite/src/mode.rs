//! What a filter says of itself: one mode of its manifest, and one way through it.

use std::collections::BTreeMap;

use brickbat_rules::histories::generate::{Fault, Mending};
use brickbat_rules::{Dialect, Profile};
use serde::{Deserialize, Serialize};

/// What a filter is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// It carries a history from one dialect, or one form, to another.
    Converter,
    /// A converter that stands between client and provider.
    Gateway,
    /// It mends what a provider would refuse.
    Repairer,
    /// It takes messages out, so that the rest fits.
    Trimmer,
    /// It puts a summary in the place of messages.
    Compactor,
}

/// The form of what a filter is given.
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
    /// The word in a manifest.
    pub fn name(self) -> &'static str {
        match self {
            Form::Request => "request",
            Form::AiSdkModel => "ai-sdk-model",
            Form::AiSdkUi => "ai-sdk-ui",
            Form::PydanticAi => "pydantic-ai",
        }
    }
}

/// In what a budget is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Budget {
    /// There is none.
    #[default]
    None,
    /// In entries of the list of messages, instructions left out.
    Messages,
    /// In tokens, as the filter counts them.
    Tokens,
}

/// What a filter loses or changes by design.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Loss {
    /// Whole messages go.
    DropsMessages,
    /// Calls go, with their results.
    DropsCalls,
    /// The text of results is replaced or shortened.
    ClearsResults,
    /// Thoughts and signatures go.
    DropsThinking,
    /// Pictures go.
    DropsPictures,
    /// Words are rewritten, summarised, or joined with others.
    ChangesText,
    /// A valid history is written in another form that means the same.
    ChangesForm,
    /// Calls get other ids.
    ChangesIds,
    /// Messages or calls change places.
    Reorders,
    /// A call without a result gets one that does not say that none was recorded.
    MakesUpResults,
    /// More is kept than the budget allows, so that the rest stays legal.
    ExceedsBudget,
}

/// One way in which a filter is used.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mode {
    /// Its name, in kebab-case.
    pub name: String,
    /// What the filter is here.
    pub kind: Kind,
    /// How it is called, in words.
    pub description: String,
    /// The dialects of what goes in.
    pub from: Vec<Dialect>,
    /// The dialect of what comes out; that of what goes in, if none is given.
    pub to: Option<Dialect>,
    /// The name of the profile by which the output is judged; the newest of its dialect, if none is given.
    pub profile: Option<String>,
    /// The model that the output asks; that of the input, if none is given.
    pub model: Option<String>,
    /// The form of what goes in.
    #[serde(default)]
    pub form: Form,
    /// Whether the driver can go the same way without the filter.
    #[serde(default)]
    pub control: bool,
    /// In what its budget is counted.
    #[serde(default)]
    pub budget: Budget,
    /// Whether it says that it mends all that can be mended.
    #[serde(default)]
    pub repairs: bool,
    /// The faults that it says it mends, if not all.
    #[serde(default)]
    pub mends: Vec<String>,
    /// The mode that leads back.
    pub back: Option<String>,
    /// Whether it can be applied over and over.
    #[serde(default = "yes")]
    pub rounds: bool,
    /// The kinds of errors by which it refuses a broken history, as documented.
    #[serde(default)]
    pub refuses: Vec<String>,
    /// What it refuses by design although the provider takes it.
    #[serde(default)]
    pub declines: Vec<Declined>,
    /// What it loses by design, and where that is said.
    #[serde(default)]
    pub declares: BTreeMap<Loss, String>,
}

/// A refusal by design: an error of this kind with these words. Any other error is still a finding.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Declined {
    /// The class, or the code.
    pub kind: String,
    /// What stands in its message.
    pub says: String,
    /// Where that is documented.
    pub link: String,
}

fn yes() -> bool {
    true
}

impl Mode {
    /// What is wrong with it beyond the types: the key, and what.
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
            return wrong("mends", "with `repairs: true` it mends all of them".to_owned());
        }
        if self.form != Form::Request && self.control {
            return wrong("control", "a form that goes in only has no way round".to_owned());
        }
        None
    }

    /// The faults that it says it mends.
    pub fn faults(&self) -> Vec<Fault> {
        mendable()
            .filter(|fault| self.repairs || self.mends.iter().any(|name| name == fault.name()))
            .collect()
    }

    /// Where it is documented that it refuses this by design; nothing if it is not.
    pub fn declined(&self, kind: &str, message: &str) -> Option<&str> {
        let is_meant = |own: &&Declined| own.kind == kind && message.contains(&own.says);
        self.declines.iter().find(is_meant).map(|own| own.link.as_str())
    }

    /// Whether it says that it loses this.
    pub fn declares(&self, loss: Loss) -> bool {
        self.declares.contains_key(&loss)
    }

    /// Whether it takes messages out by its nature or by what it says.
    pub fn drops(&self) -> bool {
        matches!(self.kind, Kind::Trimmer | Kind::Compactor) || self.declares(Loss::DropsMessages)
    }

    /// Each way through it, one for each dialect that goes in.
    pub fn routes(&self) -> Vec<Route<'_>> {
        self.from.iter().map(|from| Route::new(self, *from)).collect()
    }
}

fn mendable() -> impl Iterator<Item = Fault> {
    Fault::all().filter(|fault| fault.mending() == Mending::Possible)
}

/// One way through a filter: a mode, and the dialect that goes in.
#[derive(Debug, Clone)]
pub struct Route<'a> {
    /// The mode.
    pub mode: &'a Mode,
    /// What goes in.
    pub from: Dialect,
    /// What comes out.
    pub to: Dialect,
    /// By whose rules the output is judged.
    pub profile: &'static Profile,
    /// The model that the output asks; that of the input, if there is none.
    pub model: Option<String>,
}

impl<'a> Route<'a> {
    fn new(mode: &'a Mode, from: Dialect) -> Route<'a> {
        let to = mode.to.unwrap_or(from);
        let named = mode.profile.as_deref().and_then(Profile::named);
        let foreign = (from != to).then(|| model_of(to).to_owned());
        let model = mode.model.clone().or(foreign);
        Route { mode, from, to, profile: named.unwrap_or_else(|| Profile::newest(to)), model }
    }

    /// Whether input and output are of two dialects.
    pub fn is_foreign(&self) -> bool {
        self.from != self.to
    }

    /// Whether the input is a request body of the output's dialect, so that the two can be compared, and the output can be
    /// put in again.
    pub fn is_round(&self) -> bool {
        !self.is_foreign() && self.mode.form == Form::Request
    }

    /// Its name in reports: the mode, and the dialects.
    pub fn name(&self) -> String {
        let Route { mode, from, to, .. } = self;
        match from == to {
            true => format!("{} ({from})", mode.name),
            false => format!("{} ({from} to {to})", mode.name),
        }
    }
}

/// A model on which a dialect is strict.
fn model_of(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::AnthropicMessages => "claude-sonnet-4-5",
        Dialect::BedrockConverse => "anthropic.claude-sonnet-4-5-20250929-v1:0",
        Dialect::Gemini => "gemini-3-pro-preview",
        Dialect::Mistral => "mistral-medium-latest",
        _ => "gpt-5.2",
    }
}
