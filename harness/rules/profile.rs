//! How strict a provider is: a dialect at a date.
//!
//! Profiles are data. A rule that is contested is not deleted: the profile tolerates it, and a breach becomes a
//! warning. When a provider changes its mind, a new dated profile is added and the old ones stay as they are.

use super::{Rule, Severity, anthropic, openai};
use crate::dialect::Dialect;

/// A named, dated strictness of a dialect.
#[derive(Debug)]
pub struct Profile {
    /// The name that options and reports use, for example `anthropic-messages@2026-09`.
    pub name: &'static str,
    /// The dialect whose rules bind.
    pub dialect: Dialect,
    /// The rules whose breach is only a warning here.
    pub tolerated: &'static [&'static Rule],
    /// The rules that this provider has given up: a breach is nothing.
    pub given_up: &'static [&'static Rule],
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
}

impl Profile {
    /// Every profile, the newest of a dialect before its older ones.
    pub fn all() -> &'static [Profile] {
        &PROFILES
    }

    /// The newest profile of a dialect: the default.
    pub fn newest(dialect: Dialect) -> &'static Profile {
        match dialect {
            Dialect::AnthropicMessages => &PROFILES[0],
            Dialect::OpenaiChat => &PROFILES[2],
        }
    }

    /// The profile of that name. A dialect's name alone means its newest profile.
    pub fn named(name: &str) -> Option<&'static Profile> {
        match Dialect::from_name(name) {
            Some(dialect) => Some(Profile::newest(dialect)),
            None => PROFILES.iter().find(|profile| profile.name == name),
        }
    }

    /// How hard this profile takes a breach of a rule; nothing if it has given the rule up.
    pub fn severity(&self, rule: &Rule) -> Option<Severity> {
        let holds = |rules: &[&Rule]| rules.iter().any(|known| known.id == rule.id);
        match (holds(self.given_up), holds(self.tolerated)) {
            (true, _) => None,
            (false, true) => Some(Severity::Warning),
            (false, false) => Some(Severity::Error),
        }
    }
}

static PROFILES: [Profile; 3] = [
    Profile {
        name: "anthropic-messages@2026-09",
        dialect: Dialect::AnthropicMessages,
        tolerated: &[&anthropic::TOOL_USE_ID_REUSED, &anthropic::TEXT_AFTER_TOOL_USE],
        // Recorded answers show that a conversation may begin with the assistant.
        given_up: &[&anthropic::FIRST_MESSAGE_NOT_USER],
        switches: Switches::AnthropicMessages(AnthropicSwitches {
            system_messages: SystemMessages::MidConversation,
            first_without_prefill: FIRST_WITHOUT_PREFILL,
            max_tool_name_chars: MAX_TOOL_NAME_CHARS,
        }),
    },
    Profile {
        name: "anthropic-messages@2026-05",
        dialect: Dialect::AnthropicMessages,
        tolerated: &[&anthropic::FIRST_MESSAGE_NOT_USER, &anthropic::TOOL_USE_ID_REUSED],
        given_up: &[],
        switches: Switches::AnthropicMessages(AnthropicSwitches {
            system_messages: SystemMessages::Refused,
            first_without_prefill: FIRST_WITHOUT_PREFILL,
            max_tool_name_chars: MAX_TOOL_NAME_CHARS,
        }),
    },
    Profile {
        name: "openai-chat@2026-09",
        dialect: Dialect::OpenaiChat,
        tolerated: &[&openai::TOOL_CALL_ID_DUPLICATE],
        given_up: &[],
        switches: Switches::OpenaiChat(OpenaiChatSwitches { max_call_id_chars: MAX_CALL_ID_CHARS }),
    },
];

/// Opus and Sonnet 4.6 were the first to refuse a prefill; every 4.5 still takes one.
const FIRST_WITHOUT_PREFILL: ModelVersion = ModelVersion { major: 4, minor: 6 };

/// Older reports say 64; `messages.43.content.1.tool_use.name: String should have at most 200 characters` is the
/// newer sentence for a call in the history (anthropics/claude-code#2673), and the wider bound rejects less.
const MAX_TOOL_NAME_CHARS: usize = 200;

/// Reports say 29 (2023), 40 (2024 to early 2026) and 64 (2026). In July 2026 a maintainer could no longer make
/// OpenAI refuse an id of 51 characters (vercel/ai#8132), so the widest bound is taken.
const MAX_CALL_ID_CHARS: usize = 64;

/// The version in the name of a Claude model.
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
            assert!(
                Profile::all()
                    .iter()
                    .filter(|profile| profile.dialect == dialect)
                    .all(|p| p.name <= newest.name)
            );
        }
        assert!(Profile::named("anthropic-messages@1999-01").is_none());
    }

    #[test]
    fn names_dialects_and_switches_agree() {
        for profile in Profile::all() {
            assert_eq!(Profile::named(profile.name).map(|found| found.name), Some(profile.name));
            assert!(profile.name.starts_with(profile.dialect.name()));
            let named = profile.tolerated.iter().chain(profile.given_up);
            assert!(named.into_iter().all(|rule| rule.dialect() == profile.dialect));
            let dialect = match profile.switches {
                Switches::AnthropicMessages(_) => Dialect::AnthropicMessages,
                Switches::OpenaiChat(_) => Dialect::OpenaiChat,
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
    }
}
