//! The names under which stores record a provider.
//!
//! Each dialect has its names in [`crate::clients`]. The stores ask for the dialect of a name here, so a new dialect
//! needs no change in a store.

use brickbat_rules::{Dialect, host_of_model, profile_for};

use crate::{Session, clients};

/// The names of a dialect's providers, by the store that records them.
///
/// An entry `name/model` is for a name under which the product offers the models of several dialects: `model` is the
/// beginning of the names of this dialect's models. A store that records only the model has entries `/model`.
#[derive(Debug)]
#[cfg_attr(not(feature = "sqlite"), expect(dead_code, reason = "three stores are databases"))]
pub(crate) struct Names {
    /// The keys under which the AI SDK's packages store data of the provider.
    pub(crate) ai_sdk: &'static [&'static str],
    /// `modelInfo.provider`.
    pub(crate) cline: &'static [&'static str],
    /// Only models. The errors that users report come from the model makers' own APIs
    /// (<https://github.com/github/copilot-cli/issues/3366>, <https://github.com/github/copilot-cli/issues/4572>).
    pub(crate) copilot_cli: &'static [&'static str],
    /// The names in `crates/goose/src/providers`.
    pub(crate) goose: &'static [&'static str],
    /// `model_provider`, as LangChain's partner classes record it.
    pub(crate) langgraph: &'static [&'static str],
    /// The names at <https://models.dev>. opencode's own gateway offers each model in the model's own dialect
    /// (<https://opencode.ai/docs/zen>).
    pub(crate) opencode: &'static [&'static str],
    /// An `api` in `@earendil-works/pi-ai` (`src/types.ts`).
    pub(crate) pi: &'static [&'static str],
    /// The name that pydantic-ai gives to a provider. The models of OpenAI's relatives are `OpenAIChatModel` or write
    /// the same requests.
    pub(crate) pydantic_ai: &'static [&'static str],
    /// `auth_type`. Qwen Code's two defaults, `qwen-oauth` and `openai`, use Chat Completions.
    pub(crate) qwen_code: &'static [&'static str],
}

/// The list of one store.
pub(crate) type Of = fn(&Names) -> &'static [&'static str];

/// The dialect of a model that a provider offers. `None` if the store's list has no such name.
pub(crate) fn dialect_of(store: Of, provider: &str, model: &str) -> Option<Dialect> {
    candidates(store, provider, model).next()
}

/// Notes the dialect and the profile of the provider of the session's model, if the store names no provider.
pub(crate) fn note_provider_of_model(session: &mut Session) {
    let Some(model) = session.model.as_deref().filter(|_| session.dialect.is_none()) else { return };
    let host = host_of_model(model).unwrap_or_default();
    let dialect = match host {
        "api.mistral.ai" => Dialect::Mistral,
        "" if model.starts_with("claude-") => Dialect::AnthropicMessages,
        "" if ["gpt-", "chatgpt-", "o1", "o3", "o4"].iter().any(|start| model.starts_with(start)) => {
            Dialect::OpenaiChat
        }
        // The stores do not keep the signatures with which a Gemini is judged.
        "" => return,
        _ => Dialect::OpenaiChat,
    };
    session.dialect = Some(dialect);
    session.profile = Some(host)
        .filter(|host| !host.is_empty())
        .and_then(|host| profile_for(dialect, host, model).map(|profile| profile.name));
}

/// Every dialect that the name may mean. Names with the beginning of a model come first.
pub(crate) fn candidates<'n>(
    store: Of,
    provider: &'n str,
    model: &'n str,
) -> impl Iterator<Item = Dialect> + use<'n> {
    let entries = move |dialect| store(&clients::of(Some(dialect)).names).iter();
    let offers = move |dialect: &Dialect| {
        let mut models = entries(*dialect).filter_map(|entry| entry.split_once('/'));
        models.any(|(name, begin)| name == provider && model.starts_with(begin))
    };
    let is_named =
        move |dialect: &Dialect| !provider.contains('/') && entries(*dialect).any(|entry| *entry == provider);
    let by_model = Dialect::ALL.into_iter().filter(offers);
    by_model.chain(Dialect::ALL.into_iter().filter(is_named))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// The lists of all stores.
    fn lists(names: &Names) -> [&'static [&'static str]; 9] {
        let Names { ai_sdk, cline, copilot_cli, goose, langgraph, opencode, pi, pydantic_ai, qwen_code } =
            *names;
        [ai_sdk, cline, copilot_cli, goose, langgraph, opencode, pi, pydantic_ai, qwen_code]
    }

    #[test]
    fn a_name_has_one_dialect_in_each_store() {
        let mut dialects: BTreeMap<(usize, &str), Vec<&str>> = BTreeMap::new();
        for dialect in Dialect::ALL {
            for (store, entries) in lists(&clients::of(Some(dialect)).names).into_iter().enumerate() {
                for &entry in entries {
                    dialects.entry((store, entry)).or_default().push(dialect.name());
                }
            }
        }
        let shared = dialects.into_iter().filter(|(_, dialects)| dialects.len() > 1);
        let shared: Vec<_> = shared.map(|((_, name), dialects)| (name, dialects)).collect();
        // The ids in LangChain's metadata show which of OpenAI's two APIs replied.
        let two = vec!["openai-chat", "openai-responses"];
        assert_eq!(shared, [("azure", two.clone()), ("openai", two)]);
    }

    #[test]
    fn an_unknown_name_has_no_dialect() {
        let stores: [Of; 9] = [
            |names| names.ai_sdk,
            |names| names.cline,
            |names| names.copilot_cli,
            |names| names.goose,
            |names| names.langgraph,
            |names| names.opencode,
            |names| names.pi,
            |names| names.pydantic_ai,
            |names| names.qwen_code,
        ];
        for store in stores {
            for (provider, model) in [("unheard-of", "unheard-of"), ("", ""), ("opencode/claude", "")] {
                assert_eq!(dialect_of(store, provider, model), None, "{provider} {model}");
            }
        }
    }

    #[test]
    fn the_beginning_of_a_model_comes_before_the_name() {
        let at_gateway = |model| dialect_of(|names| names.opencode, "opencode", model);
        assert_eq!(at_gateway("claude-x"), Some(Dialect::AnthropicMessages));
        assert_eq!(at_gateway("big-pickle"), Some(Dialect::OpenaiChat));
        assert_eq!(dialect_of(|names| names.copilot_cli, "", "gpt-5.1"), Some(Dialect::OpenaiResponses));
    }
}
