"""Lets Brickbat drive Google's Agent Development Kit, the way an application uses it. See README.md."""
import asyncio
from importlib.metadata import version
from pathlib import Path

from google.adk.agents import LlmAgent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.apps import App
from google.adk.apps.app import EventsCompactionConfig
from google.adk.runners import Runner
from google.adk.sessions import BaseSessionService
from google.adk.sessions.sqlite_session_service import SqliteSessionService
from google.adk.tools import BaseTool
from google.genai import types
from pydantic import BaseModel
from brickbat_adapter import gate, saving, serve

SDK = "google-adk"
APP, USER = "brickbat", "user"


def gemini(url, model):
    from google.adk.models import Gemini
    return Gemini(model=model or "gemini-3-pro-preview", base_url=url)


def anthropic(url, model):
    from anthropic import AsyncAnthropic
    from google.adk.models.anthropic_llm import AnthropicLlm
    return AnthropicLlm(model=model or "claude-haiku-4-5", client=AsyncAnthropic(api_key="none", base_url=url))


def litellm(url, model):
    from google.adk.models.lite_llm import LiteLlm
    return LiteLlm(model=f"openai/{model or 'gpt-4.1'}", api_base=f"{url}/v1", api_key="none")


# Imports are slow, so each dialect imports its own.
MODELS = {"gemini": gemini, "anthropic-messages": anthropic, "openai-chat": litellm}
# The call by which ADK asks for a confirmation, named in "Get action confirmation for ADK Tools".
CONFIRMATION = "adk_request_confirmation"


class Failed(Exception):
    """A tool that returns an error."""


class Cancelled(Exception):
    """The run ended with the aborted event, or the user stopped the application."""


class Gated(BaseTool):
    """A tool of the scenario."""

    def __init__(self, given):
        super().__init__(name=given["name"], description=given["description"])
        self.given = given

    def _get_declaration(self):
        return types.FunctionDeclaration(
            name=self.name, description=self.description, parameters_json_schema=self.given["inputSchema"])

    async def check_require_confirmation(self, args, tool_context):
        return self.given["asks"]

    async def run_async(self, *, args, tool_context):
        # "The preferred return type for a Function Tool is a dictionary in Python", with a status for the model.
        try:
            result = await gate(self.given, args, Failed)
            # "If true, it won't call model to summarize function response."
            tool_context.actions.skip_summarization = self.given.get("ends")
            return {"status": "success", "result": result}
        except Failed as error:
            return {"status": "error", "error_message": str(error)}


class Asked(BaseModel):
    """The input of a sub-agent."""

    input: str


def sub_agent(given, model, tools):
    """"To expose an agent as an inline tool of a parent `LlmAgent`, prefer setting `mode='single_turn'` on the sub-agent and
    attaching it via `sub_agents=[...]`" (docstring of `AgentTool`)."""
    return LlmAgent(name=given["name"], description=given["description"], model=model, tools=tools, mode="single_turn",
                    input_schema=Asked)


# Event writes in progress.
writes = set()


class Sessions(SqliteSessionService):
    """The SDK's service. It counts its writes, because the harness continues when none is in progress, and can delay them and
    let them fail."""

    def __init__(self, spec):
        super().__init__(str(Path(spec["stateDir"], "sessions.db")))
        self.spec = spec

    async def append_event(self, session, event):
        # An event is one row, so the store keeps all of it or nothing.
        async with saving(self.spec, entries(event), whole=True) as keep:
            if keep < entries(event):
                # The row is lost, and the session in memory has the event.
                return await BaseSessionService.append_event(self, session, event)
            task = asyncio.ensure_future(super().append_event(session, event))
            writes.add(task)
            task.add_done_callback(writes.discard)
            return await task


def entries(event):
    """The number of entries that an event adds to the thread. Partial events are not stored."""
    if event.partial:
        return 0
    parts = (event.content and event.content.parts) or []
    said = event.author == "user" and any(part.text for part in parts)
    calls = (part.function_call or part.function_response for part in parts)
    # ADK asks about a call by adding a call of its own.
    return said + sum(bool(call and call.name != CONFIRMATION) for call in calls)


async def settled():
    under_way = list(writes)
    await asyncio.gather(*under_way, return_exceptions=True)
    return bool(under_way)


def service(spec):
    return Sessions(spec)


# Token count at which the events are compacted: more than any scenario has unless its provider reports more.
FULL = 100_000
# The compaction configurations by session file, and the session files with a running turn.
compactions, in_turn = {}, set()


def compaction(store):
    """The compaction configuration of a session. `compact` lowers its threshold for one model request."""
    if store.file not in compactions:
        compactions[store.file] = EventsCompactionConfig(token_threshold=FULL, event_retention_size=0)
    return compactions[store.file]


def compact(store, keep):
    """Has ADK compact at the next model request, where it counts tokens. The next user message is then in the history."""
    config = compaction(store)
    config.event_retention_size = keep + (store.file not in in_turn)
    config.token_threshold = 1


