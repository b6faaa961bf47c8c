//! The strictness of each host: finds the profile for an address and a model name.

use crate::Dialect;
use crate::Profile;

/// Returns the profile of a host, for a dialect and a model.
///
/// `host` is only the name, in upper or lower case, with or without a port. `model` is the name in the
/// request, or empty. A gateway is as strict as the provider that it forwards the model to. Returns `None`
/// if the strictness is unknown: an unknown host, a gateway with a model of unknown origin, or a dialect
/// that the host does not support.
pub fn profile_for(dialect: Dialect, host: &str, model: &str) -> Option<&'static Profile> {
    profiles_at(host, model).find(|profile| profile.dialect == dialect)
}

/// Returns the dialect of a host with the conversation in the field `list`. This decides for a request that shows no
/// dialect itself. Of several such dialects, it is the one that most clients write. Returns `None` if the host is unknown,
/// or has several others.
pub fn dialect_at(host: &str, model: &str, list: &str) -> Option<Dialect> {
    let is_meant = |dialect: &Dialect| dialect.definition().list == list;
    let found: Vec<Dialect> = profiles_at(host, model).map(|it| it.dialect).filter(is_meant).collect();
    match found[..] {
        [only] => Some(only),
        _ => found.into_iter().find(|dialect| USUAL.contains(dialect)),
    }
}

/// The dialect that most clients write, if a host has it.
pub(crate) const USUAL: [Dialect; 1] = [Dialect::OpenaiChat];

/// Returns the dialect in which a client that could choose writes to a host: that of Chat Completions if the host has it,
/// as most clients do. Returns `None` if the host is unknown.
#[cfg(feature = "recordings")]
pub(crate) fn dialect_of(host: &str, model: &str) -> Option<Dialect> {
    let mut dialects: Vec<Dialect> = profiles_at(host, model).map(|profile| profile.dialect).collect();
    dialects.sort_by_key(|dialect| !USUAL.contains(dialect));
    dialects.first().copied()
}

/// Returns the profiles of a host, one for each dialect.
fn profiles_at(host: &str, model: &str) -> impl Iterator<Item = &'static Profile> {
    // A dot at the beginning is what remains of a name that was removed.
    let host = host.split(':').next().unwrap_or_default().trim_matches('.').to_ascii_lowercase();
    let model = model.to_ascii_lowercase();
    let model = model.strip_prefix(OPENROUTER).unwrap_or(&model);
    let route = ROUTES.iter().find(|route| is_host(route.host, &host) && model.starts_with(route.model));
    let names = route.map_or(&[][..], |route| route.profiles);
    names.iter().filter_map(|name| Profile::named(name))
}

/// Returns the hosts with known strictness, in lookup order. `*` matches one or more characters.
pub fn hosts() -> impl Iterator<Item = &'static str> {
    let known = ROUTES.iter().filter(|route| !route.profiles.is_empty()).map(|route| route.host);
    let mut last = "";
    known.filter(move |host| std::mem::replace(&mut last, host) != *host)
}

/// Returns the host of the only provider with a model of that name, as its own API writes it. Returns
/// `None` for names of open models that several providers offer.
pub fn host_of_model(model: &str) -> Option<&'static str> {
    let model = model.to_ascii_lowercase();
    if crate::dialects::is_mistral_model(&model) {
        return Some("api.mistral.ai");
    }
    MODELS.iter().find(|(start, _)| model.starts_with(start)).map(|(_, host)| *host)
}

/// Returns whether a host stands for no provider: this computer, a private network, or a word that somebody put in place of
/// the real name.
pub fn is_stand_in(host: &str) -> bool {
    const PLACEHOLDERS: [&str; 8] =
        ["your-", "your_", "yourdomain", "my-", "placeholder", "redacted", "xxx", "..."];
    const RESERVED: [&str; 8] =
        ["localhost", "internal", "local", "example", "test", "invalid", "example.com", "example.org"];
    let host = host.to_ascii_lowercase();
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    if let Ok(address) = name.parse::<std::net::IpAddr>() {
        return match address {
            std::net::IpAddr::V4(address) => {
                address.is_loopback() || address.is_private() || address.is_unspecified()
            }
            std::net::IpAddr::V6(address) => address.is_loopback() || address.is_unspecified(),
        };
    }
    let is_reserved =
        |own: &&str| name == *own || name.strip_suffix(*own).is_some_and(|rest| rest.ends_with('.'));
    !name.is_empty()
        && (!name.contains('.')
            || name.contains(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '-')))
            || PLACEHOLDERS.iter().any(|word| name.contains(word))
            || RESERVED.iter().any(is_reserved))
}

