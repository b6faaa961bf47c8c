//! Which rules apply, based on the model's name and on the switch for thinking.

use super::PartKind;
use crate::json::Json;
use crate::{Ability, Occurrence, Profile, Rule, Violations, ability_of};

/// The certainty that a rule applies to the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Certainty {
    No,
    /// The body does not state it, or it is not known for this model. A violation is only a
    /// warning.
    Perhaps,
    Yes,
}

impl Certainty {
    /// Reports a violation as an error or a warning, depending on the certainty.
    pub(super) fn note(
        self,
        out: &mut Violations,
        rule: &'static Rule,
        violation: impl FnOnce() -> Occurrence,
    ) {
        match self {
            Certainty::No => {}
            Certainty::Perhaps => out.warn(rule, violation),
            Certainty::Yes => out.add(rule, violation),
        }
    }
}

/// Returns whether the model is DeepSeek's reasoner.
pub(super) fn is_deepseek_reasoner(model: Option<&str>) -> Certainty {
    match model {
        None => Certainty::Perhaps,
        Some(model) if model.contains("deepseek-reasoner") => Certainty::Yes,
        Some(_) => Certainty::No,
    }
}

/// Returns whether DeepSeek V3.2 thinks. Its reasoner does; its chat model does so only on request.
pub(super) fn deepseek_v32_thinks(model: Option<&str>, body: Json) -> Certainty {
    match ThinkingMode::of(body) {
        ThinkingMode::Enabled => Certainty::Yes,
        ThinkingMode::Disabled => Certainty::No,
        ThinkingMode::Unsaid => is_deepseek_reasoner(model),
    }
}

/// Returns whether DeepSeek V4 thinks.
///
/// It does by default (<https://api-docs.deepseek.com/guides/thinking_mode.md>). Among the old names that
/// now refer to V4, `deepseek-chat` does not think. Gateways offer older models that may not think.
pub(super) fn deepseek_v4_thinks(model: Option<&str>, body: Json) -> Certainty {
    // MiMo has required it since May 2026
    // (<https://platform.xiaomimimo.com/docs/en-US/usage-guide/passing-back-reasoning_content>).
    const THINKERS: [&str; 5] =
        ["deepseek-v4", "deepseek-flash", "deepseek-pro", "deepseek-reasoner", "mimo-v2.5"];
    match (ThinkingMode::of(body), model) {
        (ThinkingMode::Enabled, _) => Certainty::Yes,
        (ThinkingMode::Disabled, _) => Certainty::No,
        (ThinkingMode::Unsaid, Some(model)) if THINKERS.iter().any(|name| model.contains(name)) => {
            Certainty::Yes
        }
        (ThinkingMode::Unsaid, Some(model)) if model.contains("deepseek-chat") => Certainty::No,
        (ThinkingMode::Unsaid, _) => Certainty::Perhaps,
    }
}

/// Returns whether a model accepts only text: for images in user messages, for sounds, and for other parts.
pub(super) fn reads_only_text(profile: &Profile, model: Option<&str>, part: PartKind) -> Certainty {
    let lacks = |ability| match model.map(|model| ability_of(profile, model, ability)) {
        Some(Some(true)) => Certainty::No,
        Some(Some(false)) => Certainty::Yes,
        Some(None) | None => Certainty::Perhaps,
    };
    match part {
        PartKind::ImageOfUser => lacks(Ability::Images),
        PartKind::Sound => lacks(Ability::Audio),
        // A model that accepts images of the user was seen to refuse those of tools, with another message
        // (<https://github.com/NousResearch/hermes-agent/pull/109707>). Other parts have not been tested.
        PartKind::StrayImage | PartKind::Other => match lacks(Ability::Images) {
            Certainty::Yes => Certainty::Yes,
            Certainty::No | Certainty::Perhaps => Certainty::Perhaps,
        },
    }
}

