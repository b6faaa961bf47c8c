//! BUG: The store of a turn that is over has lost the results of a turn that was stopped.
//! No system is known to do this: the suite guards against more than was ever reported.

use super::prelude::*;

pub static FLAW: Flaw = Flaw::new("store-forgets", "views-agree", || Box::new(StoreForgets));

struct StoreForgets;

impl Decisions for StoreForgets {
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
