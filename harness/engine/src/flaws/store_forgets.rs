//! BUG: The store of a finished turn has lost the results of an earlier turn that was stopped. No system is
//! known to do this; the suite also covers bugs that were never reported.

use super::prelude::*;

flaw! {
    Flaw::new("store-forgets", "views-agree");

    fn history<'a>(&self, thread: &'a [Message]) -> Cow<'a, [Message]> {
        let mut thread = thread.to_vec();
        for results in thread.iter_mut().filter_map(Message::results_mut) {
            if results.iter().any(is_made_up) {
                results.retain(is_made_up);
            }
        }
        Cow::Owned(thread)
    }
}
