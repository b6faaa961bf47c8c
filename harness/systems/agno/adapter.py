"""Lets Brickbat drive Agno, the way an application uses it. See README.md."""
import asyncio
import logging
import sys
import uuid
from importlib.metadata import version
from pathlib import Path

from agno.agent import Agent
from agno.db.sqlite import SqliteDb
from agno.run.agent import RunEvent
from agno.tools import Function
from brickbat_adapter import gate, serve

SDK = "agno"
# More runs than any scenario has. The SDK's default is the last three.
HISTORY_RUNS = 1000


def anthropic(url, model):
    from agno.models.anthropic import Claude
    return Claude(id=model or "claude-haiku-4-5", api_key="none", client_params={"base_url": url})


def chat(url, model):
    from agno.models.openai import OpenAIChat
    return OpenAIChat(id=model or "gpt-4.1", api_key="none", base_url=f"{url}/v1")


def responses(url, model):
    from agno.models.openai import OpenAIResponses
    return OpenAIResponses(id=model or "gpt-4.1", api_key="none", base_url=f"{url}/v1")


def gemini(url, model):
    from agno.models.google import Gemini
    return Gemini(id=model or "gemini-3-pro-preview", api_key="none", client_params={"http_options": {"base_url": url}})


# Imports are slow, so each dialect imports its own.
MODELS = {"anthropic-messages": anthropic, "openai-chat": chat, "openai-responses": responses, "gemini": gemini}
# When the run is stored: at its end, or also after the tools of each reply.
CHECKPOINTS = {"runs": "runs", "tool-batch": "tool-batch"}


# The SDK's own logger writes to standard output, which the protocol uses.
for handler in logging.getLogger("agno").handlers:
    handler.setStream(sys.stderr)


class Failed(Exception):
    """A tool that returns an error."""


class Cancelled(Exception):
    """The run ended with the cancelled event, or the user stopped the application."""


def tool_of(given):
    # The SDK passes tools no stop signal: it awaits a call that runs when the user stops the run.
    async def run(**arguments):
        return await gate(given, arguments, Failed)

    return Function(name=given["name"], description=given["description"], parameters=given["inputSchema"],
                    entrypoint=run, skip_entrypoint_processing=True, requires_confirmation=given["asks"],
                    stop_after_tool_call=given.get("ends", False))


def database(spec):
    return SqliteDb(db_file=str(Path(spec["stateDir"], "agno.db")))


def agent_of(spec):
    return Agent(
        model=MODELS[spec["dialect"]](spec["baseUrl"], spec.get("model")),
        tools=[tool_of(given) for given in spec["tools"]],
        db=database(spec),
        add_history_to_context=True,
        num_history_runs=HISTORY_RUNS,
        checkpoint=CHECKPOINTS[spec["mode"]],
        telemetry=False,
    )


async def run(events, show):
    """Reads the events of a run to their end and returns the last one if the run waits for the user."""
    paused = error = None
    async for event in events:
        if event.event == RunEvent.tool_call_started:
            await show(event.tool.tool_call_id, "in_progress", event.tool.tool_name)
        elif event.event == RunEvent.tool_call_completed:
            failed = event.tool.tool_call_error
            await show(event.tool.tool_call_id, "failed" if failed else "completed", event.tool.tool_name)
        elif event.event == RunEvent.run_paused:
            paused = event
        elif event.event == RunEvent.run_cancelled:
            error = Cancelled()
        elif event.event == RunEvent.run_error:
            # A run reports an error as an event instead of raising it.
            error = type(event.error_type or "RunError", (Exception,), {})(event.content)
    if error:
        raise error
    return paused


async def turn(spec, store, text, stopped, show, ask):
    agent, run_id, session_id = agent_of(spec), uuid.uuid4().hex, store.file.stem
    stopped.add_done_callback(lambda _: asyncio.ensure_future(agent.acancel_run(run_id)))
    how = {"run_id": run_id, "session_id": session_id, "stream": True, "stream_events": True}
    paused = await run(agent.arun(text, **how), show)
    while paused:
        questions = paused.active_requirements
        answers = await asyncio.gather(*(ask(question.tool_execution.tool_call_id) for question in questions))
        # The SDK is idle while the user is asked, so the stop reaches only the application.
        if stopped.done():
            raise Cancelled
        for question, allowed in zip(questions, answers):
            question.confirm() if allowed else question.reject()
        paused = await run(agent.acontinue_run(requirements=paused.requirements, **how), show)


def read(spec, store):
    session = agent_of(spec).get_session(session_id=store.file.stem)
    return [run.to_dict() for run in session.runs or []] if session else []


about = {"sdk": SDK, "version": version(SDK), "modes": list(CHECKPOINTS),
         "capabilities": {"approvals": True, "sharedSession": True, "finalTools": True, "changes": {"provider": True}}}
serve(about, MODELS, turn, Cancelled, read=read,
      ready=lambda spec: MODELS[spec["dialect"]](spec["baseUrl"], spec.get("model")))
