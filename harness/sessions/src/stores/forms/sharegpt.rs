//! ShareGPT: `conversations` of `{from, value}`, the form of many training sets.
//!
//! A call is JSON in a turn of `function_call`, and its result the next `observation`. Neither has an id. Source:
//! `data/README.md` of <https://github.com/hiyouga/LLaMA-Factory>.

use brickbat_rules::histories::Role;

use super::{BASE, Form, Framing, Mark, Piece, Saying, Shape, Speaker};
use crate::Product;

pub(crate) const FORM: Form = Form {
    product: Product::Sharegpt,
    generation: "JSON list",
    file: Framing::Each(&[""], &["/conversations"]),
    marks: &[Mark::Every(&["/from", "/value"])],
    shape: SHAPE,
    finish: Some(super::with_ids),
    ..BASE
};

const SHAPE: Shape = Shape::Speakers(&[
    Speaker { at: "", role: Saying::Named("/from", &SPOKEN), pieces: &[Piece::Text("/value")] },
    Speaker { at: "", role: Saying::Named("/from", &CALLED), pieces: &[Piece::CallInText("/value")] },
    Speaker { at: "", role: Saying::Named("/from", &ANSWERED), pieces: &[Piece::ResultInText("/value")] },
]);

const SPOKEN: [(&str, Role); 5] = [
    ("human", Role::User),
    ("user", Role::User),
    ("gpt", Role::Assistant),
    ("assistant", Role::Assistant),
    ("system", Role::System),
];
const CALLED: [(&str, Role); 2] = [("function_call", Role::Assistant), ("function-call", Role::Assistant)];
const ANSWERED: [(&str, Role); 3] =
    [("observation", Role::Tool), ("function-response", Role::Tool), ("tool", Role::Tool)];