def app(agent, spec, store):
    """The arguments of the runner. In the mode `compaction`, they include the compaction configuration."""
    if spec["mode"] != "compaction":
        return {"app_name": APP, "agent": agent}
    config = compaction(store)

    def asked(**_):
        config.token_threshold = FULL

    agent.before_model_callback = asked
    return {"app": App(name=APP, root_agent=agent, events_compaction_config=config)}


async def turn(spec, store, text, stopped, show, ask):
    in_turn.add(store.file)
    try:
        await turn_of(spec, store, text, stopped, show, ask)
    finally:
        in_turn.discard(store.file)


async def turn_of(spec, store, text, stopped, show, ask):
    notes = store.running = []

    def after_tool(tool, args, tool_context, tool_response):
        """The callback that can change a tool's result. Here it adds the text of `inject`."""
        if notes:
            return {**tool_response, "note": notes.pop(0)}

    model = MODELS[spec["dialect"]](spec["baseUrl"], spec.get("model"))
    tools = [Gated(given) for given in spec["tools"] if not given.get("agent")]
    agents = [sub_agent(given, model, tools) for given in spec["tools"] if given.get("agent")]
    agent = LlmAgent(name="assistant", model=model, tools=list(tools), sub_agents=agents, after_tool_callback=after_tool)
    runner = Runner(**app(agent, spec, store), session_service=service(spec), auto_create_session=True)
    abort = asyncio.Event()
    stopped.add_done_callback(lambda _: abort.set())
    limit = {"max_llm_calls": spec["maxSteps"]} if "maxSteps" in spec else {}
    how = {"user_id": USER, "session_id": store.file.stem, "abort_signal": abort,
           "run_config": RunConfig(streaming_mode=StreamingMode.SSE, **limit)}

    async def run(parts):
        """Runs the agent until it ends or asks the user."""
        questions, error = {}, None
        async for event in runner.run_async(new_message=types.Content(role="user", parts=parts), **how):
            if event.partial:
                continue
            for call in event.get_function_calls():
                if call.name == CONFIRMATION:
                    questions[call.id] = call.args["originalFunctionCall"]["id"]
            for response in event.get_function_responses():
                # The SDK reports no state for a running call.
                if response.id not in event.actions.requested_tool_confirmations:
                    # A sub-agent returns only its last text.
                    of_agent = any(agent.name == response.name for agent in agents)
                    done = of_agent or response.response.get("status") == "success"
                    await show(response.id, "completed" if done else "failed")
            if event.error_code == "INVOCATION_ABORTED":
                error = Cancelled()
            elif event.error_code:
                # The SDK reports a model error as an event instead of raising it.
                error = type(str(event.error_code), (Exception,), {})(event.error_message)
        if error:
            raise error
        return questions

    parts = [types.Part(text=text)]
    while questions := await run(parts):
        answers = await asyncio.gather(*map(ask, questions.values()))
        # The SDK is idle while the user is asked, so the stop reaches only the application.
        if stopped.done():
            raise Cancelled
        parts = [types.Part(function_response=types.FunctionResponse(
            id=id, name=CONFIRMATION, response={"confirmed": allowed})) for id, allowed in zip(questions, answers)]


async def act(spec, store, action):
    """Adds context in the callback, compacts the events, or rewinds the session with the runner's own method."""
    if "inject" in action:
        return store.running.append(action["inject"])
    change = action["change"]
    if "keep" in change:
        return compact(store, change["keep"])
    runner = Runner(app_name=APP, agent=LlmAgent(name="assistant"), session_service=service(spec))
    session = await runner.session_service.get_session(app_name=APP, user_id=USER, session_id=store.file.stem)
    said = []
    for event in session.events:
        if back := event.actions.rewind_before_invocation_id:
            del said[said.index(back):]
        elif event.author == "user" and any(part.text for part in event.content.parts):
            said.append(event.invocation_id)
    await runner.rewind_async(user_id=USER, session_id=store.file.stem,
                              rewind_before_invocation_id=said[-change["prompts"]])


async def read(spec, store):
    session = await service(spec).get_session(app_name=APP, user_id=USER, session_id=store.file.stem)
    return [event.model_dump(mode="json", exclude_none=True) for event in session.events] if session else []


about = {"sdk": SDK, "version": version(SDK), "modes": ["sqlite", "compaction"],
         "capabilities": {"approvals": True, "sharedSession": True, "saving": True, "failingWrites": True,
                          "stepLimit": True, "finalTools": True, "hooks": True, "subAgents": True,
                          "changes": {"automatic": True, "rewind": True, "summarise": True, "inFlight": True,
                                      "provider": True}}}
serve(about, MODELS, turn, Cancelled, read=read, ready=lambda spec: MODELS[spec["dialect"]](spec["baseUrl"], None),
      settled=settled, act=act)
