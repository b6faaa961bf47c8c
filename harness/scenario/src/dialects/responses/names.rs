//! The names of functions, which may be in a namespace.
//!
//! A tool of type `namespace` contains functions, such as those of an MCP server, and a call to one of them
//! names both (<https://platform.openai.com/docs/guides/tools-tool-search>). Here such a function's name
//! consists of both names with a slash between them, which is not allowed in a function's name.

use std::borrow::Cow;

use crate::wire::history::string;
use crate::wire::offer::CallableTool;
use brickbat_rules::json::Json;

/// The separator between a namespace and a name.
const SLASH: char = '/';

/// A function that a request declares, and its namespace.
#[derive(Clone, Copy)]
pub(super) struct Function<'t, 'a> {
    pub(super) json: Json<'t, 'a>,
    namespace: Option<Json<'t, 'a>>,
}

/// The functions of a tool: the tool itself, or those in its namespace.
pub(super) fn functions<'t, 'a>(tool: Json<'t, 'a>) -> Vec<Function<'t, 'a>> {
    let is_function = |tool: Json| tool.field("type").is("function");
    if tool.field("type").is("namespace") {
        let inner = tool.field("tools").items().filter(|inner| is_function(*inner));
        return inner.map(|json| Function { json, namespace: Some(tool.field("name")) }).collect();
    }
    let own = is_function(tool).then_some(Function { json: tool, namespace: None });
    own.into_iter().collect()
}

impl<'t, 'a> Function<'t, 'a> {
    /// The function as a callable tool, if it has a name.
    pub(super) fn callable(self) -> Option<CallableTool<'t, 'a>> {
        let tool = CallableTool::named(self.json.field("name"), self.json.field("parameters"))?;
        let name = match self.namespace.and_then(Json::as_str) {
            Some(namespace) => Cow::Owned(format!("{namespace}{SLASH}{}", tool.name)),
            None => tool.name,
        };
        Some(CallableTool { name, ..tool })
    }
}

/// The names that the model can call for a tool.
pub(super) fn of_tool(tool: Json) -> Vec<String> {
    if tool.field("type").is("namespace") {
        return functions(tool)
            .into_iter()
            .filter_map(Function::callable)
            .map(|tool| tool.name.into_owned())
            .collect();
    }
    tool.field("name").as_str().map(Cow::into_owned).into_iter().collect()
}

/// The name in a call, with its namespace.
pub(super) fn of_call(call: Json) -> String {
    let name = string(call.field("name"));
    match call.field("namespace").as_str().filter(|namespace| !namespace.is_empty()) {
        Some(namespace) => format!("{namespace}{SLASH}{name}"),
        None => name,
    }
}

/// The namespace in a name, if it has one, and the rest of the name.
pub(super) fn parts(name: &str) -> (Option<&str>, &str) {
    let is_name = |part: &str| {
        !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
    };
    match name.split_once(SLASH) {
        Some((namespace, rest)) if is_name(namespace) && is_name(rest) => (Some(namespace), rest),
        // A name that a model makes up may contain anything.
        _ => (None, name),
    }
}

#[cfg(test)]
mod tests {
    use brickbat_rules::json::Document;

    use super::*;

    #[test]
    fn a_function_in_a_namespace_has_both_names() {
        let text = br#"[{"type":"function","name":"look"},{"type":"web_search"},{"type":"namespace","name":"crm","tools":[
            {"type":"function","name":"find"},{"type":"custom","name":"write"}]}]"#;
        let document = Document::parse(text).unwrap();
        let names: Vec<String> = document.root().items().flat_map(of_tool).collect();
        assert_eq!(names, ["look", "crm/find"]);
        assert_eq!(parts("crm/find"), (Some("crm"), "find"));
        for whole in ["look", "crm/find me", "/find", "functions.look"] {
            assert_eq!(parts(whole), (None, whole));
        }
    }

    #[test]
    fn a_call_names_its_namespace() {
        for (text, name) in [
            (r#"{"type":"function_call","namespace":"crm","name":"find"}"#, "crm/find"),
            (r#"{"type":"function_call","namespace":"","name":"find"}"#, "find"),
            (r#"{"type":"function_call","name":"look"}"#, "look"),
        ] {
            assert_eq!(of_call(Document::parse(text.as_bytes()).unwrap().root()), name);
        }
    }
}
