//! How strict a provider is: a dialect at a date, or a provider that speaks somebody else's dialect.
//!
//! Profiles are data. A rule that is contested is not deleted: the profile tolerates it, and a breach becomes a
//! warning. When a provider changes its mind, a new dated profile is added and the old ones stay as they are.

mod anthropic;
mod bedrock;
mod gemini;
mod mistral;
mod openai;
mod responses;

use super::{Envelope, Rule, Severity};
use crate::dialect::Dialect;

/// A named, dated strictness of a dialect.
#[derive(Debug)]
pub struct Profile {
    /// The name that options and reports use, for example `anthropic-messages@2026-09`.
    pub name: &'static str,
    /// Who is so strict, for people, for example `DeepSeek`.
    pub provider: &'static str,
    /// The dialect whose rules bind.
    pub dialect: Dialect,
    /// The optional rules that bind here, see [`Rule::is_optional`].
    pub added: &'static [&'static Rule],
    /// The rules whose breach is only a warning here.
    pub tolerated: &'static [&'static Rule],
    /// The rules that this provider has given up, or never had: a breach is nothing.
    pub given_up: &'static [&'static Rule],
    /// Rules that this provider words in its own way, with its sentences in place of the rule's.
    pub wording: &'static [(&'static Rule, &'static [&'static str])],
    /// In what the provider wraps its sentences.
    pub envelope: Envelope,
    /// What else differs between providers and between dates.
    pub switches: Switches,
}

/// The switches of a profile, one set for each dialect.
#[derive(Debug, Clone, Copy)]
pub enum Switches {
    /// For Anthropic Messages.
    AnthropicMessages(AnthropicSwitches),
    /// For OpenAI Chat Completions.
    OpenaiChat(OpenaiChatSwitches),
    /// For OpenAI Responses.
    OpenaiResponses(ResponsesSwitches),
    /// For Google Gemini.
    Gemini(GeminiSwitches),
    /// For Bedrock Converse, which has none.
    BedrockConverse,
    /// For Mistral.
    Mistral(MistralSwitches),
}

/// What differs between the dates of Anthropic Messages.
#[derive(Debug, Clone, Copy)]
pub struct AnthropicSwitches {
    /// Whether a message may have the role `system`.
    pub system_messages: SystemMessages,
    /// The first Claude version that refuses a conversation ending with an assistant message.
    pub first_without_prefill: ModelVersion,
    /// The longest name of a called tool.
    pub max_tool_name_chars: usize,
}

/// Whether Anthropic Messages takes messages with the role `system`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SystemMessages {
    /// The role is unknown: the system prompt has its own top-level field.
    Refused,
    /// System messages may stand in the middle of a conversation (since Opus 4.8, at the end of May 2026).
    MidConversation,
}

/// What differs between the dates of OpenAI Chat Completions.
#[derive(Debug, Clone, Copy)]
pub struct OpenaiChatSwitches {
    /// The longest id of a tool call.
    pub max_call_id_chars: usize,
    /// Which fields a message may have.
    pub message_fields: MessageFields,
    /// Whether users and the assistant must take turns.
    pub alternation: Alternation,
    /// Whether the arguments of earlier calls are read again.
    pub arguments: Arguments,
    /// Which replies must bring back their reasoning.
    pub reasoning: ReasoningContent,
}

/// Which fields a message of OpenAI Chat Completions may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageFields {
    /// Any: what is unknown is ignored.
    Any,
    /// Those that Groq documents.
    Groq,
    /// Those that Cerebras documents, which has `reasoning` and refuses `reasoning_content`.
    Cerebras,
}

/// Whether two messages of one speaker may follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alternation {
    /// They may.
    Free,
    /// Not for the model `deepseek-reasoner`.
    DeepseekReasoner,
    /// The chat template of the model decides.
    Template,
}

/// Whether the arguments of earlier calls are read again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arguments {
    /// They are any text.
    Any,
    /// They must be JSON.
    Json,
    /// They must be a JSON object, for the models for which the provider reads them.
    Object,
}

/// Which replies must bring back their reasoning while the model thinks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReasoningContent {
    /// None.
    Free,
    /// Those with calls since the last message of the user.
    CallsOfLastTurn,
    /// All with calls.
    Calls,
    /// All of the turns in which the model called a tool.
    TurnsWithCalls,
}

/// What differs between the dates of La Plateforme and the versions of Mistral's tokenizers.
#[derive(Debug, Clone, Copy)]
pub struct MistralSwitches {
    /// What becomes of a user message directly after a tool message.
    pub user_after_tool: UserAfterTool,
    /// How calls and results are held against each other.
    pub pairing: Pairing,
    /// What becomes of calls and results that begin a conversation.
    pub first_message: FirstMessage,
    /// Which ids calls may have.
    pub call_ids: CallIds,
}

