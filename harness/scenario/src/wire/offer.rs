//! The options that a request gives the model: the tools that it may call, and the format of its answer.

use std::borrow::Cow;

use brickbat_rules::json::Json;

/// The tools that a request lets the model call next, and the format of its answer.
#[derive(Debug, Clone)]
pub struct Offer<'t, 'a> {
    /// The tools that take JSON arguments and that the model knows from the start, in their order.
    pub tools: Vec<CallableTool<'t, 'a>>,
    /// Which of the tools the model may or must call.
    pub choice: ToolChoice<'a>,
    /// True if the model may make several calls in one reply.
    pub parallel: bool,
    /// The JSON Schema that the text of the answer must match; `None` or null if any text is allowed.
    pub answer: Option<Json<'t, 'a>>,
    /// True if the answer must be JSON but no schema defines it.
    pub answers_in_json: bool,
}

/// A tool as a request declares it.
#[derive(Debug, Clone)]
pub struct CallableTool<'t, 'a> {
    /// Its name.
    pub name: Cow<'a, str>,
    /// The JSON Schema of its arguments; null if it takes none.
    pub schema: Json<'t, 'a>,
}

/// The restriction that a request puts on tool calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolChoice<'a> {
    /// The model decides.
    Free,
    /// No tool may be called.
    Never,
    /// At least one tool must be called.
    Any,
    /// This tool must be called.
    Only(Cow<'a, str>),
}

impl<'t, 'a> Offer<'t, 'a> {
    /// An offer of these tools, without restrictions.
    pub(crate) fn of(tools: impl Iterator<Item = CallableTool<'t, 'a>>) -> Offer<'t, 'a> {
        Offer {
            tools: tools.collect(),
            choice: ToolChoice::Free,
            parallel: true,
            answer: None,
            answers_in_json: false,
        }
    }
}

impl<'t, 'a> CallableTool<'t, 'a> {
    /// A tool with the schema of its arguments; `None` if it has no name.
    pub(crate) fn named(name: Json<'t, 'a>, schema: Json<'t, 'a>) -> Option<CallableTool<'t, 'a>> {
        let name = name.as_str().filter(|name| !name.is_empty())?;
        Some(CallableTool { name, schema })
    }
}

impl<'a> ToolChoice<'a> {
    /// A choice given as a string: `auto`, `none`, `required` or `any`, in upper or lower case.
    pub(crate) fn of_word(word: &str) -> ToolChoice<'static> {
        match word.to_ascii_lowercase().as_str() {
            "none" => ToolChoice::Never,
            "required" | "any" => ToolChoice::Any,
            _ => ToolChoice::Free,
        }
    }

    /// The tool with this name must be called, if the value is a name.
    pub(crate) fn only(name: Json<'_, 'a>) -> ToolChoice<'a> {
        name.as_str().map_or(ToolChoice::Free, ToolChoice::Only)
    }
}
