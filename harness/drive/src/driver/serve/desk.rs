//! One session that is served: orders in, updates and answers out, in the order in which things happen.

use std::collections::HashSet;

use agent_client_protocol::v1::schema::{
    PermissionOption, PermissionOptionKind, PromptResponse, RequestPermissionOutcome,
    RequestPermissionRequest, SessionNotification, SessionUpdate, StopReason, ToolCall, ToolCallStatus,
    ToolCallUpdate, ToolCallUpdateFields,
};
use agent_client_protocol::v1::{ConnectionTo, Responder};
use agent_client_protocol::{Client, Error};
use futures::FutureExt;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::{Passed, Told, meta, wrong};
use crate::driver::acp::SessionEvent;
use crate::driver::action::Action;
use crate::driver::in_process::InProcess;
use brickbat_scenario::trace::{Aside, Consent, QuestionId, ShownState, TurnOutcome};

/// What the harness asks of a session.
#[derive(Debug)]
pub(super) enum Order {
    Prompt(String, Responder<PromptResponse>),
    Act(Action, Responder<Passed>),
    Cancel,
    Barrier(Responder<Passed>),
    History(Responder<Told>),
    /// The user's answer to a question of the agent's.
    Answer(QuestionId, Consent),
}

impl Order {
    /// Answers for a session whose task is gone: its store failed, and the turn of that moment was told why.
    pub(super) fn refuse(self) -> Result<(), Error> {
        const GONE: &str = "the session is over: its thread could not be stored";
        match self {
            Order::Prompt(_, responder) => responder.respond_with_internal_error(GONE),
            Order::Barrier(responder) | Order::Act(_, responder) => {
                responder.respond_with_internal_error(GONE)
            }
            Order::History(responder) => responder.respond_with_internal_error(GONE),
            Order::Cancel | Order::Answer(..) => Ok(()),
        }
    }
}

/// A session and who waits for what.
pub(super) struct Desk {
    id: String,
    connection: ConnectionTo<Client>,
    session: InProcess,
    /// The running turn's.
    turn: Option<Responder<PromptResponse>>,
    /// A prompt that came while the turn ran.
    beside: Option<Responder<PromptResponse>>,
    /// The calls that the user has seen: ACP shows a call for the first time in another way than later.
    seen: HashSet<String>,
    /// Where the answers to questions go.
    orders: mpsc::WeakUnboundedSender<Order>,
}

impl Desk {
    pub(super) fn new(
        id: String,
        connection: ConnectionTo<Client>,
        session: InProcess,
        orders: mpsc::WeakUnboundedSender<Order>,
    ) -> Desk {
        Desk { id, connection, session, turn: None, beside: None, seen: HashSet::new(), orders }
    }

    /// Serves the session until the process ends, or until nobody listens any more.
    pub(super) async fn run(mut self, mut orders: mpsc::UnboundedReceiver<Order>) {
        self.serve(&mut orders).await;
        // What was ordered while the session ended is answered as well.
        orders.close();
        while let Some(order) = orders.recv().await {
            if order.refuse().is_err() {
                return;
            }
        }
    }

    async fn serve(&mut self, orders: &mut mpsc::UnboundedReceiver<Order>) {
        loop {
            let served = tokio::select! {
                biased;
                event = self.session.next() => match event {
                    Some(event) => {
                        let is_last = matches!(event, SessionEvent::Lost(_));
                        let told = self.tell(event);
                        if is_last {
                            return;
                        }
                        told
                    }
                    None => return,
                },
                order = orders.recv() => match order {
                    Some(order) => self.follow(order).await,
                    None => return,
                },
            };
            if served.is_err() {
                return;
            }
        }
    }

    async fn follow(&mut self, order: Order) -> Result<(), Error> {
        match order {
            Order::Prompt(words, responder) => match self.turn {
                Some(_) if self.beside.is_some() => responder.respond_with_error(busy()),
                Some(_) => {
                    self.beside = Some(responder);
                    self.session.say(Aside::Prompted, words);
                    Ok(())
                }
                None => {
                    self.turn = Some(responder);
                    self.session.prompt(&words);
                    Ok(())
                }
            },
            Order::Cancel => {
                self.session.cancel();
                Ok(())
            }
            Order::Act(action, responder) => {
                match action {
                    Action::Steer(text) => self.session.say(Aside::Steered, text),
                    Action::Inject(text) => self.session.say(Aside::Injected, text),
                    Action::Interrupt(cause) => self.session.interrupt(cause),
                    Action::Change(change) if !self.session.change(&change).await => {
                        return responder.respond_with_internal_error("the agent is gone");
                    }
                    Action::Change(_) => {}
                }
                responder.respond(Passed {})
            }
            Order::Answer(question, consent) => {
                self.session.answer(question, consent);
                Ok(())
            }
            Order::Barrier(responder) => {
                if !self.session.barrier().await {
                    return responder.respond_with_internal_error("the agent is gone");
                }
                // What the agent made of the bytes before the barrier is said before the barrier is answered.
                while let Some(Some(event)) = self.session.next().now_or_never() {
                    self.tell(event)?;
                }
                responder.respond(Passed {})
            }
            Order::History(responder) => {
                let history = self.session.history().await.unwrap_or_default();
                match serde_json::from_slice::<Value>(&history) {
                    Ok(history) => responder.respond(Told { history }),
                    Err(error) => responder.respond_with_error(Error::into_internal_error(error)),
                }
            }
        }
    }