/// What Mistral makes of a user message directly after a tool message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UserAfterTool {
    /// It is refused.
    Refused,
    /// It is taken, but older endpoints refuse it.
    Contested,
    /// It is taken.
    Taken,
}

/// How Mistral holds calls and results against each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pairing {
    /// There are as many results as calls, whatever their ids (tokenizers before version 11).
    ByCount,
    /// Each result has the id of a call, and no two the same (tokenizers from version 11 on).
    ById,
}

/// What Mistral makes of the first message where it counts calls and results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FirstMessage {
    /// It is passed over: its calls are not counted, so their results are too many.
    Uncounted,
    /// It is passed over, and so are all results before the next assistant message.
    Forgiven,
}

/// Which ids calls may have for Mistral.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallIds {
    /// Nine letters and digits.
    NineAlphanumerics,
    /// Any that is not empty and not `null` (tokenizers from version 13 on).
    AnyButNull,
}

/// What differs between the providers of OpenAI Responses.
#[derive(Debug, Clone, Copy)]
pub struct ResponsesSwitches {
    /// The longest id of an item or of a call.
    pub max_id_chars: usize,
}

/// What differs between the models of Google Gemini.
#[derive(Debug, Clone, Copy)]
pub struct GeminiSwitches {
    /// The first version that wants the thought signatures of the current turn back.
    pub first_with_signatures: ModelVersion,
    /// The first version that refuses a conversation ending with the model's words.
    pub first_without_prefill: ModelVersion,
    /// What is in the names of earlier models that refuse it too.
    pub also_without_prefill: &'static [&'static str],
}

impl Profile {
    /// Every profile, dialect by dialect, the default of a dialect first.
    pub fn all() -> impl Iterator<Item = &'static Profile> {
        Dialect::ALL.into_iter().flat_map(of)
    }

    /// The newest profile of each name in a dialect: how strict everyone who speaks it is today.
    pub fn newest_of_each_name(dialect: Dialect) -> impl Iterator<Item = &'static Profile> {
        let profiles = of(dialect);
        let is_newest =
            |n: &usize| profiles[..*n].iter().all(|newer| newer.undated() != profiles[*n].undated());
        (0..profiles.len()).filter(is_newest).map(|n| &profiles[n])
    }

    /// The newest profile of the provider that a dialect is named after: the default.
    pub fn newest(dialect: Dialect) -> &'static Profile {
        &of(dialect)[0]
    }

    /// The profile of that name. A name without its date means the newest of that name.
    pub fn named(name: &str) -> Option<&'static Profile> {
        let is_meant = |profile: &&Profile| profile.name == name || profile.undated() == name;
        Profile::all().find(is_meant)
    }

    /// The name without the date, for example `anthropic-messages`.
    pub fn undated(&self) -> &'static str {
        self.name.split('@').next().unwrap_or(self.name)
    }

    /// How hard this profile takes a breach of a rule; nothing if the rule does not bind.
    pub fn severity(&self, rule: &Rule) -> Option<Severity> {
        let holds = |rules: &[&Rule]| rules.iter().any(|known| known.id == rule.id);
        if holds(self.tolerated) {
            Some(Severity::Warning)
        } else if holds(self.given_up) || (rule.is_optional && !holds(self.added)) {
            None
        } else {
            Some(Severity::Error)
        }
    }

    /// The sentences in which this provider tells a breach of a rule.
    pub fn sentences(&self, rule: &Rule) -> &'static [&'static str] {
        let own = self.wording.iter().find(|(worded, _)| worded.id == rule.id);
        own.map_or(rule.sentences, |(_, sentences)| sentences)
    }
}

/// The profiles of a dialect, the default first, and of each name the newest first.
fn of(dialect: Dialect) -> &'static [Profile] {
    match dialect {
        Dialect::AnthropicMessages => &anthropic::PROFILES,
        Dialect::OpenaiChat => &openai::PROFILES,
        Dialect::OpenaiResponses => &responses::PROFILES,
        Dialect::Gemini => &gemini::PROFILES,
        Dialect::BedrockConverse => &bedrock::PROFILES,
        Dialect::Mistral => &mistral::PROFILES,
    }
}

/// The version in the name of a Claude or Gemini model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ModelVersion {
    /// The 4 of `claude-sonnet-4-5`.
    pub major: u8,
    /// The 5 of `claude-sonnet-4-5`; 0 where the name has none.
    pub minor: u8,
}

