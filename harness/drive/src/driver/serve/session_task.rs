//! One served session: takes commands and sends updates and answers, in the order in which things happen.

use crate::by_now::by_now;
use std::collections::HashSet;

use agent_client_protocol::v1::schema::{
    PermissionOption, PermissionOptionKind, PromptResponse, RequestPermissionOutcome,
    RequestPermissionRequest, SessionNotification, SessionUpdate, StopReason, ToolCall, ToolCallStatus,
    ToolCallUpdate, ToolCallUpdateFields,
};
use agent_client_protocol::v1::{ConnectionTo, Responder};
use agent_client_protocol::{Client, Error};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::{Acknowledged, Passed, StoredHistory, meta, wrong};
use crate::driver::action::SessionAction;
use crate::driver::event::SessionEvent;
use crate::driver::in_process::InProcess;
use brickbat_scenario::trace::{Aside, Consent, QuestionId, ShownState, TurnOutcome};

/// A request of the harness to a session, with its responder.
#[derive(Debug)]
pub(super) enum SessionCommand {
    Prompt(String, Responder<PromptResponse>),
    Act(SessionAction, Responder<Acknowledged>),
    Cancel,
    Barrier(Responder<Passed>),
    History(Responder<StoredHistory>),
    /// The user's answer to a question of the agent.
    Answer(QuestionId, Consent),
}

impl SessionCommand {
    /// Answers with an error, if the command expects an answer.
    pub(super) fn refuse(self, error: Error) -> Result<(), Error> {
        match self {
            SessionCommand::Prompt(_, responder) => responder.respond_with_error(error),
            SessionCommand::Act(_, responder) => responder.respond_with_error(error),
            SessionCommand::Barrier(responder) => responder.respond_with_error(error),
            SessionCommand::History(responder) => responder.respond_with_error(error),
            SessionCommand::Cancel | SessionCommand::Answer(..) => Ok(()),
        }
    }
}

/// The error of a session whose task has ended. The turn that was running then was answered with the reason.
pub(super) fn gone() -> Error {
    Error::internal_error().data("the session is over: its thread could not be stored".to_owned())
}

pub(super) struct SessionTask {
    id: String,
    connection: ConnectionTo<Client>,
    session: InProcess,
    turn: Option<Responder<PromptResponse>>,
    /// A prompt that arrived while the turn ran.
    beside: Option<Responder<PromptResponse>>,
    /// The calls that the user has seen. ACP shows a call differently the first time.
    seen: HashSet<String>,
    commands: mpsc::WeakUnboundedSender<SessionCommand>,
}

impl SessionTask {
    pub(super) fn new(
        id: String,
        connection: ConnectionTo<Client>,
        session: InProcess,
        commands: mpsc::WeakUnboundedSender<SessionCommand>,
    ) -> SessionTask {
        SessionTask { id, connection, session, turn: None, beside: None, seen: HashSet::new(), commands }
    }

    /// Serves the session until the process ends, or until the connection is gone.
    pub(super) async fn run(mut self, mut commands: mpsc::UnboundedReceiver<SessionCommand>) {
        self.serve(&mut commands).await;
        // Commands that arrived while the session ended are answered as well.
        commands.close();
        while let Some(command) = commands.recv().await {
            if command.refuse(gone()).is_err() {
                return;
            }
        }
    }

    async fn serve(&mut self, commands: &mut mpsc::UnboundedReceiver<SessionCommand>) {
        loop {
            let served = tokio::select! {
                biased;
                event = self.session.next() => match event {
                    Some(event) => {
                        let is_last = matches!(event, SessionEvent::Lost(_));
                        let reported = self.report(event);
                        if is_last {
                            return;
                        }
                        reported
                    }
                    None => return,
                },
                command = commands.recv() => match command {
                    Some(command) => self.execute(command).await,
                    None => return self.close(),
                },
            };
            if served.is_err() {
                return;
            }
        }
    }

