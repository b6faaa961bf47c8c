"""Lets Brickbat drive a FunctionAgent of LlamaIndex, the way an application uses it. See README.md."""
import asyncio
from importlib.metadata import version
from pathlib import Path

from llama_index.core.agent.workflow import FunctionAgent, ToolCall, ToolCallResult
from llama_index.core.memory import Memory
from llama_index.core.tools import AsyncBaseTool, ToolMetadata, ToolOutput
from workflows.errors import WorkflowCancelledByUser
from brickbat_adapter import gate, serve

SDK = "llama-index-core"


def anthropic(url, model):
    from llama_index.llms.anthropic import Anthropic
    return Anthropic(model=model or "claude-haiku-4-5", base_url=url, api_key="none", max_tokens=4096)


def chat(url, model):
    from llama_index.llms.openai import OpenAI
    return OpenAI(model=model or "gpt-4.1", api_base=f"{url}/v1", api_key="none")


def responses(url, model):
    from llama_index.llms.openai import OpenAIResponses
    return OpenAIResponses(model=model or "gpt-4.1", api_base=f"{url}/v1", api_key="none")


# Imports are slow, so each dialect imports its own.
MODELS = {"anthropic-messages": anthropic, "openai-chat": chat, "openai-responses": responses}


class Failed(Exception):
    """A tool that returns an error."""


class Metadata(ToolMetadata):
    """The description of a tool whose parameters are a JSON schema."""

    def __init__(self, given):
        super().__init__(description=given["description"], name=given["name"])
        self.schema = given["inputSchema"]

    def get_parameters_dict(self):
        return self.schema


class Gated(AsyncBaseTool):
    """A tool of the scenario. As with function tools, its exceptions become error results."""

    def __init__(self, given):
        self.given, self.about = given, Metadata(given)

    @property
    def metadata(self):
        return self.about

    def call(self, **arguments):
        raise NotImplementedError("the agent calls its tools with acall")

    async def acall(self, **arguments):
        text = await gate(self.given, arguments, Failed)
        return ToolOutput(content=text, tool_name=self.about.name, raw_input=arguments, raw_output=text)


def memory_of(spec, store):
    """"Using Memory with a database", of the guide's page on memory."""
    database = Path(spec["stateDir"], "memory.db")
    return Memory.from_defaults(session_id=store.file.stem, async_database_uri=f"sqlite+aiosqlite:///{database}")


async def turn(spec, store, text, stopped, show):
    agent = FunctionAgent(
        llm=MODELS[spec["dialect"]](spec["baseUrl"], spec.get("model")),
        tools=[Gated(given) for given in spec["tools"]],
    )
    handler = agent.run(user_msg=text, memory=memory_of(spec, store))
    stopped.add_done_callback(lambda _: asyncio.ensure_future(handler.cancel_run()))
    async for event in handler.stream_events():
        if isinstance(event, ToolCallResult):
            await show(event.tool_id, "failed" if event.tool_output.is_error else "completed", event.tool_name)
        elif isinstance(event, ToolCall):
            await show(event.tool_id, "in_progress", event.tool_name)
    await handler


async def read(spec, store):
    return [message.model_dump(mode="json") for message in await memory_of(spec, store).aget_all()]


about = {"sdk": SDK, "version": version(SDK), "modes": ["memory"],
         "capabilities": {"sharedSession": True, "changes": {"provider": True}}}
serve(about, MODELS, turn, WorkflowCancelledByUser, read=read,
      ready=lambda spec: MODELS[spec["dialect"]](spec["baseUrl"], spec.get("model")))
