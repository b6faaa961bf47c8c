"""Lets Brickbat drive Pydantic AI the way an application uses it. README.md describes what each mode stores and when."""
import asyncio
import json
from importlib.metadata import version

import pydantic_ai
from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, ExternalToolset, FunctionToolset
from pydantic_ai import ModelMessagesTypeAdapter
from pydantic_ai import RunContext, Tool, ToolDefinition, ToolDenied
from pydantic_ai.capabilities import Hooks, WebSearch
from pydantic_ai.messages import ModelRequest, UserPromptPart
from pydantic_ai.models import infer_model
from pydantic_ai.providers import infer_provider_class
from given import give
from brickbat_adapter import gate, interruptible, serve, stoppable, typed

SDK = "pydantic-ai-slim"
MODELS = {
    "anthropic-messages": ("anthropic:claude-haiku-4-5", ""),
    "openai-chat": ("openai-chat:gpt-4.1", "/v1"),
    "openai-responses": ("openai-responses:gpt-5", "/v1"),
    "gemini": ("google:gemini-3-pro-preview", ""),
}
# Version 2 has a token that stops a run. In version 1 the task is cancelled, as its documentation recommends.
Token = getattr(pydantic_ai, "CancellationToken", None)
Stopped = getattr(pydantic_ai, "RunCancelled", asyncio.CancelledError)
# The exception for a tool that returns an error. Version 1 has only a request to retry.
Failed = getattr(pydantic_ai, "ToolFailed", pydantic_ai.ModelRetry)
# Version 2 requires this before a new prompt if the last response has calls without a result.
repair_messages = getattr(pydantic_ai.messages, "repair_messages", list)


def model(spec):
    name, path = MODELS[spec["dialect"]]
    name = f"{name.split(':')[0]}:{spec['model']}" if spec.get("model") else name
    return infer_model(name, lambda kind: infer_provider_class(kind)(api_key="none", base_url=spec["baseUrl"] + path))


class Interrupted(Exception):
    """An exception that the application raises, for example on a timeout of the turn."""


class Running:
    """A running turn and the actions on it."""

    def __init__(self):
        self.context, self.notes, self.interrupted = None, [], asyncio.get_running_loop().create_future()
        # The user's messages while a question is open and the SDK is idle.
        self.aside = None

    def noting(self):
        """Hooks that keep the context of the run, and add context for the model after each tool."""
        hooks = Hooks()

        @hooks.on.before_model_request
        async def remember(context, request_context):
            # Steering enqueues the user's messages in this context, also before a tool has run.
            self.context = context
            return request_context

        @hooks.on.after_tool_execute
        async def add_notes(context, *, result, **_):
            while self.notes:
                context.enqueue(self.notes.pop(0))
            return result

        return hooks


def gated(given, running):
    async def run(context, **arguments):
        # Steering enqueues the user's messages in this context.
        running.context = context
        # An argument that the call leaves out has the parameter's default.
        return await gate(given, {name: value for name, value in arguments.items() if value is not None}, Failed)
    typed(run, given["inputSchema"], context=RunContext)
    return Tool(run, takes_ctx=True, name=given["name"], description=given["description"], requires_approval=given["asks"])


def outside(given_tools):
    """The tools that run on the user's side ("External Tool Execution"): the run ends with their calls."""
    tools = [ToolDefinition(name=given["name"], description=given["description"], parameters_json_schema=given["inputSchema"])
             for given in given_tools if given.get("client")]
    return [ExternalToolset(tools)] if tools else []


async def on_page(given_tools, call, stopped):
    """Runs a call on the user's side. Returns the error of a tool that fails."""
    given = next(given for given in given_tools if given["name"] == call.tool_name)
    try:
        return await gate(given, call.args_as_dict(), Failed, stop=stopped)
    except Failed as error:
        return error


async def run(agent, store, watch, **how):
    """`Agent.run` with an event handler. The messages are stored at the end of the run, even after an error."""
    with pydantic_ai.capture_run_messages() as messages:
        try:
            return await agent.run(event_stream_handler=watch, **how)
        finally:
            settle(store, messages, **how)


async def stream(agent, store, watch, **how):
    """`Agent.run_stream_events`, whose last event is the result. Messages are stored as in `run`."""
    with pydantic_ai.capture_run_messages() as messages:
        try:
            async with agent.run_stream_events(**how) as events:
                return await watch(None, events)
        finally:
            settle(store, messages, **how)


async def iterate(agent, store, watch, **how):
    """`Agent.iter` with each node streamed. The messages are stored after each node and at the end."""
    async with agent.iter(**how) as walk:
        try:
            async for node in walk:
                if Agent.is_model_request_node(node) or Agent.is_call_tools_node(node):
                    async with node.stream(walk.ctx) as events:
                        await watch(None, events)
                keep(store, walk.all_messages(), **how)
        finally:
            settle(store, walk.all_messages(), **how)
        return walk.result


