"""Lets Brickbat drive Strands Agents the way an application uses it. README.md describes what it stores and when."""
import asyncio
import json
from importlib.metadata import version
from pathlib import Path

from strands import Agent
from strands.agent.conversation_manager import SummarizingConversationManager
from strands.hooks import BeforeModelCallEvent, BeforeToolCallEvent
from strands.session import FileSessionManager, SnapshotSessionManager
from strands.storage import LocalFileStorage
from strands.tools import PythonAgentTool
from brickbat_adapter import gate, serve

SDK = "strands-agents"


# The SDK has very different context windows for different models. Here every model has a window of this size.
WINDOW = {"context_window_limit": 200_000}


def anthropic(url, model, thinks):
    from strands.models.anthropic import AnthropicModel
    client = {"api_key": "none", "base_url": url}
    thinking = {"params": {"thinking": {"type": "enabled", "budget_tokens": 1024}}} if thinks else {}
    model = model or "claude-haiku-4-5"
    return AnthropicModel(client_args=client, model_id=model, max_tokens=4096, **WINDOW, **thinking)


def chat(url, model, _):
    from strands.models.openai import OpenAIModel
    return OpenAIModel(client_args={"api_key": "none", "base_url": f"{url}/v1"}, model_id=model or "gpt-4.1", **WINDOW)


def responses(url, model, thinks):
    from strands.models.openai_responses import OpenAIResponsesModel
    client = {"api_key": "none", "base_url": f"{url}/v1"}
    thinking = {"params": {"reasoning": {"summary": "auto"}}} if thinks else {}
    return OpenAIResponsesModel(client_args=client, model_id=model or "gpt-5", **WINDOW, **thinking)


def gemini(url, model, thinks):
    from strands.models.gemini import GeminiModel
    client = {"api_key": "none", "http_options": {"base_url": url}}
    thinking = {"params": {"thinking_config": {"include_thoughts": True}}} if thinks else {}
    return GeminiModel(client_args=client, model_id=model or "gemini-3-pro-preview", **WINDOW, **thinking)


# Imports are slow, so each dialect imports its own.
MODELS = {"anthropic-messages": anthropic, "openai-chat": chat, "openai-responses": responses, "gemini": gemini}


def model_of(spec):
    return MODELS[spec["dialect"]](spec["baseUrl"], spec.get("model"), spec.get("thinking"))


def in_files(session, folder):
    return FileSessionManager(session_id=session, storage_dir=folder)


def in_snapshots(session, folder):
    """Writes the latest snapshot with each message."""
    return SnapshotSessionManager(session_id=session, storage=LocalFileStorage(folder), save_latest_on="message")


def summarizing():
    """Summarises as much as the SDK allows, and by itself when the context is nearly full. A change of the history sets
    how many messages it leaves."""
    return SummarizingConversationManager(
        summary_ratio=0.8, preserve_recent_messages=1, proactive_compression={"compression_threshold": 0.8})


# The managers of "Session Management" and of "Conversation Management" in the user guide. With None, the SDK uses its
# default: a window over the last 40 messages.
MODES = {
    "file": (in_files, lambda: None),
    "snapshot": (in_snapshots, lambda: None),
    "summarizing": (in_files, summarizing),
}


class Failed(Exception):
    """A tool that returns an error."""


class Cancelled(Exception):
    """The result reports that the agent was cancelled."""


def gated(given):
    async def run(tool_use, agent, **_):
        def result(status, text):
            return {"toolUseId": tool_use["toolUseId"], "status": status, "content": [{"text": text}]}
        try:
            return result("success", await gate(given, tool_use["input"], Failed, stop=agent.cancel_signal))
        except Failed as error:
            return result("error", str(error))
    spec = {"name": given["name"], "description": given["description"], "inputSchema": {"json": given["inputSchema"]}}
    return PythonAgentTool(given["name"], spec, run)


