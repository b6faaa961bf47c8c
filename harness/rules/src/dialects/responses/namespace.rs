//! A call to a function in a namespace contains the namespace's name.
//!
//! Calls are compared only with the tools in the request. A request without tools passes, and so does an
//! unknown name.

use std::borrow::Cow;

use super::{Item, ItemKind, ToolKind, at};
use crate::json::Json;
use crate::{Occurrence, Rule, Violations};

/// Calls without a namespace. They are kept because the tools may come before or after the items.
#[derive(Debug, Default)]
pub(super) struct UnplacedCalls<'a>(Vec<(usize, Cow<'a, str>)>);

impl<'a> UnplacedCalls<'a> {
    pub(super) fn item(&mut self, item: Item<'_, 'a>) {
        if item.kind != ItemKind::Call(ToolKind::Function) {
            return;
        }
        let [name, namespace] = item.json.pick(["name", "namespace"]);
        if namespace.is_none_or(|namespace| !namespace.is_str()) {
            self.0.extend(name.and_then(Json::as_str).map(|name| (item.n, name)));
        }
    }

    /// Compares the calls with the tools of the request.
    pub(super) fn finish(&mut self, body: Json, out: &mut Violations) {
        let tools = body.field("tools");
        let is_namespace = |tool: Json| tool.field("type").is("namespace");
        if !tools.items().any(is_namespace) {
            return;
        }
        let has = |tool: Json, name: &str| tool.field("name").is(name);
        let is_default = |name: &str| tools.items().any(|tool| !is_namespace(tool) && has(tool, name));
        let is_inside = |name: &str| {
            let holds = |tool: Json| tool.field("tools").items().any(|inner| has(inner, name));
            tools.items().any(|tool| is_namespace(tool) && holds(tool))
        };
        for (n, name) in self.0.iter().filter(|(_, name)| is_inside(name) && !is_default(name)) {
            out.add(&NAMESPACE_MISSING, || {
                let violation = Occurrence::at(format!("{}/namespace", at(*n))).with("name", name);
                violation.param(format!("input[{n}].namespace"))
            });
        }
    }
}

pub(crate) static NAMESPACE_MISSING: Rule = Rule {
    summary: "A call of a function in a namespace names that namespace.",
    why: "The `namespace` of the call was lost when it was stored or sent again. Keep all fields of \
         a call as they came; if they are already lost, take the namespace from the tool of that \
         name.",
    sentences: &[
        "Missing namespace for function_call '{name}'. It does not exist in the default namespace. Round-trip the \
         model's function_call item with its namespace field included.",
    ],
    sources: &[
        "https://github.com/vercel/ai/pull/15193",
        "https://github.com/earendil-works/pi/issues/7709",
        "https://github.com/vercel/ai/issues/20265",
        "https://github.com/github/copilot-cli/issues/4519",
    ],
    ..Rule::measured("openai-responses/namespace-missing", "RSP-NS-1", 2, "2026-05")
};