/// Returns whether Kimi thinks. K2.5 and later do by default.
pub(super) fn kimi_thinks(model: Option<&str>, body: Json) -> Certainty {
    match (ThinkingMode::of(body), model) {
        (ThinkingMode::Enabled, _) => Certainty::Yes,
        (ThinkingMode::Disabled, _) => Certainty::No,
        (ThinkingMode::Unsaid, None) => Certainty::Perhaps,
        (ThinkingMode::Unsaid, Some(model)) => match kimi_version(model) {
            Some(version) if version >= (2, 5) => Certainty::Yes,
            _ => Certainty::No,
        },
    }
}

/// Reads the 2 and 5 of `kimi-k2.5`, or the 2 and 0 of `kimi-k2-0905-preview`.
fn kimi_version(model: &str) -> Option<(u8, u8)> {
    let (_, version) = model.split_once("kimi-k")?;
    let version = version.split(|c: char| !c.is_ascii_digit() && c != '.').next()?;
    let (major, minor) = version.split_once('.').unwrap_or((version, "0"));
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// The sentence with which the model's usual chat template rejects consecutive messages with the same role, as an
/// index into the sentences of the profile. `None` if the template accepts them. A server may use another
/// template, so this is never certain.
///
/// Devstral and Ministral: <https://github.com/sterlp/eclipse-peon-ai/issues/75>,
/// <https://github.com/charmbracelet/crush/issues/279>. Mistral 7B: <https://github.com/vllm-project/vllm/issues/6862>.
pub(super) fn template_sentence(model: Option<&str>) -> Option<usize> {
    const PLAIN: usize = 0;
    const AFTER_SYSTEM: usize = 1;
    const EXCEPT_TOOLS: usize = 2;
    const STRICT: [(&str, usize); 9] = [
        ("devstral", EXCEPT_TOOLS),
        ("ministral-3", EXCEPT_TOOLS),
        ("ministral3", EXCEPT_TOOLS),
        ("mistral-7b-instruct-v0.3", AFTER_SYSTEM),
        ("ministral", AFTER_SYSTEM),
        ("mistral", PLAIN),
        ("mixtral", PLAIN),
        ("gemma", PLAIN),
        ("llama-2", PLAIN),
    ];
    let model = model?.to_ascii_lowercase();
    STRICT.iter().find(|(name, _)| model.contains(name)).map(|(_, form)| *form)
}

/// Returns whether DashScope parses the arguments of earlier calls for this model. Reports name Qwen's
/// coder, flash and plus models and Qwen 3.5. DashScope also serves models of other companies.
pub(super) fn reads_arguments_at_dashscope(model: Option<&str>) -> Certainty {
    const READERS: [&str; 4] = ["coder", "flash", "plus", "qwen3.5"];
    let model = model.map(str::to_ascii_lowercase);
    match model {
        None => Certainty::Perhaps,
        Some(model) if !model.contains("qwen") => Certainty::No,
        Some(model) if READERS.iter().any(|name| model.contains(name)) => Certainty::Yes,
        Some(_) => Certainty::Perhaps,
    }
}

/// The field `thinking` of DeepSeek and Moonshot.
enum ThinkingMode {
    Enabled,
    Disabled,
    Unsaid,
}

impl ThinkingMode {
    fn of(body: Json) -> ThinkingMode {
        let kind = body.field("thinking").field("type");
        match (kind.is("enabled"), kind.is("disabled")) {
            (true, _) => ThinkingMode::Enabled,
            (_, true) => ThinkingMode::Disabled,
            _ => ThinkingMode::Unsaid,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_kimi_are_read() {
        assert_eq!(kimi_version("kimi-k2.5"), Some((2, 5)));
        assert_eq!(kimi_version("moonshotai/kimi-k2.6:free"), Some((2, 6)));
        assert_eq!(kimi_version("kimi-k2-0905-preview"), Some((2, 0)));
        assert_eq!(kimi_version("kimi-k3"), Some((3, 0)));
        assert_eq!(kimi_version("kimi-latest"), None);
        assert_eq!(kimi_version("kimi-k99999.9"), None);
    }
}
