//! Google's Agent Development Kit: a session with its events, or the rows of its database (see
//! `adk_rows`).
//!
//! The content of an event is one of the Gemini API. Source: `src/google/adk/sessions/session.py` and
//! `src/google/adk/events/event.py` of <https://github.com/google/adk-python>.

use brickbat_rules::Dialect;

use super::{BASE, Form, Framing, Mark, Shape};
use crate::Product;

pub(crate) const FORM: Form = Form {
    product: Product::GoogleAdk,
    generation: "JSON session",
    file: Framing::List(&["/events"]),
    #[cfg(feature = "sqlite")]
    other: Some(super::adk_rows::ROWS),
    marks: &[Mark::Root(&["/id", "/events", "/state"]), Mark::Every(&["/author"])],
    shape: Shape::Native("/content", Dialect::Gemini),
    dialect: Some(Dialect::Gemini),
    model: &["/model_version"],
    ..BASE
};
