//! Facts about single models at a provider, each with its evidence.
//!
//! A model that no row names is unknown: a rule that depends on such a fact warns at most. Facts that follow
//! from the version in a model's name are in the rules themselves.

use crate::Profile;

/// An ability of a model that decides whether the provider rejects a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ability {
    /// A message may have an image.
    Images,
    /// A message that is not the user's may have an image.
    ImagesOutsideUserMessages,
    /// A message may have a sound.
    Audio,
    /// A message may have a video.
    Video,
    /// The request may force a call while the model decides itself how long it thinks.
    ForcedToolWithAdaptiveThinking,
    /// The history may end with a reply for the model to continue while tools are offered.
    PrefillWithTools,
    /// Two messages of the same role may follow each other.
    SuccessiveRoles,
    /// A text may be empty.
    BlankText,
    /// Text may be next to a call or a result in one message.
    TextBesideTools,
}

impl Ability {
    /// Returns the name, as a list prints it.
    pub fn name(self) -> &'static str {
        match self {
            Ability::Images => "images",
            Ability::ImagesOutsideUserMessages => "images outside user messages",
            Ability::Audio => "audio",
            Ability::Video => "video",
            Ability::ForcedToolWithAdaptiveThinking => "a forced tool with adaptive thinking",
            Ability::PrefillWithTools => "a reply to continue while tools are offered",
            Ability::SuccessiveRoles => "two messages of the same role in a row",
            Ability::BlankText => "an empty text",
            Ability::TextBesideTools => "text beside calls and results",
        }
    }
}

/// A fact about some models.
#[derive(Debug, Clone, Copy)]
pub struct ModelFact {
    /// The profile without its date.
    pub profile: &'static str,
    /// The beginnings of the models' names, without the origin before the last slash.
    pub models: &'static [&'static str],
    /// The ability.
    pub ability: Ability,
    /// True if the models have it.
    pub has: bool,
    /// The month of the newest evidence, as `YYYY-MM`.
    pub seen: &'static str,
    /// The evidence: a thread, the provider's page, or a published measurement.
    pub source: &'static str,
}

impl ModelFact {
    /// Returns every fact.
    pub fn all() -> &'static [ModelFact] {
        FACTS
    }
}

/// Returns whether a model of this profile has an ability. `None` if that is unknown.
pub fn ability_of(profile: &Profile, model: &str, ability: Ability) -> Option<bool> {
    let name = model.rsplit('/').next().unwrap_or(model).to_ascii_lowercase();
    let is_meant = |fact: &&ModelFact| {
        fact.ability == ability
            && fact.profile == profile.undated()
            && fact.models.iter().any(|start| is_model(&name, start))
    };
    FACTS.iter().find(is_meant).map(|fact| fact.has)
}

/// Returns whether a name is this model, with or without a region and a maker before it and a date or a
/// version after it.
fn is_model(name: &str, start: &str) -> bool {
    name.match_indices(start).any(|(at, _)| at == 0 || name[..at].ends_with('.'))
}

const fn fact(
    profile: &'static str,
    ability: Ability,
    has: bool,
    models: &'static [&'static str],
    seen: &'static str,
    source: &'static str,
) -> ModelFact {
    ModelFact { profile, models, ability, has, seen, source }
}

/// Measurements of a library: the kinds of input that each model accepted, next to the recorded exchanges.
const GROQ_ASKED: &str = "https://github.com/maruel/genai/blob/main/providers/groq/scoreboard.json";
const MISTRAL_ASKED: &str = "https://github.com/maruel/genai/blob/main/providers/mistral/scoreboard.json";