/// Returns whether the strictness of a host is known, in any dialect and for any model.
pub fn is_known_host(host: &str) -> bool {
    // A gateway is as strict as the provider of the model, so a model may be needed.
    let models = ["", "openai/", "deepseek/"];
    let is_known = |dialect| models.iter().any(|model| profile_for(dialect, host, model).is_some());
    Dialect::ALL.into_iter().any(is_known)
}

/// The prefix with which LiteLLM and others name the models of OpenRouter.
const OPENROUTER: &str = "openrouter/";

/// Prefixes of model names that only one provider has, in lower case, with the provider's host. A name before a slash is
/// a provider's, as LiteLLM and OpenRouter write it.
static MODELS: &[(&str, &str)] = &[
    // https://api-docs.deepseek.com/quick_start/pricing
    ("deepseek-chat", "api.deepseek.com"),
    ("deepseek-reasoner", "api.deepseek.com"),
    ("deepseek-v4-", "api.deepseek.com"),
    // https://github.com/deepseek-ai/awesome-deepseek-integration/issues/740
    ("deepseek-flash", "api.deepseek.com"),
    ("deepseek/", "api.deepseek.com"),
    // https://docs.x.ai/docs/models
    ("grok-", "api.x.ai"),
    ("x-ai/", "api.x.ai"),
    ("xai/", "api.x.ai"),
    // https://platform.kimi.ai/docs/api/overview
    ("kimi-", "api.moonshot.ai"),
    ("moonshot-v1-", "api.moonshot.ai"),
    ("moonshot/", "api.moonshot.ai"),
    // https://platform.minimax.io/docs/api-reference/text-openai-api
    ("minimax-m", "api.minimax.io"),
    ("minimax/", "api.minimax.io"),
    // https://www.alibabacloud.com/help/en/model-studio/models; the open models have other names.
    ("qwen-max", "dashscope.aliyuncs.com"),
    ("qwen-plus", "dashscope.aliyuncs.com"),
    ("qwen-turbo", "dashscope.aliyuncs.com"),
    ("qwen-flash", "dashscope.aliyuncs.com"),
    ("qwen3-max", "dashscope.aliyuncs.com"),
    ("qwen3-coder-plus", "dashscope.aliyuncs.com"),
    ("qwen3-coder-flash", "dashscope.aliyuncs.com"),
    ("qwen3.5-plus", "dashscope.aliyuncs.com"),
    ("qwen3.6-plus", "dashscope.aliyuncs.com"),
    ("qwq-plus", "dashscope.aliyuncs.com"),
    ("dashscope/", "dashscope.aliyuncs.com"),
    // https://docs.z.ai/guides/overview/pricing. The open weights are named after `zai-org/` elsewhere.
    ("glm-", "api.z.ai"),
    ("zai/", "api.z.ai"),
    // https://docs.litellm.ai/docs/providers/openrouter
    (OPENROUTER, "openrouter.ai"),
    // https://docs.cohere.com/docs/models
    ("command-a-", "api.cohere.ai"),
    ("command-r", "api.cohere.ai"),
];

/// Returns the hosts with a newest profile of the dialect for which `is_meant` is true, with the models
/// that a gateway forwards.
pub(crate) fn hosts_that(is_meant: impl Fn(&Profile) -> bool, dialect: Dialect) -> Vec<String> {
    let is_of = |name: &&str| {
        Profile::named(name).is_some_and(|profile| profile.dialect == dialect && is_meant(profile))
    };
    let routes = ROUTES.iter().filter(|route| route.profiles.iter().any(&is_of));
    routes
        .map(|route| {
            if route.model.is_empty() {
                route.host.to_owned()
            } else {
                format!("{} ({}*)", route.host, route.model)
            }
        })
        .collect()
}

/// A host and a kind of model, with their strictness.
struct Route {
    /// The name of the host. `*` matches one or more characters.
    host: &'static str,
    /// The prefix of the model's name, in lower case.
    model: &'static str,
    /// The profiles, at most one per dialect. Empty if the strictness is unknown.
    profiles: &'static [&'static str],
}

const fn route(host: &'static str, model: &'static str, profiles: &'static [&'static str]) -> Route {
    Route { host, model, profiles }
}

