//! BUG: The results of failed tools are stored, but not converted when the thread is loaded. A report of this
//! class: <https://github.com/TraderAlice/OpenAlice/issues/50>

use super::prelude::*;

flaw! {
    Flaw::new("errors-not-lowered", "thread-survives").class("persist-translate");

    fn loaded(&self, thread: Vec<Message>) -> Vec<Message> {
        let results = thread.iter().filter_map(Message::results).flatten();
        let failed: Vec<String> =
            results.filter(|result| result.is_error).map(|result| result.call_id.clone()).collect();
        without_results(repaired(thread), |result| failed.contains(&result.call_id))
    }
}