def toolbox(spec):
    """The tools. A tool with `agent` is a sub-agent (`Agent.as_tool`) that has all the plain tools."""
    own = [gated(given) for given in spec["tools"] if not given.get("agent")]
    agents = (given for given in spec["tools"] if given.get("agent"))
    return own + [Agent(model_of(spec), tools=own, name=given["name"], callback_handler=None)
                  .as_tool(name=given["name"], description=given["description"]) for given in agents]


def asking(names):
    """The hook of the guide's page on interrupts."""
    def approve(event: BeforeToolCallEvent):
        if event.tool_use["name"] in names:
            if event.interrupt("approval", reason={"call": event.tool_use["toolUseId"]}) != "yes":
                event.cancel_tool = "The user has refused."
    return approve


class Change:
    """A change of the history before the next model request, where the SDK itself checks its length."""

    def __init__(self, keep):
        self.keep = keep

    def before(self, event: BeforeModelCallEvent):
        keep, self.keep = self.keep, None
        manager = event.agent.conversation_manager
        if keep is None:
            return
        if isinstance(manager, SummarizingConversationManager):
            manager.preserve_recent_messages = keep
            manager.reduce_context(event.agent)
        else:
            usual, manager.window_size = manager.window_size, keep
            manager.apply_management(event.agent)
            manager.window_size = usual


# By session file: the changes of running turns, and the number of messages that the next turn keeps.
running, changes = {}, {}


def act(spec, store, action):
    keep = action["change"]["keep"]
    if store.file in running:
        running[store.file].keep = keep
    else:
        # The next user message is kept too.
        changes[store.file] = keep + 1


def opened(spec, store, change):
    """An agent with the stored session that its manager keeps."""
    sessions, conversation = MODES[spec["mode"]]
    return Agent(
        model_of(spec),
        tools=toolbox(spec),
        hooks=[asking({given["name"] for given in spec["tools"] if given["asks"]}), change.before],
        session_manager=sessions(store.file.stem, spec["stateDir"]),
        conversation_manager=conversation(),
        callback_handler=None,
    )


async def turn(spec, store, text, stopped, show, ask):
    change = running[store.file] = Change(changes.pop(store.file, None))
    try:
        await run(spec, opened(spec, store, change), text, stopped, show, ask)
    finally:
        del running[store.file]


async def run(spec, agent, text, stopped, show, ask):
    stopped.add_done_callback(lambda _: agent.cancel())
    said, limits = text, {"turns": spec["maxSteps"]} if "maxSteps" in spec else None
    while True:
        result = None
        async for event in agent.stream_async(said, limits=limits):
            # The SDK reports no state for a running call.
            for block in event.get("message", {}).get("content", []):
                if "toolResult" in block:
                    done = block["toolResult"]["status"] == "success"
                    await show(block["toolResult"]["toolUseId"], "completed" if done else "failed")
            result = event.get("result", result)
        if result.stop_reason == "cancelled":
            raise Cancelled
        if result.stop_reason != "interrupt":
            return
        answers = await asyncio.gather(*(ask(asked.reason["call"]) for asked in result.interrupts))
        # The SDK is idle while the user is asked, so the stop reaches only the application.
        if stopped.done():
            raise Cancelled
        said = [{"interruptResponse": {"interruptId": asked.id, "response": "yes" if allowed else "no"}}
                for asked, allowed in zip(result.interrupts, answers)]


def read(spec, store):
    """The messages in the session's files."""
    files = sorted(Path(spec["stateDir"]).rglob("*.json"))
    kept = [json.loads(file.read_bytes()) for file in files if file != store.file and file.stat().st_size]
    if spec["mode"] == "snapshot":
        return kept
    messages = (part for part in kept if "message_id" in part)
    return [part["message"] for part in sorted(messages, key=lambda part: part["message_id"])]


about = {"sdk": SDK, "version": version(SDK), "modes": list(MODES),
         "capabilities": {"approvals": True, "sharedSession": True, "stepLimit": True, "subAgents": True, "thinking": True,
                          "changes": {"automatic": True, "trim": True, "summarise": True, "inFlight": True,
                                      "provider": True}}}
serve(about, MODELS, turn, Cancelled, read=read, act=act,
      ready=model_of)
