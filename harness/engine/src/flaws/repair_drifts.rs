//! BUG: The made-up result for a cut-off call has a different text in each request. No system is known to do
//! this; the suite also covers bugs that were never reported.

use super::prelude::*;

flaw! {
    Flaw::new("repair-drifts", "repair-stable");

    fn request(&mut self, setup: &Setup, thread: &mut [Message], id: RequestId, _: Asking) -> Vec<u8> {
        let results = thread.iter_mut().filter_map(Message::results_mut).flatten();
        for result in results.filter(|result| is_made_up(result)) {
            result.text = format!("{MADE_UP}, as seen in request {}.", id.0);
        }
        request::body(setup, thread)
    }
}
