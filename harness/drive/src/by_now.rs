//! Takes what is already available, without waiting.

use std::future::poll_fn;
use std::pin::pin;

use futures::FutureExt;
use tokio::sync::mpsc;

/// The output of a future if it is ready now.
/// Tokio limits how much a task may take before it must yield, and then reports a full channel as empty.
/// All runs of one command share that budget, so a busy machine would lose events to it.
pub(crate) fn by_now<T>(future: impl Future<Output = T>) -> Option<T> {
    tokio::task::unconstrained(future).now_or_never()
}

/// The next message of a channel. Dropping the future loses nothing.
///
/// A message that was sent before another event is seen before that event. Tokio's `recv` does not promise
/// this: while another thread is in the middle of sending, it may report a channel as empty that contains
/// completed messages. On a loaded machine such a thread may be suspended there for a long time. It is waited
/// for here. `try_recv` waits for it too, but parks the thread, and then loses a notification that
/// `Runtime::block_on` waits for.
pub(crate) async fn received<T>(receiver: &mut mpsc::Receiver<T>) -> Option<T> {
    poll_fn(|context| {
        loop {
            // Without a budget, so that it is pending only if nothing can be taken.
            let next = pin!(tokio::task::unconstrained(receiver.recv())).poll(context);
            // The messages that are being sent count.
            if next.is_ready() || receiver.is_empty() {
                return next;
            }
            std::thread::yield_now();
        }
    })
    .await
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::TryRecvError as NoEvent;
    use std::thread;

    use super::*;

    #[tokio::test]
    async fn a_full_channel_is_emptied_without_waiting() {
        const N_EVENTS: usize = 1_000;
        let (sender, mut receiver) = mpsc::unbounded_channel();
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

    #[test]
    fn what_was_sent_before_an_event_is_received_before_it() {
        const N_EVENTS: u64 = 300_000;
        let (sender, mut receiver) = mpsc::channel(1_024);
        let (event_sender, events) = std::sync::mpsc::channel();
        let other = sender.clone();
        // It is in the middle of sending most of the time.
        thread::spawn(move || while other.blocking_send(0).is_ok() {});
        thread::spawn(move || {
            for event in 1..=N_EVENTS {
                sender.blocking_send(event).unwrap();
                event_sender.send(event).unwrap();
            }
        });
        let (mut latest, mut n_missed) = (0, 0);
        loop {
            // Without an event, what is there is taken, so that there is place for more.
            let event = match events.try_recv() {
                Ok(event) => event,
                Err(NoEvent::Empty) => 0,
                Err(NoEvent::Disconnected) => break,
            };
            while let Some(Some(message)) = by_now(received(&mut receiver)) {
                latest = latest.max(message);
                if event != 0 && latest >= event {
                    break;
                }
            }
            n_missed += u64::from(latest < event);
        }
        assert_eq!(n_missed, 0);
    }
}