MODES = {"run": run, "iter": iterate, "stream": stream}


def keep(store, messages, message_history, **_):
    """Stores the messages once the run has added some. Until then only the prompt is stored."""
    if len(messages) > len(message_history):
        store.save(ModelMessagesTypeAdapter.dump_json(messages))


def settle(store, messages, message_history, **_):
    """Stores the messages at the end of a run. A prompt that the SDK has rejected is not part of the conversation."""
    store.save(ModelMessagesTypeAdapter.dump_json(max(messages, message_history, key=len)))


async def turn(spec, store, text, stopped, show, ask):
    here = store.running = Running()
    known = spec["tools"]

    def current(_):
        """"Dynamically building a toolset": the function is called before each step of the run."""
        return FunctionToolset([gated(given, here) for given in spec["tools"] if not given.get("client")])

    # Only agents with tools that ask or run elsewhere return deferred requests.
    defers = any(given["asks"] or given.get("client") for given in known)
    agent = Agent(model(spec), toolsets=[current, *outside(known)], output_type=[str, DeferredToolRequests] if defers else str,
                  capabilities=[here.noting(), *([WebSearch(max_uses=5)] if spec.get("search") else [])])
    how = {"user_prompt": text, "usage_limits": pydantic_ai.UsageLimits(request_limit=spec.get("maxSteps", 50))}
    if Token:
        how["cancellation_token"] = token = Token()
        stopped.add_done_callback(lambda _: token.cancel())

    async def watch(_, events):
        async for event in events:
            # The SDK reports no state for a running call.
            if event.event_kind == "function_tool_result":
                done = event.part.part_kind == "tool-return" and event.part.outcome == "success"
                await show(event.part.tool_call_id, "completed" if done else "failed")
            elif event.event_kind == "agent_run_result":
                return event.result

    history = ModelMessagesTypeAdapter.validate_json(store.load() or "[]")
    if history and getattr(history[-1], "tool_calls", None):
        before, history = history, repair_messages(history)
        if history != before:
            store.repaired("repair-messages")
    keep(store, [*history, ModelRequest([UserPromptPart(text)])], history)
    while True:
        running = MODES[spec["mode"]](agent, store, watch, message_history=history, **how)
        result = await interruptible(running if Token else stoppable(running, stopped), here.interrupted)
        if not isinstance(result.output, DeferredToolRequests):
            return
        ids = [call.tool_call_id for call in result.output.approvals]
        here.aside = []
        calls = {call.tool_call_id: on_page(known, call, stopped) for call in result.output.calls}
        answers, handed_in = await asyncio.gather(asyncio.gather(*map(ask, ids)), asyncio.gather(*calls.values()))
        # The SDK is idle while the user is asked, so the stop reaches only the application.
        if stopped.done():
            raise Stopped("stopped while the user was asked")
        results = {id: True if allowed else ToolDenied() for id, allowed in zip(ids, answers)}
        handed_in = dict(zip(calls, handed_in))
        for id in handed_in:
            await show(id, "completed")
        history = ModelMessagesTypeAdapter.validate_json(store.load())
        deferred = DeferredToolResults(calls=handed_in, approvals=results)
        how |= {"user_prompt": here.aside or None, "deferred_tool_results": deferred}
        here.aside = None


async def act(spec, store, action):
    """Steers the running turn, adds context in its hook, ends it with an exception, or asks a question outside it."""
    match action:
        case {"steer": text} if store.running.aside is not None:
            store.running.aside.append(text)
        case {"steer": text}:
            store.running.context.enqueue(text)
        case {"inject": text}:
            store.running.notes.append(text)
        case {"interrupt": cause}:
            store.running.interrupted.set_exception(Interrupted(cause))
        case {"change": {"question": question}}:
            # Another agent on the same messages, without tools. Nothing is stored.
            history = ModelMessagesTypeAdapter.validate_json(store.load() or "[]")
            await Agent(model(spec)).run(question, message_history=history)


about = {"sdk": SDK, "version": version(SDK), "modes": list(MODES),
         "capabilities": {"approvals": True, "clientTools": True, "sharedSession": True, "stepLimit": True, "serverTools": True,
                          "givenOrphans": True, "givenRawArguments": True, "steer": True, "hooks": True,
                          "interrupt": True, "changes": {"aside": True, "provider": True, "tools": True, "toolsInTurn": True}}}
serve(about, MODELS, turn, Stopped, give, lambda _, store: json.loads(store.load() or "[]"), ready=model, act=act)
