//! Takes results that are already available, without waiting.

use futures::FutureExt;

/// The output of a future if it is ready now.
/// Tokio limits how much a task may take before it must yield, and then reports a full channel as empty.
/// All runs of one command share that budget, so a busy machine would lose events to it.
pub(crate) fn by_now<T>(future: impl Future<Output = T>) -> Option<T> {
    tokio::task::unconstrained(future).now_or_never()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_full_channel_is_emptied_without_waiting() {
        const N_EVENTS: usize = 1_000;
        let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
        (0..N_EVENTS).for_each(|event| sender.send(event).unwrap());
        let mut taken = 0;
        while let Some(Some(_)) = receiver.recv().now_or_never() {
            taken += 1;
        }
        assert!(taken < N_EVENTS, "Tokio has no budget any more, and `by_now` no reason");
        while let Some(Some(_)) = by_now(receiver.recv()) {
            taken += 1;
        }
        assert_eq!(taken, N_EVENTS);
    }
}
