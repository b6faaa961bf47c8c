//! The environment variables by which programs find their provider, as `wrap` sets them.
//!
//! A key is never a real one: the provider asks for none, and many clients do not start without one.

use std::collections::BTreeMap;

use brickbat_rules::dialect::Dialect;
use brickbat_scenario::wire;

/// One variable.
#[derive(Debug, Clone, Copy)]
pub struct Variable {
    /// Its name.
    pub name: &'static str,
    /// Its value, in which `{url}` is replaced by the address of the provider.
    pub value: &'static str,
    /// How a value that the user has set is handled.
    pub yields: Yields,
    /// The programs and SDKs that read it.
    pub read_by: &'static str,
}

/// Keeps or replaces a value that the user has set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Yields {
    /// It is replaced.
    Never,
    /// It stays: it has other purposes, too, and does not make any request bypass the provider.
    ToTheUser,
}

const fn set(name: &'static str, value: &'static str, read_by: &'static str) -> Variable {
    Variable { name, value, yields: Yields::Never, read_by }
}

const fn unless_set(name: &'static str, value: &'static str, read_by: &'static str) -> Variable {
    Variable { name, value, yields: Yields::ToTheUser, read_by }
}

/// Every variable that is set, by provider.
#[rustfmt::skip]
pub const VARIABLES: &[Variable] = &[
    set("ANTHROPIC_BASE_URL", "{url}", "Anthropic's SDKs, Claude Code, LangChain, AI SDK, LiteLLM, aider"),
    set("ANTHROPIC_API_BASE", "{url}", "LiteLLM, aider"),
    set("ANTHROPIC_HOST", "{url}", "goose"),
    set("ANTHROPIC_API_KEY", "sk-ant-brickbat", "all of these"),
    unless_set("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1", "Claude Code"),
    set("OPENAI_BASE_URL", "{url}/v1", "OpenAI's SDKs, Codex, LangChain, AI SDK, LiteLLM, llm, qwen-code"),
    set("OPENAI_API_BASE", "{url}/v1", "LiteLLM, aider, LangChain"),
    set("OPENAI_HOST", "{url}", "goose"),
    set("OPENAI_API_KEY", "sk-brickbat", "all of these"),
    set("CODEX_API_KEY", "sk-brickbat", "Codex"),
    set("AZURE_OPENAI_ENDPOINT", "{url}", "OpenAI's SDKs for Azure, LangChain"),
    set("AZURE_OPENAI_API_KEY", "brickbat", "the same"),
    unless_set("OPENAI_API_VERSION", "2024-10-21", "the same"),
    set("AZURE_API_BASE", "{url}", "LiteLLM, aider"),
    set("AZURE_API_KEY", "brickbat", "LiteLLM, aider"),
    unless_set("AZURE_API_VERSION", "2024-10-21", "LiteLLM, aider"),
    set("GOOGLE_GEMINI_BASE_URL", "{url}", "Google's Gen AI SDKs, Gemini CLI"),
    set("GEMINI_API_KEY", "brickbat", "Google's Gen AI SDKs, Gemini CLI, LiteLLM, aider"),
    set("GOOGLE_GENERATIVE_AI_API_KEY", "brickbat", "AI SDK"),
    set("MISTRAL_BASE_URL", "{url}/mistral/v1", "LangChain"),
    set("MISTRAL_API_BASE", "{url}/mistral/v1", "LiteLLM, aider"),
    set("MISTRAL_API_KEY", "brickbat", "Mistral's SDKs and all of these"),
    set("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", "{url}", "AWS's SDKs, for Bedrock's Converse"),
    unless_set("AWS_ACCESS_KEY_ID", "brickbat", "AWS's SDKs"),
    unless_set("AWS_SECRET_ACCESS_KEY", "brickbat", "AWS's SDKs"),
    unless_set("AWS_REGION", "us-east-1", "AWS's SDKs"),
    unless_set("AWS_DEFAULT_REGION", "us-east-1", "AWS's SDK for Python"),
    set("DEEPSEEK_API_BASE", "{url}/deepseek/v1", "LiteLLM, aider, LangChain"),
    set("DEEPSEEK_API_KEY", "brickbat", "LiteLLM, aider, LangChain, AI SDK"),
    set("GROQ_BASE_URL", "{url}/groq", "Groq's SDKs"),
    set("GROQ_API_BASE", "{url}/groq/openai/v1", "LiteLLM, aider, LangChain"),
    set("GROQ_API_KEY", "brickbat", "all of these"),
    set("MOONSHOT_API_BASE", "{url}/moonshot/v1", "LiteLLM, aider"),
    set("MOONSHOT_API_KEY", "brickbat", "LiteLLM, aider"),
    set("XAI_API_BASE", "{url}/xai/v1", "LiteLLM, aider"),
    set("XAI_API_KEY", "brickbat", "LiteLLM, aider, AI SDK"),
    set("OPENROUTER_API_BASE", "{url}/v1", "LiteLLM, aider"),
    set("OPENROUTER_API_KEY", "brickbat", "LiteLLM, aider, goose"),
];