impl ModelVersion {
    /// Reads the version out of a model name in any of its spellings: `claude-3-5-sonnet-20241022`,
    /// `claude-sonnet-5`, `claude-opus-4@20250514`, `us.anthropic.claude-opus-4-6-v1:0`.
    /// A name that is not Claude's has none.
    pub fn of_claude(model: &str) -> Option<ModelVersion> {
        let (_, name) = model.split_once("claude-")?;
        let mut parts = name.split(['-', '.', '@']).map(short_number).skip_while(Option::is_none);
        let major = parts.next()??;
        let minor = parts.next().flatten().unwrap_or(0);
        Some(ModelVersion { major, minor })
    }

    /// Reads the version out of a model name such as `gemini-3-flash-preview`, `models/gemini-2.5-pro` or
    /// `google/gemini-3.6-flash`. A name that is not Gemini's, or says no version, has none.
    pub fn of_gemini(model: &str) -> Option<ModelVersion> {
        let (_, name) = model.split_once("gemini-")?;
        let version = name.split(['-', '@', ':']).next().unwrap_or_default();
        let (major, minor) = version.split_once('.').unwrap_or((version, "0"));
        Some(ModelVersion { major: short_number(major)?, minor: short_number(minor)? })
    }
}

/// A number of one or two digits. A longer one is a date, not a version.
fn short_number(part: &str) -> Option<u8> {
    match part.len() {
        1 | 2 => part.parse().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dialect_name_means_its_newest_profile() {
        for dialect in Dialect::ALL {
            let newest = Profile::newest(dialect);
            assert_eq!(newest.dialect, dialect);
            assert_eq!(Profile::named(dialect.name()).map(|profile| profile.name), Some(newest.name));
            assert!(of(dialect).iter().all(|profile| profile.dialect == dialect));
        }
        assert!(Profile::named("anthropic-messages@1999-01").is_none());
    }

    #[test]
    fn names_dialects_and_switches_agree() {
        for profile in Profile::all() {
            assert_eq!(Profile::named(profile.name).map(|found| found.name), Some(profile.name));
            let date = profile.name.split_once('@').map(|(_, date)| date);
            assert!(date.is_some_and(|date| date.len() == 7), "{} names its date", profile.name);
            let named = profile.tolerated.iter().chain(profile.given_up).chain(profile.added);
            let mut named = named.chain(profile.wording.iter().map(|(rule, _)| rule));
            assert!(named.all(|rule| rule.dialect() == profile.dialect), "{}", profile.name);
            assert!(profile.added.iter().all(|rule| rule.is_optional), "{}", profile.name);
            let dialect = match profile.switches {
                Switches::AnthropicMessages(_) => Dialect::AnthropicMessages,
                Switches::OpenaiChat(_) => Dialect::OpenaiChat,
                Switches::OpenaiResponses(_) => Dialect::OpenaiResponses,
                Switches::Gemini(_) => Dialect::Gemini,
                Switches::BedrockConverse => Dialect::BedrockConverse,
                Switches::Mistral(_) => Dialect::Mistral,
            };
            assert_eq!(dialect, profile.dialect);
        }
    }

    #[test]
    fn versions_are_read_from_every_spelling() {
        let version = |model| ModelVersion::of_claude(model).map(|v| (v.major, v.minor));
        assert_eq!(version("claude-3-opus-latest"), Some((3, 0)));
        assert_eq!(version("claude-3-5-sonnet-20241022"), Some((3, 5)));
        assert_eq!(version("claude-sonnet-4-5-20250929"), Some((4, 5)));
        assert_eq!(version("claude-opus-4@20250514"), Some((4, 0)));
        assert_eq!(version("us.anthropic.claude-opus-4-6-v1:0"), Some((4, 6)));
        assert_eq!(version("anthropic/claude-sonnet-4.6"), Some((4, 6)));
        assert_eq!(version("claude-fable-5"), Some((5, 0)));
        assert_eq!(version("claude-mock"), None);
        assert_eq!(version("gpt-5"), None);
        let version = |model| ModelVersion::of_gemini(model).map(|v| (v.major, v.minor));
        assert_eq!(version("gemini-3-flash-preview"), Some((3, 0)));
        assert_eq!(version("models/gemini-2.5-pro"), Some((2, 5)));
        assert_eq!(version("google/gemini-3.6-flash"), Some((3, 6)));
        assert_eq!(version("gemini-flash-latest"), None);
        assert_eq!(version("gemini-exp-1206"), None);
    }
}
