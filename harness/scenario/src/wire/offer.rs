//! What a request lets the model do next: the tools that it may call, and the form of its answer.

use std::borrow::Cow;

use brickbat_rules::json::Json;

/// What a request lets the model do next.
#[derive(Debug, Clone)]
pub struct Offer<'t, 'a> {
    /// The tools that take JSON arguments and that the model knows from the start, in their order.
    pub tools: Vec<CallableTool<'t, 'a>>,
    /// Which of them it may or must call.
    pub choice: ToolChoice<'a>,
    /// Whether it may make several calls in one reply.
    pub parallel: bool,
    /// The JSON Schema that the text of its answer has to fit; nothing or null where any text will do.
    pub answer: Option<Json<'t, 'a>>,
    /// Whether the answer has to be JSON, where no schema says of which form.
    pub answers_in_json: bool,
}

/// A tool as a request declares it.
#[derive(Debug, Clone)]
pub struct CallableTool<'t, 'a> {
    /// Its name.
    pub name: Cow<'a, str>,
    /// The JSON Schema of its arguments; null where it takes none.
    pub schema: Json<'t, 'a>,
}

/// What a request says about calling tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolChoice<'a> {
    /// The model decides.
    Free,
    /// None may be called.
    Never,
    /// One must be called.
    Any,
    /// This one must be called.
    Only(Cow<'a, str>),
}

impl<'t, 'a> Offer<'t, 'a> {
    /// An offer of these tools, with nothing said about them.
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
    /// A tool with the schema of its arguments, if it has a name.
    pub(crate) fn named(name: Json<'t, 'a>, schema: Json<'t, 'a>) -> Option<CallableTool<'t, 'a>> {
        let name = name.as_str().filter(|name| !name.is_empty())?;
        Some(CallableTool { name, schema })
    }
}

impl<'a> ToolChoice<'a> {
    /// A choice in a word: `auto`, `none`, `required` or `any`, in any case.
    pub(crate) fn of_word(word: &str) -> ToolChoice<'static> {
        match word.to_ascii_lowercase().as_str() {
            "none" => ToolChoice::Never,
            "required" | "any" => ToolChoice::Any,
            _ => ToolChoice::Free,
        }
    }

    /// The tool of that name must be called, if it is a name.
    pub(crate) fn only(name: Json<'_, 'a>) -> ToolChoice<'a> {
        name.as_str().map_or(ToolChoice::Free, ToolChoice::Only)
    }
}
