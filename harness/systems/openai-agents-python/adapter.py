"""Lets Brickbat drive the OpenAI Agents SDK for Python, the way an application uses it. See README.md."""
import json
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path

import httpx2
from agents import Agent, FunctionTool, OpenAIChatCompletionsModel, OpenAIResponsesModel, RunConfig, RunHooks, Runner
from agents import RunState, SessionSettings, SQLiteSession, handoff, set_tracing_disabled
from agents.exceptions import ModelBehaviorError
from openai import AsyncOpenAI, DefaultAsyncHttpxClient
from brickbat_adapter import gate, saving, serve, up_to

SDK = "openai-agents"
FIRST = "brickbat"
MODELS = {"openai-responses": (OpenAIResponsesModel, "gpt-5"), "openai-chat": (OpenAIChatCompletionsModel, "gpt-4.1")}
# Tracing would send data to OpenAI.
set_tracing_disabled(True)


# Items that report the end of a call.
ENDED = ("tool_call_output_item", "handoff_output_item")


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
    """A tool that returns an error."""


class Cancelled(Exception):
    """The run ended without an output and without an error, as it does after `cancel`."""


def parsed(given, text):
    try:
        return json.loads(text or "{}")
    except ValueError as error:
        # The error of `@function_tool`.
        raise ModelBehaviorError(f"Invalid JSON input for tool {given['name']}: {text}") from error


def gated(given):
    async def invoke(_, text):
        arguments = parsed(given, text)
        try:
            return await gate(given, arguments, Failed)
        except Failed as error:
            # "In case of errors, you can either raise an Exception (which will cause the run to fail) or return a
            # string error message (which will be sent back to the LLM)."
            return str(error)
    return FunctionTool(given["name"], given["description"], given["inputSchema"], invoke, strict_json_schema=False,
                        needs_approval=given["asks"])


def toolbox(given_tools, model):
    """The tools of an agent. A tool with `agent` is a sub-agent (`Agent.as_tool`) that has all the plain tools."""
    own = [gated(given) for given in given_tools if not given.get("agent")]
    agents = (given for given in given_tools if given.get("agent"))
    return own + [Agent(given["name"], model=model, tools=own).as_tool(given["name"], given["description"])
                  for given in agents]


def agents_of(spec, model):
    """The agents of a session by name: the first, and one for each handoff tool. All have the same tools."""
    tools = [given for given in spec["tools"] if "handsOver" not in given]
    final = [given["name"] for given in tools if given.get("ends")]

    def agent(name):
        return Agent(name, instructions=f"You are {name}." if name != FIRST else None, model=model,
                     tools=toolbox(tools, model),
                     tool_use_behavior={"stop_at_tool_names": final} if final else "run_llm_again")

    def handed(given):
        target = agents[given["handsOver"]]

        async def invoke(_, text):
            await gate(given, parsed(given, text), Failed)
            return target
        # `on_handoff` takes arguments of a Python type, but the scenario has only a schema.
        made = handoff(target, tool_name_override=given["name"], tool_description_override=given["description"])
        made.input_json_schema, made.strict_json_schema, made.on_invoke_handoff = given["inputSchema"], False, invoke
        return made

    over = [given for given in spec["tools"] if "handsOver" in given]
    agents = {name: agent(name) for name in [FIRST] + [given["handsOver"] for given in over]}
    for each in agents.values():
        each.handoffs = [handed(given) for given in over]
    return agents


class Interrupted(Exception):
    """An exception that the application raises."""


class Interrupting(RunHooks):
    """Hooks that raise an exception in the run once `interrupt` has requested it."""

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
    """The application's store: the items of the conversation, and the state of a stopped run if there is one."""
    return json.loads(store.load() or '{"items": []}')


def keep_in(store, items, state=None):
    store.save(json.dumps({**kept(store), "items": items, "state": state}).encode())


class Database(SQLiteSession):
    """The SDK's session. The harness can delay its writes and let them fail."""

    def __init__(self, spec, *args):
        super().__init__(*args)
        self.spec = spec

    async def add_items(self, items):
        async with saving(self.spec, sum(map(is_entry, items))) as keep:
            await super().add_items(up_to(items, is_entry, keep))


def is_entry(item):
    """Returns true for a user message, a call or a result."""
    return item.get("role") == "user" or item.get("type") in ("function_call", "function_call_output")


@asynccontextmanager
async def database(spec, store, text):
    """A `SQLiteSession`, to which the SDK adds the messages."""
    session = Database(spec, store.file.stem, Path(spec["stateDir"], "sessions.db"))
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
    """Cuts the history that is retrieved from now on. The session keeps the rest."""
    async with database(spec, store, "") as (_, how, _):
        first = max(len(await how["session"].get_items()) - keep, 0)
    store.save(json.dumps(kept(store) | {"first": first}).encode())


