//! Sends the answers of the core, by the rules of [`brickbat_engine::provider`].

use std::sync::Arc;
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::connection::{AfterRequest, Connection, Gone};
use super::http::{self, After, Framing};
use super::receipt::Queue;
use super::{Answered, Mounted, Sent, ServerEvent, Writes, lock};
use crate::driver::stopwatch::Stopwatch;
use brickbat_engine::provider::{self, Answer, Hold};
use brickbat_scenario::trace::{Confidence, Ending, Event, ExchangeId};

/// Pause between two checks of the peer's queue; the runtime's clock has no finer resolution.
const RECEIPT_PAUSE: Duration = Duration::from_millis(1);

impl Connection {
    /// Answers HEAD: a head and no body, so there are neither holds nor a planned ending.
    pub(super) async fn play_head(
        &mut self,
        mounted: &Mounted,
        answer: &Answer,
        after: After,
    ) -> Result<AfterRequest, Gone> {
        self.output.clear();
        http::write_head(&mut self.output, answer.status, &answer.headers, framing(answer), after);
        self.finish(mounted, answer).await?;
        Ok(after.into())
    }

    /// Sends an answer by the rules of [`brickbat_engine::provider`].
    pub(super) async fn play(
        &mut self,
        mounted: &Arc<Mounted>,
        answer: &Answer,
        after: After,
    ) -> Result<AfterRequest, Gone> {
        let framing = framing(answer);
        let per_frame = answer.streamed && self.shared.limits.writes == Writes::PerFrame;
        let mut holds = answer.holds.as_slice();
        self.output.clear();
        self.pass_holds(mounted, answer.exchange, &mut holds, provider::Sent::Nothing).await?;
        http::write_head(&mut self.output, answer.status, &answer.headers, framing, after);
        self.pass_holds(mounted, answer.exchange, &mut holds, provider::Sent::Frames(0)).await?;
        for idx in 0..answer.frames.len() {
            if per_frame {
                self.flush().await?;
            }
            let frame = answer.frames.slice(idx..idx + 1);
            match framing {
                Framing::Chunked => http::write_chunk(&mut self.output, frame),
                Framing::Length(_) => self.output.extend_from_slice(frame),
            }
            self.pass_holds(mounted, answer.exchange, &mut holds, provider::Sent::Frames(idx + 1)).await?;
        }
        if is_cut(answer.ending) {
            return self.cut(mounted, answer.exchange, answer.ending).await;
        }
        if framing == Framing::Chunked {
            self.output.extend_from_slice(http::LAST_CHUNK);
        }
        self.finish(mounted, answer).await?;
        Ok(after.into())
    }

    /// Stops at every hold that has been reached.
    async fn pass_holds(
        &mut self,
        mounted: &Mounted,
        exchange: ExchangeId,
        holds: &mut &[Hold],
        sent: provider::Sent,
    ) -> Result<(), Gone> {
        while let Some((hold, later)) = holds.split_first() {
            if hold.after > sent {
                break;
            }
            *holds = later;
            self.hold(mounted, exchange, hold).await?;
        }
        Ok(())
    }

    async fn hold(&mut self, mounted: &Mounted, exchange: ExchangeId, hold: &Hold) -> Result<(), Gone> {
        self.flush().await?;
        let grade = self.receipt(mounted).await?;
        self.note(mounted, Answered::Exchange(exchange), grade);
        let (release, released) = oneshot::channel();
        lock(&mounted.holds).insert(exchange, release);
        let _ = mounted.seen.send(ServerEvent::Trace(Event::Held { exchange, at: hold.at, grade })).await;
        tokio::select! {
            biased;
            () = self.gone() => {
                lock(&mounted.holds).remove(&exchange);
                Err(Gone)
            }
            _ = released => Ok(()),
        }
    }

    /// Breaks off inside the body, once the peer has read the sent bytes, because a RST would destroy unread
    /// bytes.
    pub(super) async fn cut(
        &mut self,
        mounted: &Arc<Mounted>,
        exchange: ExchangeId,
        ending: Ending,
    ) -> Result<AfterRequest, Gone> {
        self.flush().await?;
        let grade = self.receipt(mounted).await?;
        self.note(mounted, Answered::Exchange(exchange), grade);
        if ending == Ending::Reset {
            return Ok(AfterRequest::Reset(mounted.clone(), exchange));
        }
        self.stream.shutdown().await.map_err(|_| Gone)?;
        let replied = ServerEvent::Trace(Event::Replied { exchange, ending });
        let _ = mounted.seen.send(replied).await;
        Ok(AfterRequest::Close)
    }

    /// Writes the rest. There is no wait between the last write and the report that the reply has ended: the
    /// client may immediately use the connection for another mount, which the end of this mount must not
    /// disturb.
    async fn finish(&mut self, mounted: &Mounted, answer: &Answer) -> Result<(), Gone> {
        let permit = mounted.seen.reserve().await.map_err(|_| Gone)?;
        self.flush().await?;
        self.note(mounted, Answered::Exchange(answer.exchange), Confidence::Written);
        permit.send(ServerEvent::Trace(Event::Replied { exchange: answer.exchange, ending: answer.ending }));
        Ok(())
    }

    /// Notes how far an answer is written, for a proof that comes from the system itself.
    pub(super) fn note(&self, mounted: &Mounted, answer: Answered, grade: Confidence) {
        if let Some(ours) = self.ours {
            let sent = Sent { ports: (self.peer.port(), ours.port()), n_written: self.n_written, grade };
            lock(&mounted.deliveries).note(answer, sent);
        }
    }

    /// Waits, within a bound, until the peer has read everything, as far as this machine shows it.
    pub(super) async fn receipt(&mut self, mounted: &Mounted) -> Result<Confidence, Gone> {
        let Some(ours) = self.ours else { return Ok(Confidence::Written) };
        let mut stopwatch = Stopwatch::start(mounted.process());
        loop {
            match self.shared.machine.look(ours, self.peer, self.n_written) {
                Queue::Empty => return Ok(Confidence::Read),
                Queue::Unknown => return Ok(Confidence::Written),
                Queue::Waiting if stopwatch.has_counted(self.shared.limits.receipt_time) => {
                    return Ok(Confidence::Written);
                }
                Queue::Waiting => {}
            }
            if timeout(RECEIPT_PAUSE, self.gone()).await.is_ok() {
                // A peer that had read everything before it closed sends a FIN, and its queue is empty; one
                // that had not sends a RST.
                return match self.shared.machine.look(ours, self.peer, self.n_written) {
                    Queue::Empty => Ok(Confidence::Read),
                    Queue::Waiting | Queue::Unknown => Err(Gone),
                };
            }
        }
    }
}

pub(super) fn is_cut(ending: Ending) -> bool {
    matches!(ending, Ending::Eof | Ending::Reset)
}

/// The framing of a body. A body of known length that is to be cut promises a byte that never comes.
fn framing(answer: &Answer) -> Framing {
    if answer.streamed {
        return Framing::Chunked;
    }
    let len = answer.frames.slice(0..answer.frames.len()).len();
    Framing::Length(len + usize::from(is_cut(answer.ending)))
}