/// The first match counts.
#[rustfmt::skip]
static FACTS: &[ModelFact] = &[
    // DeepSeek. V4.1 Flash has accepted images since 2026-09-10, under its own name and the name of V4 Flash, but the
    // latter was refused before that day.
    fact("deepseek", Ability::Images, true, &["deepseek-flash", "deepseek-v4.1-flash"], "2026-09", "https://github.com/kuan-er/sjtu-agent/pull/182"),
    fact("deepseek", Ability::Images, false, &["deepseek-v4-pro", "deepseek-pro"], "2026-09", "https://github.com/rikkahub/rikkahub/issues/1433"),
    fact("deepseek", Ability::Images, false, &["deepseek-chat", "deepseek-reasoner"], "2025-12", "https://github.com/DayuanJiang/next-ai-draw-io/pull/468"),
    fact("deepseek", Ability::Audio, false, &["deepseek-v4-pro", "deepseek-pro", "deepseek-chat", "deepseek-reasoner"], "2026-09", "https://github.com/BigPizzaV3/CodexPlusPlus/issues/631"),

    // OpenAI. GPT-5.2 accepts the image of a tool, but does not see it.
    fact("openai-chat", Ability::ImagesOutsideUserMessages, false, &["gpt-4o", "gpt-4-turbo"], "2025-08", "https://github.com/openai/openai-node/issues/1030"),
    fact("openai-chat", Ability::ImagesOutsideUserMessages, true, &["gpt-5.2"], "2026-02", "https://github.com/openai/openai-openapi/issues/523"),
    fact("openai-chat", Ability::Audio, false, &["gpt-5-mini"], "2026-03", "https://github.com/pydantic/pydantic-ai/tree/main/tests/models/cassettes/test_multimodal_tool_returns"),

    // MiMo, behind any gateway.
    fact("mimo", Ability::ImagesOutsideUserMessages, false, &["mimo-v2"], "2026-07", "https://github.com/NousResearch/hermes-agent/issues/57766"),

    // Groq.
    fact("groq", Ability::Images, true, &["llama-4-", "llama-3.2-11b-vision", "llama-3.2-90b-vision", "qwen3.6-27b"], "2026-04", "https://console.groq.com/docs/vision"),
    fact("groq", Ability::Images, false, &["gpt-oss-120b"], "2026-09", "https://github.com/sam3gp8/jarvis-aio/issues/17"),
    fact("groq", Ability::Images, false, &["llama-3.1-"], "2026-04", "https://github.com/Skyvern-AI/skyvern/pull/5636"),
    fact("groq", Ability::Images, false, &["gpt-oss-20b", "gpt-oss-safeguard-20b", "llama-3.3-70b", "qwen3-32b", "kimi-k2-instruct", "mistral-saba", "deepseek-r1-distill"], "2026-04", GROQ_ASKED),
    fact("groq", Ability::Audio, false, &["gpt-oss-", "llama-", "qwen3-", "kimi-k2-instruct", "mistral-saba", "deepseek-r1-distill"], "2026-04", GROQ_ASKED),

    // Mistral.
    fact("mistral", Ability::Images, true, &["mistral-large-latest", "mistral-large-2512", "mistral-medium-", "mistral-small-", "ministral-3b-2512", "ministral-8b-2512", "ministral-14b-", "ministral-3b-latest", "labs-devstral-small-2512", "pixtral-"], "2026-04", MISTRAL_ASKED),
    fact("mistral", Ability::Images, false, &["mistral-tiny"], "2025-08", "https://github.com/maruel/genai/blob/65e515d926a055446e071c958ec6403438a2d7d0/providers/mistral/testdata/TestClient/Scoreboard/mistral-tiny-latest/GenSyncMultiModal-Image-png-URL.yaml"),
    fact("mistral", Ability::Images, false, &["voxtral-small-latest", "mistral-vibe-cli-latest"], "2026-04", MISTRAL_ASKED),
    fact("mistral", Ability::Audio, true, &["voxtral-"], "2025-07", "https://docs.mistral.ai/capabilities/audio/"),
    fact("mistral", Ability::Audio, false, &["mistral-", "ministral-", "magistral-", "codestral-", "devstral-", "pixtral-", "open-mistral-", "open-mixtral-", "labs-devstral-"], "2026-04", "https://github.com/truefoundry/models/pull/807"),

    // DashScope.
    fact("dashscope", Ability::Images, true, &["qwen3.5-397b", "qwen3.5-122b", "qwen3.5-35b"], "2026-04", "https://github.com/maruel/genai/blob/main/providers/alibaba/scoreboard_intl.json"),
    fact("dashscope", Ability::Images, false, &["qwen3.7-max"], "2026-06", "https://github.com/can1357/oh-my-pi/pull/1861"),
    fact("dashscope", Ability::Images, true, &["qwen-vl-", "qwen2-vl", "qwen2.5-vl", "qwen3-vl-", "qvq-", "qwen3.5-plus", "qwen3.6-plus"], "2026-04", "https://www.alibabacloud.com/help/en/model-studio/vision"),

    // Claude. Opus 4.6 was recorded as accepting a forced tool with adaptive thinking, others as rejecting it.
    fact("anthropic-messages", Ability::ForcedToolWithAdaptiveThinking, true, &["claude-opus-4-6"], "2026-02", "https://github.com/pydantic/pydantic-ai/tree/main/tests/models/cassettes/test_anthropic"),
    fact("anthropic-messages", Ability::ForcedToolWithAdaptiveThinking, true, &["claude-sonnet-5", "claude-fable-5", "claude-opus-5"], "2026-07", "https://github.com/langchain-ai/langchain-aws/pull/1141"),
    fact("anthropic-messages", Ability::ForcedToolWithAdaptiveThinking, false, &["claude-sonnet-4-6", "claude-opus-4-8"], "2026-06", "https://github.com/diegosouzapw/OmniRoute/pull/4389"),

    // Bedrock. Claude 3 Haiku was recorded as accepting a message with results and one with a text after it.
    fact("bedrock-converse", Ability::SuccessiveRoles, true, &["claude-3-haiku"], "2026-02", "https://github.com/crewAIInc/crewAI/blob/5b00b5f83782952bf2dfe7865c2fb9332accaec5/lib/crewai/tests/cassettes/agents/TestNativeToolCallingBehavior.test_bedrock_mcp_tool_with_optional_fields_no_schema_error.yaml"),
    fact("bedrock-converse", Ability::ForcedToolWithAdaptiveThinking, true, &["claude-opus-4-8", "claude-sonnet-5", "claude-fable-5", "claude-opus-5"], "2026-07", "https://github.com/langchain-ai/langchain-aws/pull/1141"),
    fact("bedrock-anthropic", Ability::ForcedToolWithAdaptiveThinking, true, &["claude-opus-4-8", "claude-sonnet-5", "claude-fable-5", "claude-opus-5"], "2026-07", "https://github.com/langchain-ai/langchain-aws/pull/1141"),
    fact("bedrock-converse", Ability::PrefillWithTools, false, &["claude-3-sonnet", "claude-3-haiku", "claude-3-opus"], "2025-06", "https://github.com/langchain-ai/langgraph/issues/4940"),
    fact("bedrock-converse", Ability::Video, false, &["claude-sonnet-4-5"], "2026-03", "https://github.com/pydantic/pydantic-ai/tree/main/tests/models/cassettes/test_multimodal_tool_returns"),
    fact("bedrock-converse", Ability::BlankText, true, &["nova-micro"], "2026-03", "https://github.com/pydantic/pydantic-ai/blob/727923cb292c9e7c1ba96151000f6fa9f7f2ba11/tests/models/cassettes/test_bedrock/test_bedrock_model_with_instructions_only.yaml"),
    fact("bedrock-converse", Ability::TextBesideTools, false, &["llama3", "llama4"], "2025-11", "https://github.com/strands-agents/harness-sdk/issues/1223"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_models_are_found_in_every_spelling() {
        let groq = Profile::named("groq").unwrap();
        let images = |model| ability_of(groq, model, Ability::Images);
        assert_eq!(images("openai/gpt-oss-120b"), Some(false));
        assert_eq!(images("meta-llama/llama-4-scout-17b-16e-instruct"), Some(true));
        assert_eq!(images("Qwen/Qwen3-32B"), Some(false));
        assert_eq!(images("next-year-1"), None);
        let bedrock = Profile::named("bedrock-converse").unwrap();
        let texts = |model| ability_of(bedrock, model, Ability::TextBesideTools);
        assert_eq!(texts("us.meta.llama3-3-70b-instruct-v1:0"), Some(false));
        assert_eq!(texts("meta.llama4-maverick-17b-instruct-v1:0"), Some(false));
        assert_eq!(texts("my-llama3"), None);
    }

    #[test]
    fn every_fact_names_a_profile_a_month_and_its_evidence() {
        for fact in ModelFact::all() {
            assert!(
                Profile::named(fact.profile).is_some_and(|profile| profile.undated() == fact.profile),
                "{fact:?}"
            );
            let (year, month) = fact.seen.split_once('-').unwrap();
            assert!(year.len() == 4 && month.len() == 2, "{fact:?}");
            assert!(fact.source.starts_with("https://") && !fact.models.is_empty(), "{fact:?}");
        }
    }
}
