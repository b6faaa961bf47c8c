//! BUG: The results of failed tools are stored, but not converted when the thread is loaded. A report of this
//! class: <https://github.com/TraderAlice/OpenAlice/issues/50>

use super::prelude::*;

pub static FLAW: Flaw = Flaw::new("errors-not-lowered", "thread-survives", || Box::new(ErrorsNotLowered))
    .class("persist-translate");

struct ErrorsNotLowered;

impl Decisions for ErrorsNotLowered {
    fn loaded(&self, thread: Vec<Message>) -> Vec<Message> {
        let results = thread.iter().filter_map(Message::results).flatten();
        let failed: Vec<String> =
            results.filter(|result| result.is_error).map(|result| result.call_id.clone()).collect();
        without_results(repaired(thread), |result| failed.contains(&result.call_id))
    }
}
