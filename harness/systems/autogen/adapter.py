"""Lets Brickbat drive AutoGen, the way an application uses it. See README.md."""
import asyncio
import json
from importlib.metadata import version
from typing import Any

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.messages import ToolCallExecutionEvent
from autogen_core import CancellationToken
from autogen_core.tools import BaseTool
from pydantic import BaseModel, ConfigDict, create_model
from brickbat_adapter import gate, serve, stoppable

SDK = "autogen-agentchat"
# More steps than any scenario has. It bounds a system that never stops calling the model.
MAX_STEPS = 20
# "model_info is required when model name is not recognized"
INFO = {"vision": False, "function_calling": True, "json_output": True, "family": "unknown", "structured_output": True}


def anthropic(url, model):
    from autogen_ext.models.anthropic import AnthropicChatCompletionClient
    return AnthropicChatCompletionClient(model=model or "claude-haiku-4-5", api_key="none", base_url=url, model_info=INFO)


def chat(url, model):
    from autogen_ext.models.openai import OpenAIChatCompletionClient
    return OpenAIChatCompletionClient(model=model or "gpt-4.1", api_key="none", base_url=f"{url}/v1", model_info=INFO)


# Imports are slow, so each dialect imports its own.
MODELS = {"openai-chat": chat, "anthropic-messages": anthropic}


class Failed(Exception):
    """A tool that returns an error."""


def arguments(schema):
    """The type that AutoGen validates arguments against: required properties must be present."""
    fields = {name: (Any, ... if name in schema.get("required", []) else None) for name in schema.get("properties", {})}
    return create_model("Arguments", __config__=ConfigDict(extra="allow"), **fields)


class Gated(BaseTool[BaseModel, str]):
    """A tool of the scenario, with a JSON schema of its parameters. Its exceptions become error results."""

    def __init__(self, given):
        super().__init__(arguments(given["inputSchema"]), str, given["name"], given["description"])
        self.given = given

    @property
    def schema(self):
        return {"name": self.name, "description": self.description, "parameters": self.given["inputSchema"]}

    async def run(self, args, cancellation_token):
        return await gate(self.given, args.model_dump(exclude_unset=True), Failed)


def agent_of(spec):
    return AssistantAgent(
        "assistant",
        MODELS[spec["dialect"]](spec["baseUrl"], spec.get("model")),
        tools=[Gated(given) for given in spec["tools"]],
        model_client_stream=True,
        max_tool_iterations=MAX_STEPS,
    )


async def token(agent, text, stopped, show):
    """"The cancellation token to kill the task immediately"."""
    cancellation = CancellationToken()
    stopped.add_done_callback(lambda _: cancellation.cancel())
    async for event in agent.run_stream(task=text, cancellation_token=cancellation):
        # The SDK reports no state for a running call.
        if isinstance(event, ToolCallExecutionEvent):
            for result in event.content:
                await show(result.call_id, "failed" if result.is_error else "completed", result.name)


async def task(agent, text, stopped, show):
    await stoppable(token(agent, text, stopped, show), stopped)


# How a run is stopped.
MODES = {"token": token, "task": task}


async def turn(spec, store, text, stopped, show):
    agent = agent_of(spec)
    # "Managing State" of the guide.
    if stored := store.load():
        await agent.load_state(json.loads(stored))
    try:
        await MODES[spec["mode"]](agent, text, stopped, show)
    finally:
        store.save(json.dumps(await agent.save_state()).encode())


about = {"sdk": SDK, "version": version(SDK), "modes": list(MODES),
         "capabilities": {"sharedSession": True, "changes": {"provider": True}}}
serve(about, MODELS, turn, asyncio.CancelledError, read=lambda _, store: json.loads(store.load() or "{}"),
      ready=lambda spec: MODELS[spec["dialect"]](spec["baseUrl"], spec.get("model")))