    /// Closes the session: a running turn is stopped, and answered as stopped.
    fn close(&mut self) {
        for turn in self.turn.take().into_iter().chain(self.beside.take()) {
            // A connection that is gone needs no answer.
            let _ = turn.respond(answer(TurnOutcome::Cancelled));
        }
    }

    async fn execute(&mut self, command: SessionCommand) -> Result<(), Error> {
        match command {
            SessionCommand::Prompt(words, responder) => match self.turn {
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
            SessionCommand::Cancel => {
                self.session.cancel();
                Ok(())
            }
            SessionCommand::Act(action, responder) => {
                match action {
                    SessionAction::Steer(text) => self.session.say(Aside::Steered, text),
                    SessionAction::Inject(text) => self.session.say(Aside::Injected, text),
                    SessionAction::Interrupt(cause) => self.session.interrupt(cause),
                    SessionAction::Change(change) if !self.session.change(&change).await => {
                        return responder.respond_with_internal_error("the agent has ended");
                    }
                    SessionAction::Change(_) => {}
                    SessionAction::Tools(tools) => {
                        if !self.session.offer(tools).await {
                            return responder.respond_with_internal_error("the agent has ended");
                        }
                    }
                }
                responder.respond(Acknowledged {})
            }
            SessionCommand::Answer(question, consent) => {
                self.session.answer(question, consent);
                Ok(())
            }
            SessionCommand::Barrier(responder) => {
                if !self.session.barrier().await {
                    return responder.respond_with_internal_error("the agent has ended");
                }
                // The agent's reactions to the bytes before the barrier are reported before the barrier is
                // answered.
                while let Some(Some(event)) = by_now(self.session.next()) {
                    self.report(event)?;
                }
                responder.respond(Passed { read: self.session.readings() })
            }
            SessionCommand::History(responder) => {
                let history = self.session.history().await.unwrap_or_default();
                match serde_json::from_slice::<Value>(&history) {
                    Ok(history) => responder.respond(StoredHistory { history }),
                    Err(error) => responder.respond_with_error(Error::into_internal_error(error)),
                }
            }
        }
    }

    fn report(&mut self, event: SessionEvent) -> Result<(), Error> {
        match event {
            SessionEvent::Shown { id, state } => self.show(id, state),
            SessionEvent::Asked { question, id, args } => self.ask(question, id, args),
            // Our own agent has no adapter.
            SessionEvent::Repaired(_) => Ok(()),
            SessionEvent::Ended(outcome) => {
                let ended = std::mem::replace(&mut self.turn, self.beside.take());
                ended.map_or(Ok(()), |responder| responder.respond(answer(outcome)))
            }
            SessionEvent::PromptRefused => {
                let refused = self.beside.take();
                refused.map_or(Ok(()), |responder| responder.respond_with_error(busy()))
            }
            // A failure of the store is not an error of the agent: it fails the request.
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
        let commands = self.commands.clone();
        // The answer keeps its place among the commands: a later barrier finds it delivered.
        self.connection.prepare_request(request).on_receiving_result(async move |answer| {
            let consent = match answer.map(|answer| answer.outcome) {
                Ok(RequestPermissionOutcome::Selected(chosen)) if *chosen.option_id.0 == *ALLOW => {
                    Consent::Given
                }
                Ok(RequestPermissionOutcome::Selected(_)) => Consent::Refused,
                _ => Consent::Withheld,
            };
            if let Some(commands) = commands.upgrade() {
                // A session that is gone needs no answer.
                let _ = commands.send(SessionCommand::Answer(question, consent));
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
        let update = if self.seen.insert(id.clone()) {
            SessionUpdate::ToolCall(ToolCall::new(id.clone(), id).status(status))
        } else {
            let fields = ToolCallUpdateFields::new().status(status);
            SessionUpdate::ToolCallUpdate(ToolCallUpdate::new(id, fields))
        };
        self.connection.send_notification(SessionNotification::new(self.id.clone(), update))
    }
}

/// The error of a second turn at the same time.
fn busy() -> Error {
    wrong("the previous turn is still running")
}

const ALLOW: &str = "allow";
const REJECT: &str = "reject";

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
