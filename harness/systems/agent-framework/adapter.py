"""Lets Brickbat drive Microsoft's Agent Framework, the way an application uses it. See README.md."""
import asyncio
from importlib.metadata import version
from pathlib import Path

from agent_framework import Agent, AgentSession, FileHistoryProvider, FunctionTool, Message
from brickbat_adapter import gate, serve, stoppable

SDK = "agent-framework-core"


def anthropic(url, model):
    from agent_framework.anthropic import AnthropicClient
    return AnthropicClient(api_key="none", model=model or "claude-haiku-4-5", base_url=url)


def chat(url, model):
    from agent_framework.openai import OpenAIChatCompletionClient
    return OpenAIChatCompletionClient(api_key="none", model=model or "gpt-4.1", base_url=f"{url}/v1")


def responses(url, model):
    from agent_framework.openai import OpenAIChatClient
    return OpenAIChatClient(api_key="none", model=model or "gpt-5", base_url=f"{url}/v1")


# Imports are slow, so each dialect imports its own.
MODELS = {"openai-chat": chat, "openai-responses": responses, "anthropic-messages": anthropic}
# Values of `require_per_service_call_history_persistence`: if true, every model request writes the history.
MODES = {"run": False, "call": True}
# Message writes in progress.
writes = set()


class Failed(Exception):
    """A tool that returns an error."""


class History(FileHistoryProvider):
    """The SDK's provider. It counts its writes, because the harness continues when none is in progress."""

    async def save_messages(self, *args, **named):
        task = asyncio.ensure_future(super().save_messages(*args, **named))
        writes.add(task)
        task.add_done_callback(writes.discard)
        return await asyncio.shield(task)


async def settled():
    under_way = list(writes)
    await asyncio.gather(*under_way, return_exceptions=True)
    return bool(under_way)


def gated(given):
    async def run(**arguments):
        return await gate(given, arguments, Failed)
    return FunctionTool(
        name=given["name"], description=given["description"], func=run, input_model=given["inputSchema"],
        approval_mode="always_require" if given["asks"] else "never_require")


def history(spec):
    return History(Path(spec["stateDir"], "history"))


async def turn(spec, store, text, stopped, show, ask):
    client = MODELS[spec["dialect"]](spec["baseUrl"], spec.get("model"))
    agent = Agent(
        client,
        tools=[gated(given) for given in spec["tools"]],
        context_providers=[history(spec)],
        require_per_service_call_history_persistence=MODES[spec["mode"]],
        # The provider above stores the history, so OpenAI does not have to.
        default_options={"store": False} if spec["dialect"] == "openai-responses" else {},
    )
    session = AgentSession(session_id=store.file.stem)

    async def run(said):
        """Runs the agent until it ends or asks the user."""
        questions = []
        async for update in agent.run(said, stream=True, session=session):
            for content in update.contents:
                # The SDK reports no state for a running call.
                if content.type == "function_result":
                    await show(content.call_id, "failed" if content.exception else "completed")
            questions += update.user_input_requests
        return questions

    said = text
    while questions := await stoppable(run(said), stopped):
        answers = await asyncio.gather(*(ask(asked.function_call.call_id) for asked in questions))
        # The SDK is idle while the user is asked, so the stop reaches only the application.
        if stopped.done():
            raise asyncio.CancelledError
        replies = [asked.to_function_approval_response(allowed) for asked, allowed in zip(questions, answers)]
        said = Message(role="user", contents=replies)


async def read(spec, store):
    return [message.to_dict() for message in await history(spec).get_messages(store.file.stem)]


about = {"sdk": SDK, "version": version(SDK), "modes": list(MODES),
         "capabilities": {"approvals": True, "sharedSession": True, "changes": {"provider": True}}}
serve(about, MODELS, turn, asyncio.CancelledError, read=read, settled=settled,
      ready=lambda spec: MODELS[spec["dialect"]](spec["baseUrl"], spec.get("model")))
