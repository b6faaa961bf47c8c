//! Ctrl-C: the first one ends what runs and lets it be reported, the second one ends everything at once.

use super::tell;

/// Exit code after a second Ctrl-C, as shells have it: 128 and the number of the signal.
const INTERRUPTED: i32 = 130;

/// Runs something to its end; none if the user interrupts it.
pub(super) async fn until_interrupted<T>(run: impl Future<Output = T>) -> Option<T> {
    let interrupted = async {
        // Where signals cannot be listened to, Ctrl-C ends brickbat as it ends any program.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    // In this order: the signal is listened to before the work begins.
    tokio::select! {
        biased;
        () = interrupted => {}
        done = run => return Some(done),
    }
    tell("interrupted; press Ctrl-C again to leave without a report");
    tokio::spawn(async {
        if tokio::signal::ctrl_c().await.is_ok() {
            std::process::exit(INTERRUPTED);
        }
    });
    None
}
