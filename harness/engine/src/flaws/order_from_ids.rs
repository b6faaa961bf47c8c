//! BUG: The store sorts messages by their ids as text, so the tenth comes before the second. opencode:
//! <https://github.com/anomalyco/opencode/issues/28618>

use super::prelude::*;

flaw! {
    Flaw::new("order-from-ids", "order-kept").class("id-order");

    fn loaded(&self, thread: Vec<Message>) -> Vec<Message> {
        let mut named: Vec<(String, Message)> = repaired(thread)
            .into_iter()
            .enumerate()
            .map(|(n, message)| (format!("msg_{n}"), message))
            .collect();
        named.sort_by(|(one, _), (other, _)| one.cmp(other));
        named.into_iter().map(|(_, message)| message).collect()
    }
}
