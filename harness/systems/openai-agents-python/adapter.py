"""Lets Brickbat drive the OpenAI Agents SDK for Python, used as an application uses it. README.md says the rest."""
import json
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path

import httpx2
from agents import Agent, FunctionTool, OpenAIChatCompletionsModel, OpenAIResponsesModel, RunConfig, RunHooks, Runner
from agents import RunState, SessionSettings, SQLiteSession, set_tracing_disabled
from agents.exceptions import ModelBehaviorError
from openai import AsyncOpenAI, DefaultAsyncHttpxClient
from brickbat_adapter import gate, serve

SDK = "openai-agents"
MODELS = {"openai-responses": (OpenAIResponsesModel, "gpt-5"), "openai-chat": (OpenAIChatCompletionsModel, "gpt-4.1")}
# Tracing would go to OpenAI.
set_tracing_disabled(True)


class ToProvider(httpx2.AsyncHTTPTransport):
    """Sends requests for OpenAI's address to the provider.

    The SDK demands the end of a reply over Chat Completions from OpenAI only (`require_finish_reason`).
    """

    def __init__(self, url):
        super().__init__()
        self.provider = httpx2.URL(url)

    async def handle_async_request(self, request):
        path = self.provider.raw_path.rstrip(b"/") + request.url.raw_path
        request.url = self.provider.copy_with(raw_path=path)
        request.headers["Host"] = self.provider.netloc.decode()
        return await super().handle_async_request(request)


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


def toolbox(spec, model):
    """The tools. One with `agent` is an agent of its own (`Agent.as_tool`), with all that are none."""
    own = [gated(given) for given in spec["tools"] if not given.get("agent")]
    agents = (given for given in spec["tools"] if given.get("agent"))
    return own + [Agent(given["name"], model=model, tools=own).as_tool(given["name"], given["description"])
                  for given in agents]


class Interrupted(Exception):
    """An exception of the application's."""


class Interrupting(RunHooks):
    """Hooks of the run that end it by an exception, from when `interrupt` asks for it."""

    cause = None

    async def on_tool_end(self, *_):
        self.look()

    async def on_llm_start(self, *_):
        self.look()

    async def on_llm_end(self, *_):
        self.look()

    def look(self):
        if self.cause:
            raise Interrupted(self.cause)


def kept(store):
    """What the application stores: the items of the conversation, and the state of a run that was stopped, if there is one."""
    return json.loads(store.load() or '{"items": []}')


def keep_in(store, items, state=None):
    store.save(json.dumps({**kept(store), "items": items, "state": state}).encode())


@asynccontextmanager
async def database(spec, store, text):
    """A `SQLiteSession`, to which the SDK itself adds what is said."""
    session = SQLiteSession(store.file.stem, Path(spec["stateDir"], "sessions.db"))
    how = {"session": session}
    if first := kept(store).get("first"):
        # "When a run reads session history, it fetches only the latest items" (guide on sessions, "Limit retrieved history").
        limit = len(await session.get_items()) - first
        how["run_config"] = RunConfig(session_settings=SessionSettings(limit=limit))
    try:
        yield text, how, lambda _: None
    finally:
        session.close()


async def trim(spec, store, keep):
    """Cuts the history that is retrieved from now on; the session keeps the rest."""
    async with database(spec, store, "") as (_, how, _):
        first = max(len(await how["session"].get_items()) - keep, 0)
    store.save(json.dumps(kept(store) | {"first": first}).encode())


@asynccontextmanager
async def by_hand(_, store, text):
    """"Manual conversation management": `to_input_list` of the run, however it ended, is the input of the next one."""
    said = kept(store)["items"] + [{"role": "user", "content": text}]
    keep_in(store, said, kept(store).get("state"))
    yield said, {}, lambda result: keep_in(store, result.to_input_list())


def is_whole(items):
    """Whether every call has its output."""
    def ids(kind):
        return {item["call_id"] for item in items if item.get("type") == kind}
    return ids("function_call") <= ids("function_call_output")


MODES = {"session": database, "input-list": by_hand}


async def turn(spec, store, text, stopped, show, ask):
    kind, name = MODELS[spec["dialect"]]
    http = DefaultAsyncHttpxClient(transport=ToProvider(spec["baseUrl"]))
    client = AsyncOpenAI(api_key="none", base_url="https://api.openai.com/v1", http_client=http)
    model = kind(spec.get("model") or name, openai_client=client)
    hooks = store.running = Interrupting()
    final = [given["name"] for given in spec["tools"] if given.get("ends")]
    agent = Agent("brickbat", model=model, tools=toolbox(spec, model),
                  tool_use_behavior={"stop_at_tool_names": final} if final else "run_llm_again")
    limit = {"max_turns": spec["maxSteps"]} if "maxSteps" in spec else {}

    async def resumed(said):
        """The unfinished run of a turn that was stopped, if there is one, with what the user says now.

        "If new user input arrives before that unfinished run resumes, convert the drained result with
        `result.to_state()`, call `state.add_input(...)`, and resume from the state." (guide on streaming)
        """
        last = kept(store)
        if not last.get("state"):
            return said
        state = await RunState.from_string(agent, last["state"])
        state.add_input(text)
        keep_in(store, last["items"])
        return state

    async def run(said, how, keep):
        result = Runner.run_streamed(agent, said, hooks=hooks, **how, **limit)
        # Of the two ways to stop that which "saves session state properly".
        stopped.add_done_callback(lambda _: result.cancel(mode="after_turn"))
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
            keep_in(store, kept(store)["items"], result.to_state().to_string())
            raise Cancelled

    async with MODES[spec["mode"]](spec, store, text) as (said, how, keep):
        await run(await resumed(said), how, keep)


async def read(spec, store):
    if spec["mode"] == "input-list":
        return kept(store)["items"]
    async with database(spec, store, "") as (_, how, _):
        return await how["session"].get_items()


async def act(spec, store, action):
    """Has a hook raise an exception, cuts the history, or takes back what was said, item by item."""
    if "interrupt" in action:
        store.running.cause = action["interrupt"]
        return
    if "keep" in action["change"]:
        return await trim(spec, store, action["change"]["keep"])
    async with database(spec, store, "") as (_, how, _):
        for _ in range(action["change"]["prompts"]):
            while item := await how["session"].pop_item():
                if item.get("role") == "user":
                    break


about = {"sdk": SDK, "version": version(SDK), "modes": list(MODES),
         "capabilities": {"approvals": True, "sharedSession": True, "stepLimit": True, "finalTools": True, "subAgents": True,
                          "interrupt": True, "changes": {"rewind": True, "trim": True, "provider": True}}}
serve(about, MODELS, turn, Cancelled, read=read, act=act)