    fn tell(&mut self, event: SessionEvent) -> Result<(), Error> {
        match event {
            SessionEvent::Shown { id, state } => self.show(id, state),
            SessionEvent::Asked { question, id, args } => self.ask(question, id, args),
            SessionEvent::Ended(outcome) => {
                let ended = std::mem::replace(&mut self.turn, self.beside.take());
                ended.map_or(Ok(()), |responder| responder.respond(answer(outcome)))
            }
            SessionEvent::PromptRefused => {
                let refused = self.beside.take();
                refused.map_or(Ok(()), |responder| responder.respond_with_error(busy()))
            }
            // What goes wrong with the store is no error of the agent: it fails the request.
            SessionEvent::Lost(error) => {
                let error = Error::into_internal_error(error);
                match self.turn.take() {
                    Some(responder) => responder.respond_with_error(error),
                    None => Ok(()),
                }
            }
        }
    }

    fn ask(&self, question: QuestionId, id: String, args: Option<String>) -> Result<(), Error> {
        let args: Option<Value> = args.and_then(|args| serde_json::from_str(&args).ok());
        let call = ToolCallUpdate::new(id, ToolCallUpdateFields::new().raw_input(args));
        let options = vec![
            PermissionOption::new(ALLOW, "Yes", PermissionOptionKind::AllowOnce),
            PermissionOption::new(REJECT, "No", PermissionOptionKind::RejectOnce),
        ];
        let request = RequestPermissionRequest::new(self.id.clone(), call, options);
        let orders = self.orders.clone();
        // The answer keeps its place among the orders: a barrier that comes after it finds it told.
        self.connection.prepare_request(request).on_receiving_result(async move |answer| {
            let consent = match answer.map(|answer| answer.outcome) {
                Ok(RequestPermissionOutcome::Selected(chosen)) if *chosen.option_id.0 == *ALLOW => {
                    Consent::Given
                }
                Ok(RequestPermissionOutcome::Selected(_)) => Consent::Refused,
                _ => Consent::Withheld,
            };
            if let Some(orders) = orders.upgrade() {
                // A session that is gone needs no answer.
                let _ = orders.send(Order::Answer(question, consent));
            }
            Ok(())
        })
    }

    fn show(&mut self, id: String, state: ShownState) -> Result<(), Error> {
        let status = match state {
            ShownState::Pending => ToolCallStatus::Pending,
            ShownState::InProgress => ToolCallStatus::InProgress,
            ShownState::Completed => ToolCallStatus::Completed,
            ShownState::Failed => ToolCallStatus::Failed,
        };
        let update = match self.seen.insert(id.clone()) {
            true => SessionUpdate::ToolCall(ToolCall::new(id.clone(), id).status(status)),
            false => {
                let fields = ToolCallUpdateFields::new().status(status);
                SessionUpdate::ToolCallUpdate(ToolCallUpdate::new(id, fields))
            }
        };
        self.connection.send_notification(SessionNotification::new(self.id.clone(), update))
    }
}

/// There is one turn at a time.
fn busy() -> Error {
    wrong("the turn before is still running".to_owned())
}

/// The options of a question.
const ALLOW: &str = "allow";
const REJECT: &str = "reject";

/// The answer to a prompt.
fn answer(outcome: TurnOutcome) -> PromptResponse {
    let stop_reason = match outcome {
        TurnOutcome::Cancelled => StopReason::Cancelled,
        TurnOutcome::Returned | TurnOutcome::Raised { .. } => StopReason::EndTurn,
    };
    let outcome = match outcome {
        TurnOutcome::Returned => json!({ "kind": "returned" }),
        TurnOutcome::Raised { class, text } => json!({ "kind": "raised", "class": class, "text": text }),
        TurnOutcome::Cancelled => json!({ "kind": "cancelled" }),
    };
    PromptResponse::new(stop_reason).meta(meta(json!({ "outcome": outcome })))
}