@asynccontextmanager
async def by_hand(_, store, text):
    """"Manual conversation management": `to_input_list` of each run is the input of the next one, even after an error."""
    said = kept(store)["items"] + [{"role": "user", "content": text}]
    keep_in(store, said, kept(store).get("state"))
    yield said, {}, lambda result: keep_in(store, result.to_input_list())


@asynccontextmanager
async def chained(_, store, text):
    """"Server-managed conversations": OpenAI keeps the messages, and a run continues from the last response before it."""
    last = kept(store).get("response")
    how = {"auto_previous_response_id": True, **({"previous_response_id": last} if last else {})}

    def keep(result):
        # A failed run has no result to take the id from.
        if result.final_output is not None:
            store.save(json.dumps(kept(store) | {"response": result.last_response_id}).encode())

    yield text, how, keep


def is_complete(items):
    """Returns true if every call has its output."""
    def ids(kind):
        return {item["call_id"] for item in items if item.get("type") == kind}
    return ids("function_call") <= ids("function_call_output")


MODES = {"session": database, "input-list": by_hand, "response-id": chained}


async def turn(spec, store, text, stopped, show, ask):
    kind, name = MODELS[spec["dialect"]]
    http = DefaultAsyncHttpxClient(transport=ToProvider(spec["baseUrl"]))
    client = AsyncOpenAI(api_key="none", base_url="https://api.openai.com/v1", http_client=http)
    model = kind(spec.get("model") or name, openai_client=client)
    hooks = store.running = Interrupting()
    # "You can store the last agent, and re-use it the next time the user messages the agent" (guide on results).
    agents = agents_of(spec, model)
    agent = agents[kept(store).get("agent", FIRST)]
    limit = {"max_turns": spec["maxSteps"]} if "maxSteps" in spec else {}

    # The agent that the run began with. Restoring the run's state needs it.
    begun = agent.name

    async def resumed(said):
        """The unfinished run of a stopped turn, with the user's message added. Without one, only the message.

        "If new user input arrives before that unfinished run resumes, convert the drained result with
        `result.to_state()`, call `state.add_input(...)`, and resume from the state." (guide on streaming)
        """
        nonlocal begun
        last = kept(store)
        if not last.get("state"):
            return said
        begun = last["state"]["begun"]
        state = await RunState.from_string(agents[begun], last["state"]["text"])
        state.add_input(text)
        store.repaired("resume-stopped-run")
        keep_in(store, last["items"])
        return state

    async def run(said, how, keep):
        result = Runner.run_streamed(agent, said, hooks=hooks, **how, **limit)
        # There are two ways to stop. This one "saves session state properly".
        stopped.add_done_callback(lambda _: result.cancel(mode="after_turn"))
        try:
            async for event in result.stream_events():
                # The SDK reports no state for a running call.
                if event.type == "run_item_stream_event" and event.item.type in ENDED:
                    await show(event.item.raw_item["call_id"], "completed")
                    if is_complete(result.to_input_list()):
                        keep(result)
        finally:
            keep(result)
            store.save(json.dumps(kept(store) | {"agent": result.last_agent.name}).encode())
        if result.interruptions:
            state = result.to_state()
            for call in result.interruptions:
                allowed = await ask(call.raw_item.call_id)
                # The SDK is idle while the user is asked, so the stop reaches only the application.
                if allowed is None:
                    raise Cancelled
                (state.approve if allowed else state.reject)(call)
            await run(state, how, keep)
        elif result.final_output is None:
            keep_in(store, kept(store)["items"], {"begun": begun, "text": result.to_state().to_string()})
            raise Cancelled

    async with MODES[spec["mode"]](spec, store, text) as (said, how, keep):
        await run(await resumed(said), how, keep)


async def read(spec, store):
    if spec["mode"] != "session":
        return kept(store)["items"]
    async with database(spec, store, "") as (_, how, _):
        return await how["session"].get_items()


async def act(spec, store, action):
    """Raises an exception in a hook, cuts the history, or removes the last messages item by item."""
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
         "capabilities": {"approvals": True, "sharedSession": True, "saving": True, "failingWrites": True,
                          "stepLimit": True, "finalTools": True, "handoffs": True, "subAgents": True,
                          "interrupt": True, "changes": {"rewind": True, "trim": True, "provider": True}}}
serve(about, MODELS, turn, Cancelled, read=read, act=act)