/// The first match counts.
#[rustfmt::skip]
static ROUTES: &[Route] = &[
    // https://docs.anthropic.com/en/api/messages
    route("api.anthropic.com", "", &["anthropic-messages"]),
    // https://platform.openai.com/docs/api-reference/chat/create
    route("api.openai.com", "", &["openai-chat", "openai-responses"]),
    // Azure's messages are the same as OpenAI's: https://github.com/sdcb/chats/pull/132
    route("*.openai.azure.com", "", &["openai-chat", "openai-responses"]),
    // Claude in Microsoft Foundry runs on Anthropic's servers:
    // https://platform.claude.com/docs/en/build-with-claude/claude-in-microsoft-foundry
    route("*.services.ai.azure.com", "claude-", &["anthropic-messages"]),
    // https://ai.google.dev/api/generate-content; its endpoint for OpenAI's dialect validates in an
    // undocumented way.
    route("generativelanguage.googleapis.com", "", &["gemini"]),
    // https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/inference, global or in a region
    route("aiplatform.googleapis.com", "", &["vertex-gemini"]),
    route("*-aiplatform.googleapis.com", "", &["vertex-gemini"]),
    // https://docs.aws.amazon.com/general/latest/gr/bedrock.html
    route("bedrock-runtime.*.amazonaws.com", "", &["bedrock-converse", "bedrock-anthropic"]),
    route("bedrock-runtime-fips.*.amazonaws.com", "", &["bedrock-converse", "bedrock-anthropic"]),
    // https://docs.mistral.ai/api/
    route("api.mistral.ai", "", &["mistral"]),

    // https://api-docs.deepseek.com/
    route("api.deepseek.com", "", &["deepseek", "deepseek-responses", "deepseek-messages"]),
    // https://platform.kimi.ai/docs/api/overview
    route("api.moonshot.ai", "", &["moonshot", "moonshot-messages"]),
    route("api.moonshot.cn", "", &["moonshot", "moonshot-messages"]),
    // The plan for coding agents: https://github.com/1jehuang/jcode/issues/322
    route("api.kimi.com", "", &["moonshot", "moonshot-messages"]),
    // https://console.groq.com/docs/api-reference
    route("api.groq.com", "", &["groq"]),
    // https://docs.x.ai/docs/api-reference
    route("api.x.ai", "", &["xai", "xai-responses"]),
    // The hosts for individual, business and enterprise users:
    // https://github.com/BerriAI/litellm/pull/30072.
    route("*.githubcopilot.com", "", &["copilot-responses", "copilot-chat"]),
    // https://inference-docs.cerebras.ai/api-reference/chat-completions
    route("api.cerebras.ai", "", &["cerebras"]),
    // https://docs.cohere.com/docs/compatibility-api
    route("api.cohere.ai", "", &["cohere"]),
    route("api.cohere.com", "", &["cohere"]),
    // https://github.com/MiniMax-AI/MiniMax-M2/issues/76 and, for the second, https://github.com/QwenLM/qwen-code/issues/11905
    route("api.minimax.io", "", &["minimax"]),
    route("api.minimaxi.com", "", &["minimax"]),
    route("api.minimax.chat", "", &["minimax"]),
    // https://docs.perplexity.ai/api-reference/chat-completions-post
    route("api.perplexity.ai", "", &["perplexity"]),
    // Pay as you go, and the plans by region: https://github.com/tailcallhq/forgecode/issues/3347
    route("*.xiaomimimo.com", "", &["mimo"]),
    // https://github.com/agno-agi/agno/pull/5317
    route("dashscope.aliyuncs.com", "", &["dashscope"]),
    route("dashscope-intl.aliyuncs.com", "", &["dashscope"]),

    // A gateway that puts the origin before the model's name:
    // https://openrouter.ai/docs/features/provider-routing. It forwards the provider's messages:
    // https://github.com/continuedev/continue/issues/11556 (Alibaba) and
    // https://github.com/MiniMax-AI/MiniMax-M2/issues/76 (MiniMax). It translates requests for the models
    // of Anthropic and Google into another dialect, so these have its own profile, as the models of unknown
    // servers have.
    route("openrouter.ai", "openai/", &["openai-chat"]),
    route("openrouter.ai", "deepseek/", &["deepseek"]),
    route("openrouter.ai", "moonshotai/", &["moonshot"]),
    route("openrouter.ai", "x-ai/", &["xai"]),
    route("openrouter.ai", "cohere/", &["cohere"]),
    route("openrouter.ai", "minimax/", &["minimax"]),
    route("openrouter.ai", "qwen/", &["dashscope"]),
    // https://github.com/x5iu/claude-code-adapter/pull/12 (Xiaomi's words in the metadata).
    route("openrouter.ai", "xiaomi/", &["mimo"]),
    route("openrouter.ai", "perplexity/", &["perplexity"]),
    route("openrouter.ai", "", &["openrouter"]),

    // https://docs.z.ai/api-reference/llm/chat-completion, and the host in China:
    // https://github.com/lobehub/lobehub/issues/11408
    route("api.z.ai", "", &["zai"]),
    route("open.bigmodel.cn", "", &["zai"]),
    // A gateway to many servers, most with open models on unknown software:
    // https://huggingface.co/docs/inference-providers/index
    route("router.huggingface.co", "", &["huggingface"]),
    // https://docs.together.ai/reference/chat-completions-1
    route("api.together.xyz", "", &["together"]),
    route("api.together.ai", "", &["together"]),
    // https://github.com/langchain-ai/langchainjs/pull/10662
    route("inference.baseten.co", "", &["baseten"]),
    // https://docs.fireworks.ai/api-reference/post-chatcompletions
    route("api.fireworks.ai", "", &["fireworks"]),
    // OpenAI's dialect for other providers' models, with undocumented validation: Snowflake Cortex, Heroku,
    // Crusoe, Ollama.
    route("*.snowflakecomputing.com", "", &[]),
    route("us.inference.heroku.com", "", &[]),
    route("eu.inference.heroku.com", "", &[]),
    route("api.inference.crusoecloud.com", "", &[]),
    route("ollama.com", "", &[]),
];

