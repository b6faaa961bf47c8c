//! Ctrl-C: the first one ends the run and lets it be reported, the second one ends the program at once.

use std::thread;

use super::output::tell;

/// Exit code after a second Ctrl-C, as in shells: 128 plus the number of the signal.
const INTERRUPTED: i32 = 130;

/// Runs something to its end; none if the user interrupts it.
pub(super) async fn until_interrupted<T>(run: impl Future<Output = T>) -> Option<T> {
    let interrupted = async {
        // Without a signal handler, Ctrl-C ends brickbat as it ends any program.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    // Biased, so that the handler is in place before the work begins.
    tokio::select! {
        biased;
        () = interrupted => {}
        done = run => return Some(done),
    }
    // In a thread of its own, so that it ends the program whatever the others wait for.
    thread::spawn(quit_at_the_second);
    tell("interrupted; press Ctrl-C again to quit without a report");
    None
}

fn quit_at_the_second() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    if runtime.is_ok_and(|runtime| runtime.block_on(tokio::signal::ctrl_c()).is_ok()) {
        std::process::exit(INTERRUPTED);
    }
}
