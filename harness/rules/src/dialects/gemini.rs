//! Google Gemini, `generateContent`: the rules and their order.
//!
//! Types of fields come first, then emptiness, then the order of calls and responses, then thought
//! signatures. Only the order of the first two is confirmed. No known rejected request broke several of the
//! later ones at once.
//!
//! Ids do not matter: calls and responses are paired by number. The path names the model. If the path is
//! unknown, a rule that applies only to some models reads the body's field `model`, which the API has and
//! clients omit. If that is missing too, the violation is only a warning, or not reported at all.

mod conversation;
mod fields;
mod issued;
mod profiles;
mod schema;
mod signatures;
mod stream;
mod switches;
mod turns;

pub(crate) use issued::Issued;

use serde_json::Value;

use super::{Checker, Definition, Switches};
use crate::json::Json;
use crate::streams::Framing;
use crate::{Delivery, Memory, ModelVersion, Occurrence, Profile, Retention, Rule, Violations};
use fields::{Content, GeminiRole};
use signatures::Signatures;
use switches::GeminiSwitches;
use turns::{Count, Turns};

pub(super) static DEFINITION: Definition = Definition {
    name: "gemini",
    rules: RULES,
    profiles: &profiles::PROFILES,
    path_ends: &[":generateContent", ":streamGenerateContent"],
    only_host: None,
    model_field: "model",
    model_of_path: Some(model_of_path),
    list: "contents",
    codec: &conversation::CODEC,
    bare: br#"{"contents":[]}"#,
    refuse_unreadable: |_, error, out| out.add(&BODY_NOT_JSON, || Occurrence::at("").with("error", error)),
    keeps: |_| Retention::All,
    remember,
    stream_rules: stream::RULES,
    tolerated_of_relatives: &[],
    framing: Framing::LinesOrArray,
    machine: || Box::new(stream::Gemini::new()),
};

/// If a reply broke off, the client may have received it up to any of its signatures.
/// `…/models/MODEL:method`.
fn model_of_path(path: &str) -> Option<&str> {
    path.rsplit_once("/models/")?.1.split(['/', ':']).next()
}

fn remember(memory: &mut Memory, _: Json, reply: &Value, _: Delivery) {
    let list = |value: &'_ Value| value.as_array().cloned().unwrap_or_default();
    for part in list(&reply["candidates"]).iter().flat_map(|candidate| list(&candidate["content"]["parts"])) {
        if let Some(signature) = part["thoughtSignature"].as_str() {
            memory.signatures.add(signature);
        }
    }
}

impl Switches for GeminiSwitches {
    fn checker<'a>(&'static self, _: &'static Profile, memory: &'a Memory) -> Box<dyn Checker<'a> + 'a> {
        Box::new(GeminiChecker {
            switches: self,
            model: None,
            turns: Turns::default(),
            signatures: Signatures::of(memory),
        })
    }
}

struct GeminiChecker<'a> {
    switches: &'static GeminiSwitches,
    model: Option<&'a str>,
    turns: Turns,
    signatures: Signatures<'a>,
}

impl<'a> Checker<'a> for GeminiChecker<'a> {
    fn model(&mut self, model: &'a str) {
        self.model = Some(model);
    }

    fn message(&mut self, n: usize, content: Json<'_, 'a>, out: &mut Violations) {
        let content = Content::of(n, content);
        schema::check_content(content, out);
        let mut count = Count::default();
        for part in content.parts() {
            schema::check_part(&part, out);
            self.signatures.part(&part, count.n_calls == 0);
            count.part(&part);
        }
        self.turns.content(content, &count);
        if content.role == Some(GeminiRole::User) && count.n_responses == 0 {
            self.signatures.begin_turn();
        }
    }

    fn finish(&mut self, body: Json<'_, 'a>, n_messages: Option<usize>, out: &mut Violations) {
        let named = body.field("model").as_str();
        let model = self.model.or(named.as_deref());
        let model = model.and_then(|name| Some((name, ModelVersion::of_gemini(name)?)));
        schema::check_body(body, n_messages, out);
        self.turns.finish(self.switches, model, out);
        self.signatures.finish(self.switches, model.map(|(_, version)| version), out);
    }
}

/// Every rule, in checking order.
static RULES: &[&Rule] = &[
    &BODY_NOT_JSON,
    &schema::REQUEST_SHAPE,
    &schema::NAME_UNKNOWN,
    &schema::ARGS_NOT_OBJECT,
    &schema::RESPONSE_NOT_OBJECT,
    &schema::CONTENTS_EMPTY,
    &schema::UNKNOWN_ROLE,
    &turns::FUNCTION_ROLE,
    &schema::PARTS_EMPTY,
    &schema::PART_EMPTY,
    &schema::TEXT_EMPTY,
    &schema::FUNCTION_NAME_EMPTY,
    &schema::DECLARATION_NAME_PATTERN,
    &turns::RESPONSE_COUNT,
    &turns::RESPONSE_MISSING,
    &turns::CALL_NOT_AFTER_USER,
    &turns::RESPONSE_NOT_AFTER_CALL,
    &turns::ENDS_WITH_MODEL,
    &turns::RESPONSES_MIXED,
    &signatures::THOUGHT_SIGNATURE_MISSING,
    &signatures::THOUGHT_SIGNATURE_CORRUPTED,
];

/// The parser's error message begins like "Invalid JSON payload received. Unknown name \"id\" at
/// 'contents\[7\].parts\[0\].function_response': Cannot find field."
/// (<https://github.com/google-gemini/gemini-cli/issues/13972>). Its error message for bytes that are not
/// JSON differs.
pub(crate) static BODY_NOT_JSON: Rule = Rule {
    summary: "The body is JSON.",
    why: "The bytes are not JSON. Write the body with a JSON library, and cut strings by code points.",
    sentences: &["Invalid JSON payload received. {error}"],
    sources: &[
        "https://github.com/google-gemini/gemini-cli/issues/13972",
        "https://ai.google.dev/gemini-api/docs/troubleshooting",
    ],
    ..Rule::secondary("gemini/body-not-json", "GEM-BODY-1", 0, "2024-02")
};

#[cfg(test)]
mod tests {
    use super::signatures::THOUGHT_SIGNATURE_MISSING;
    use super::*;
    use crate::json::Document;
    use crate::{Profile, refusal, validate_asking};

    /// A call without a signature, which only Gemini 3 rejects.
    const UNSIGNED: &str = r#""contents":[{"role":"user","parts":[{"text":"hi"}]},
        {"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]},
        {"role":"user","parts":[{"functionResponse":{"name":"f","response":{}}}]}]"#;

    #[test]
    fn the_model_in_the_path_overrides_the_one_in_the_body() {
        let is_refused = |path: Option<&str>, body: &str| {
            let body = format!("{{{body}{UNSIGNED}}}");
            let document = Document::parse(body.as_bytes());
            let profile = Profile::newest(crate::Dialect::Gemini);
            let memory = Memory::default();
            let violations = validate_asking(profile, &memory, path, body.as_bytes(), &document);
            refusal(&violations).is_some_and(|refusal| refusal.rule.id == THOUGHT_SIGNATURE_MISSING.id)
        };
        let body = r#""model":"models/gemini-3-pro-preview","#;
        assert!(is_refused(Some("gemini-3-flash-preview"), ""));
        assert!(is_refused(None, body));
        assert!(!is_refused(Some("gemini-2.5-pro"), body));
        assert!(!is_refused(Some("brickbat"), ""));
        assert!(!is_refused(None, ""));
    }
}
