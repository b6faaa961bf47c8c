//! The chat templates that come with models. A server renders the conversation with the template of its model, and
//! rejects what the template raises.

use super::templates::TEMPLATES;
use crate::{Profile, Rule};

/// A conversation that was rendered with every template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Probe {
    /// Two messages of the user in a row.
    SuccessiveUsers,
    /// Two replies in a row.
    SuccessiveReplies,
    /// A system prompt and a reply.
    NoUser,
}

/// A template that rejects a probe.
#[derive(Debug)]
pub(super) struct Template {
    /// The model in lower case, with its maker if the file has it.
    pub(super) model: &'static str,
    /// The probes with the template's sentences.
    pub(super) rejects: &'static [(Probe, &'static str)],
}

/// Returns which of the profile's sentences for a rule the template of a model raises. `None` if the template is
/// unknown, renders the probe, or has another sentence: then it rejects the probe for another reason.
pub(super) fn form(profile: &Profile, rule: &'static Rule, model: &str, probe: Probe) -> Option<usize> {
    let template = of_model(model)?;
    let (_, sentence) = template.rejects.iter().find(|(own, _)| *own == probe)?;
    profile.sentences(rule).iter().position(|known| known == sentence)
}

/// Returns the template of a model, with or without its maker, as `google/gemma-2-2b-it` or `gemma-2-2b-it`. Other sizes
/// of the model may have other templates.
fn of_model(model: &str) -> Option<&'static Template> {
    let model = model.to_ascii_lowercase().replace('/', "-");
    let is_end = |whole: &str, end: &str| {
        end.len() >= MIN_NAME
            && whole.strip_suffix(end).is_some_and(|maker| maker.is_empty() || maker.ends_with('-'))
    };
    TEMPLATES.iter().find(|template| is_end(template.model, &model) || is_end(&model, template.model))
}

/// A shorter end of a name is not a model.
const MIN_NAME: usize = 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_leads_to_its_template_with_or_without_its_maker() {
        let model = |name: &str| of_model(name).map(|template| template.model);
        assert_eq!(model("google/gemma-2-2b-it"), Some("google-gemma-2-2b-it"));
        assert_eq!(model("gemma-2-2b-it"), Some("google-gemma-2-2b-it"));
        assert_eq!(model("Qwen/Qwen3.5-4B"), Some("qwen3.5-4b"));
        for other in ["gemma-2-9b-it", "2b-it", "", "qwen3-coder", "my-model"] {
            assert_eq!(model(other), None, "{other}");
        }
    }

    #[test]
    fn the_profile_rejects_in_the_words_of_the_template() {
        let profile = Profile::named("chat-template").unwrap();
        let said = |model: &str, messages: &str| {
            let body = format!(r#"{{"model":"{model}","messages":[{messages}]}}"#);
            let violations = crate::validate(profile, body.as_bytes());
            violations.into_iter().map(|violation| (violation.rule.short_name(), violation.message)).next()
        };
        let twice = r#"{"role":"user","content":"a"},{"role":"user","content":"b"}"#;
        let none = r#"{"role":"system","content":"a"},{"role":"assistant","content":"b"}"#;
        let alternate = "Conversation roles must alternate user/assistant/user/assistant/...".to_owned();
        assert_eq!(said("google/gemma-2-2b-it", twice), Some(("successive-roles", alternate)));
        let (rule, words) = said("mistralai/Ministral-3-14B-Reasoning-2512", twice).unwrap();
        assert_eq!(rule, "successive-roles");
        assert!(words.ends_with("except for tool calls and results."), "{words}");
        let query = "No user query found in messages.".to_owned();
        assert_eq!(said("Qwen/Qwen3.5-4B", none), Some(("user-message-missing", query)));
        // Gemma 2 rejects the system prompt and not the missing user, and Qwen 2.5 renders everything.
        for (model, messages) in [("gemma-2-2b-it", none), ("Qwen/Qwen2.5-7B-Instruct", twice), ("x", twice)]
        {
            assert_eq!(said(model, messages), None, "{model}");
        }
    }

    #[test]
    fn every_template_rejects_something() {
        for template in TEMPLATES {
            assert!(!template.rejects.is_empty(), "{}", template.model);
            assert_eq!(template.model, template.model.to_lowercase());
        }
    }
}
