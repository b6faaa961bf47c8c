"""Lets Brickbat drive the OpenAI Agents SDK for Python, used as an application uses it. README.md says the rest."""
import json
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path

from agents import Agent, FunctionTool, OpenAIChatCompletionsModel, OpenAIResponsesModel, Runner, SQLiteSession
from agents import set_tracing_disabled
from agents.exceptions import ModelBehaviorError
from openai import AsyncOpenAI
from brickbat_adapter import gate, serve

SDK = "openai-agents"
MODELS = {"openai-responses": (OpenAIResponsesModel, "gpt-5"), "openai-chat": (OpenAIChatCompletionsModel, "gpt-4.1")}
# Tracing would go to OpenAI.
set_tracing_disabled(True)


class Failed(Exception):
    """A tool that answers with an error."""


class Cancelled(Exception):
    """The run ended without an output and without an error, as it does after `cancel`."""


def gated(given):
    async def invoke(_, text):
        try:
            arguments = json.loads(text or "{}")
        except ValueError as error:
            # As `@function_tool` says it.
            raise ModelBehaviorError(f"Invalid JSON input for tool {given['name']}: {text}") from error
        try:
            return await gate(given, arguments, Failed)
        except Failed as error:
            # "In case of errors, you can either raise an Exception (which will cause the run to fail) or return a
            # string error message (which will be sent back to the LLM)."
            return str(error)
    return FunctionTool(given["name"], given["description"], given["inputSchema"], invoke, strict_json_schema=False,
                        needs_approval=given["asks"])


@asynccontextmanager
async def database(spec, store, text):
    """A `SQLiteSession`, to which the SDK itself adds what is said."""
    session = SQLiteSession(store.file.stem, Path(spec["stateDir"], "sessions.db"))
    try:
        yield text, {"session": session}, lambda _: None
    finally:
        session.close()


@asynccontextmanager
async def by_hand(_, store, text):
    """"Manual conversation management": `to_input_list` of the run, however it ended, is the input of the next one."""
    said = json.loads(store.load() or "[]") + [{"role": "user", "content": text}]
    store.save(json.dumps(said).encode())
    yield said, {}, lambda result: store.save(json.dumps(result.to_input_list()).encode())


def is_whole(items):
    """Whether every call has its output."""
    def ids(kind):
        return {item["call_id"] for item in items if item.get("type") == kind}
    return ids("function_call") <= ids("function_call_output")


MODES = {"session": database, "input-list": by_hand}


async def turn(spec, store, text, stopped, show, ask):
    kind, name = MODELS[spec["dialect"]]
    client = AsyncOpenAI(api_key="none", base_url=spec["baseUrl"] + "/v1")
    model = kind(spec.get("model") or name, openai_client=client)
    agent = Agent("brickbat", model=model, tools=[gated(given) for given in spec["tools"]])
    limit = {"max_turns": spec["maxSteps"]} if "maxSteps" in spec else {}

    async def run(said, how, keep):
        result = Runner.run_streamed(agent, said, **how, **limit)
        stopped.add_done_callback(lambda _: result.cancel())
        try:
            async for event in result.stream_events():
                # For a call that runs the SDK has no state.
                if event.type == "run_item_stream_event" and event.name == "tool_output":
                    await show(event.item.raw_item["call_id"], "completed")
                    if is_whole(result.to_input_list()):
                        keep(result)
        finally:
            keep(result)
        if result.interruptions:
            state = result.to_state()
            for call in result.interruptions:
                allowed = await ask(call.raw_item.call_id)
                # The SDK is at rest while the user is asked: here the application is the one that is stopped.
                if allowed is None:
                    raise Cancelled
                (state.approve if allowed else state.reject)(call)
            await run(state, how, keep)
        elif result.final_output is None:
            raise Cancelled

    async with MODES[spec["mode"]](spec, store, text) as (said, how, keep):
        await run(said, how, keep)


async def read(spec, store):
    async with MODES[spec["mode"]](spec, store, "") as (_, how, _):
        return await how["session"].get_items() if how else json.loads(store.load() or "[]")


about = {"sdk": SDK, "version": version(SDK), "modes": list(MODES),
         "capabilities": {"approvals": True, "sharedSession": True, "stepLimit": True}}
serve(about, MODELS, turn, Cancelled, read=read)