/// Returns whether a name matches a pattern with at most one `*`, which matches one or more characters. The name that it
/// stands for may have been removed together with its dot.
fn is_host(pattern: &str, host: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == host,
        Some(("", end)) if end.strip_prefix('.') == Some(host) => true,
        Some((start, end)) => {
            host.len() > start.len() + end.len() && host.starts_with(start) && host.ends_with(end)
        }
    }
}

#[cfg(test)]
mod tests {
    use hashbrown::HashSet;

    use super::*;

    /// The profiles that no host leads to: their users run the server themselves, or choose the model by option.
    const WITHOUT_HOST: [&str; 8] = [
        "anthropic-messages-2026-10-21",
        "vllm",
        "chat-template",
        "mistral-v3",
        "mistral-v7",
        "mistral-v11",
        "mistral-v13",
        "toy",
    ];

    fn name(host: &str, model: &str) -> Option<&'static str> {
        profile_for(Dialect::OpenaiChat, host, model).map(Profile::undated)
    }

    #[test]
    fn hosts_and_gateways_lead_to_profiles() {
        assert_eq!(name("API.DeepSeek.com:443", "deepseek-v4-flash"), Some("deepseek"));
        for redacted in
            ["mine.openai.azure.com", ".openai.azure.com", "openai.azure.com", "***.openai.azure.com"]
        {
            assert_eq!(name(redacted, "gpt-5"), Some("openai-chat"), "{redacted}");
        }
        assert_eq!(name("openrouter.ai", "DeepSeek/deepseek-v4-pro"), Some("deepseek"));
        assert_eq!(name("openrouter.ai", "openai/gpt-5"), Some("openai-chat"));
        assert_eq!(name("openrouter.ai", "anthropic/claude-sonnet-4.6"), Some("openrouter"));
        assert_eq!(name("api.z.ai", "glm-5.3"), Some("zai"));
        assert_eq!(name("openrouter.ai", "openrouter/moonshotai/kimi-k2"), Some("moonshot"));
        let foundry = |model| profile_for(Dialect::AnthropicMessages, "mine.services.ai.azure.com", model);
        assert_eq!(foundry("claude-opus-5").map(Profile::undated), Some("anthropic-messages"));
        assert!(foundry("grok-4").is_none());
    }

    #[test]
    fn each_dialect_of_a_host_has_its_own_profile() {
        use Dialect::{AnthropicMessages, BedrockConverse, Gemini, Mistral, OpenaiChat, OpenaiResponses};
        for (dialect, host, expected) in [
            (OpenaiResponses, "api.openai.com", Some("openai-responses")),
            (OpenaiResponses, "mine.openai.azure.com", Some("openai-responses")),
            (OpenaiResponses, "api.deepseek.com", Some("deepseek-responses")),
            (OpenaiResponses, "api.x.ai", Some("xai-responses")),
            (OpenaiResponses, "api.githubcopilot.com", Some("copilot-responses")),
            (OpenaiChat, "api.githubcopilot.com", Some("copilot-chat")),
            (AnthropicMessages, "bedrock-runtime.us-east-1.amazonaws.com", Some("bedrock-anthropic")),
            (Gemini, "generativelanguage.googleapis.com", Some("gemini")),
            (OpenaiChat, "generativelanguage.googleapis.com", None),
            (Gemini, "aiplatform.googleapis.com", Some("vertex-gemini")),
            (Gemini, "europe-west4-aiplatform.googleapis.com", Some("vertex-gemini")),
            (Gemini, "xaiplatform.googleapis.com", None),
            (BedrockConverse, "bedrock-runtime.us-east-1.amazonaws.com", Some("bedrock-converse")),
            (BedrockConverse, "localhost:8787", None),
            (Mistral, "api.mistral.ai", Some("mistral")),
            (OpenaiChat, "api.mistral.ai", None),
        ] {
            let found = profile_for(dialect, host, "").map(Profile::undated);
            assert_eq!(found, expected, "{dialect} at {host}");
        }
    }

    #[test]
    fn every_profile_has_a_host_or_is_listed_as_having_none() {
        for profile in Profile::all() {
            let name = profile.undated();
            let has_host = ROUTES.iter().any(|route| route.profiles.contains(&name));
            let is_listed = WITHOUT_HOST.contains(&name);
            assert!(
                has_host != is_listed,
                "{name}: give it a host in `ROUTES`, or list it in `WITHOUT_HOST`"
            );
        }
    }

    #[test]
    fn a_model_of_one_provider_leads_to_its_host() {
        assert_eq!(host_of_model("mistral-large-latest"), Some("api.mistral.ai"));
        assert_eq!(host_of_model("Grok-4"), Some("api.x.ai"));
        assert_eq!(host_of_model("deepseek-chat"), Some("api.deepseek.com"));
        assert_eq!(host_of_model("deepseek/deepseek-v4-pro"), Some("api.deepseek.com"));
        assert_eq!(host_of_model("MiniMax-M2.5"), Some("api.minimax.io"));
        for open in ["gpt-5", "qwen3-coder", "deepseek-r1-distill-llama-70b", "mixtral", ""] {
            assert_eq!(host_of_model(open).filter(|host| *host != "api.mistral.ai"), None, "{open}");
        }
        for (_, host) in MODELS {
            assert!(profile_for(Dialect::OpenaiChat, host, "").is_some(), "{host}");
        }
    }

    #[test]
    fn this_computer_and_placeholders_stand_for_no_provider() {
        for host in [
            "127.0.0.1:8317",
            "localhost",
            "LOCALHOST:8080",
            "[::1]:80",
            "192.168.1.7:8000",
            "0.0.0.0",
            "litellm:4000",
            "host.docker.internal:11434",
            "<host>",
            "${BASE}",
            "***",
            "your-gateway.company.com",
            "api.example.com",
        ] {
            assert!(is_stand_in(host), "{host}");
        }
        for host in ["", "api.openai.com", "8.8.8.8:80", "gateway.acme.io", "api.myproxy.dev"] {
            assert!(!is_stand_in(host), "{host}");
        }
    }

    #[test]
    fn unknown_hosts_have_no_profile() {
        assert_eq!(name("ollama.com", "glm-5.3"), None);
        assert_eq!(name("api.openai.com.example.org", "gpt-5"), None);
        assert_eq!(name("", ""), None);
        assert!(profile_for(Dialect::OpenaiChat, "api.anthropic.com", "claude-sonnet-5").is_none());
    }

    #[test]
    fn every_route_is_reachable_and_has_one_profile_per_dialect() {
        for (n, route) in ROUTES.iter().enumerate() {
            let is_hidden =
                |before: &Route| before.host == route.host && route.model.starts_with(before.model);
            assert!(!ROUTES[..n].iter().any(is_hidden), "{} {}", route.host, route.model);
            let mut dialects = HashSet::new();
            for name in route.profiles {
                let profile = Profile::named(name).unwrap_or_else(|| panic!("no profile {name}"));
                assert!(dialects.insert(profile.dialect), "{}", route.host);
            }
        }
    }
}
