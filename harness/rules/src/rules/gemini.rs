//! Google Gemini, `generateContent`: the rules, and the order in which they are checked.
//!
//! The types of fields come first, then what may not be empty, then how turns of calls and responses follow each other,
//! then thought signatures. Of these only the first two are known to be in this order; no refused request is known that
//! broke the later ones at once.
//!
//! Ids do not matter: calls and responses are paired by their number. Which model is asked stands in the path. Where the
//! path is not known, a rule that binds for some models looks for the field `model` of the body, which the API has and
//! clients leave out, and is told as a warning, or not at all, where that is missing too.

mod fields;
mod schema;
mod signatures;
mod table;
mod turns;

use serde_json::Value;

use super::judge::{Book, Judge};
use super::profile::{GeminiSwitches, ModelVersion, Profile, Switches};
use super::violation::{Breach, Breaches};
use super::{Keeps, Memory, Rule, Told};
use crate::json::Json;
use fields::{Content, Role};
use signatures::Signatures;
use turns::{Count, Turns};

pub(super) use table::*;

/// The rules of Google Gemini.
pub(super) struct Gemini;

impl Book for Gemini {
    fn rules(&self) -> &'static [&'static Rule] {
        RULES
    }

    fn list(&self) -> &'static str {
        "contents"
    }

    fn bare(&self) -> &'static [u8] {
        br#"{"contents":[]}"#
    }

    fn judge<'a>(&self, profile: &'static Profile, memory: &'a Memory) -> Box<dyn Judge<'a> + 'a> {
        let Switches::Gemini(switches) = &profile.switches else {
            unreachable!("the profiles of a dialect have its switches, as a test makes sure")
        };
        Box::new(Request {
            switches,
            model: None,
            turns: Turns::default(),
            signatures: Signatures::of(memory),
        })
    }

    fn keeps(&self, _: Json) -> Keeps {
        Keeps::All
    }

    /// A reply that was broken off may have been heard up to any signature of it.
    fn remember(&self, memory: &mut Memory, _: Json, reply: &Value, _: Told) {
        let list = |value: &'_ Value| value.as_array().cloned().unwrap_or_default();
        for part in
            list(&reply["candidates"]).iter().flat_map(|candidate| list(&candidate["content"]["parts"]))
        {
            part["thoughtSignature"]
                .as_str()
                .into_iter()
                .for_each(|signature| memory.signatures.add(signature));
        }
    }

    fn refuse_unreadable(&self, _: &[u8], error: &serde_json::Error, out: &mut Breaches) {
        out.add(&BODY_NOT_JSON, || Breach::at("").with("error", error));
    }
}

/// A request that is being judged.
struct Request<'a> {
    switches: &'static GeminiSwitches,
    /// The model that the path names.
    model: Option<&'a str>,
    turns: Turns,
    signatures: Signatures<'a>,
}

impl<'a> Judge<'a> for Request<'a> {
    fn model(&mut self, model: &'a str) {
        self.model = Some(model);
    }

    fn message(&mut self, n: usize, content: Json<'_, 'a>, out: &mut Breaches) {
        let content = Content::of(n, content);
        schema::check_content(content, out);
        let mut count = Count::default();
        for part in content.parts() {
            schema::check_part(&part, out);
            self.signatures.part(&part, count.n_calls == 0);
            count.part(&part);
        }
        self.turns.content(content, &count, out);
        if content.role == Some(Role::User) && count.n_responses == 0 {
            self.signatures.begin_turn();
        }
    }

    fn finish(&mut self, body: Json<'_, 'a>, n_messages: Option<usize>, out: &mut Breaches) {
        let named = body.field("model").as_str();
        let model = self.model.or(named.as_deref());
        let model = model.and_then(|name| Some((name, ModelVersion::of_gemini(name)?)));
        schema::check_body(body, n_messages, out);
        self.turns.finish(self.switches, model, out);
        self.signatures.finish(self.switches, model.map(|(_, version)| version), out);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Profile, refusal, validate_asking};
    use super::*;
    use crate::json::Document;

    /// A call without a signature, which only Gemini 3 refuses.
    const UNSIGNED: &str = r#""contents":[{"role":"user","parts":[{"text":"hi"}]},
        {"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]},
        {"role":"user","parts":[{"functionResponse":{"name":"f","response":{}}}]}]"#;

    #[test]
    fn the_model_of_the_path_counts_before_that_of_the_body() {
        let is_refused = |path: Option<&str>, body: &str| {
            let body = format!("{{{body}{UNSIGNED}}}");
            let document = Document::parse(body.as_bytes());
            let profile = Profile::newest(crate::dialect::Dialect::Gemini);
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
