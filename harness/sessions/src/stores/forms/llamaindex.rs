//! LlamaIndex: a `SimpleChatStore`, with a list of messages for each key.
//!
//! Source: `llama-index-core/llama_index/core/storage/chat_store/simple_chat_store.py` and
//! `llama_index/core/base/llms/types.py` of <https://github.com/run-llama/llama_index>.

use super::{BASE, Form, Framing, Mark, Shape};
use crate::Product;

pub(crate) const FORM: Form = Form {
    product: Product::Llamaindex,
    generation: "chat store",
    file: Framing::Each(&["/store"], &[""]),
    #[cfg(feature = "sqlite")]
    other: Some(super::llamaindex_rows::ROWS),
    #[cfg(not(feature = "sqlite"))]
    other: None,
    marks: &[Mark::RootIs("/class_name", &["SimpleChatStore"]), Mark::Every(&["/role"])],
    shape: Shape::Speakers(super::CHAT),
    model: &["/model"],
    ..BASE
};