/// Variables that are removed, because they would make a program bypass the provider.
pub const WITHOUT: &[&str] = &[
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_CUSTOM_HEADERS",
    "AWS_BEARER_TOKEN_BEDROCK",
    "AWS_ENDPOINT_URL",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_FOUNDRY",
    "CLAUDE_CODE_USE_VERTEX",
    "GOOGLE_API_KEY",
    "GOOGLE_GENAI_USE_GCA",
    "GOOGLE_GENAI_USE_VERTEXAI",
    "GOOGLE_VERTEX_BASE_URL",
];

/// The base URLs for a provider at that address, in the form that each vendor's SDK expects.
pub fn base_urls(url: &str) -> BTreeMap<Dialect, String> {
    let base_url = |dialect| (dialect, format!("{url}{}", wire::of(dialect).sdk_base));
    Dialect::ALL.into_iter().map(base_url).collect()
}

/// The variables to set for a provider at that address. `own` returns the values that the user has set.
pub fn for_url(url: &str, own: impl Fn(&str) -> Option<String>) -> BTreeMap<String, String> {
    let is_wanted = |variable: &&Variable| variable.yields == Yields::Never || own(variable.name).is_none();
    let wanted = VARIABLES.iter().filter(is_wanted);
    let mut set: BTreeMap<String, String> =
        wanted.map(|variable| (variable.name.to_owned(), variable.value.replace("{url}", url))).collect();
    for name in ["NO_PROXY", "no_proxy"] {
        let before = own(name).filter(|hosts| !hosts.is_empty()).map(|hosts| format!("{hosts},"));
        set.insert(name.to_owned(), format!("{}127.0.0.1,localhost", before.unwrap_or_default()));
    }
    set
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_variable_is_set_twice_or_also_removed() {
        let names: BTreeSet<&str> = VARIABLES.iter().map(|variable| variable.name).collect();
        assert_eq!(names.len(), VARIABLES.len());
        assert!(WITHOUT.iter().all(|name| !names.contains(name)));
    }

    #[test]
    fn every_dialect_has_its_base_url() {
        let base_urls = base_urls("http://127.0.0.1:1");
        assert!(base_urls.keys().copied().eq(Dialect::ALL));
        assert_eq!(base_urls[&Dialect::OpenaiChat], "http://127.0.0.1:1/v1");
    }

    /// A program finds its provider in each dialect: the variable that its SDK reads is set, to the address below
    /// which our provider serves the dialect.
    #[test]
    fn the_variable_of_every_dialect_leads_to_its_base_url() {
        for dialect in Dialect::ALL {
            let wire = wire::of(dialect);
            let Some(name) = wire.sdk_variable else { continue };
            let own = VARIABLES.iter().find(|variable| variable.name == name);
            let value = own.map_or("", |variable| variable.value);
            let base = format!("{{url}}{}", wire.sdk_base);
            assert!(value.starts_with(&base), "{dialect}: {name} is {value:?}, and {base:?} is needed");
        }
    }

    #[test]
    fn a_value_of_the_user_stays_if_no_request_can_bypass_the_provider() {
        let is_own = |name: &str| name.starts_with("AWS_") || ["OPENAI_BASE_URL", "NO_PROXY"].contains(&name);
        let set = for_url("http://127.0.0.1:1", |name| is_own(name).then(|| "mine".to_owned()));
        assert_eq!(set["NO_PROXY"], "mine,127.0.0.1,localhost");
        assert_eq!(set["no_proxy"], "127.0.0.1,localhost");
        assert_eq!(set["OPENAI_BASE_URL"], "http://127.0.0.1:1/v1");
        assert!(!set.contains_key("AWS_REGION"));
        assert_eq!(set["AWS_ENDPOINT_URL_BEDROCK_RUNTIME"], "http://127.0.0.1:1");
    }
}
