"""Lets Brickbat drive an Agent of Haystack, the way an application uses it. See README.md."""
import asyncio
import json
from importlib.metadata import version

from haystack.components.agents import Agent, State
from haystack.dataclasses import ChatMessage
from haystack.hooks import hook
from haystack.tools import Tool
from haystack.utils import Secret
from brickbat_adapter import gate, interruptible, serve, stoppable

SDK = "haystack-ai"
KEY = Secret.from_token("none")


def anthropic(url, model):
    from anthropic import AsyncAnthropic
    from haystack_integrations.components.generators.anthropic import AnthropicChatGenerator
    generator = AnthropicChatGenerator(model=model or "claude-haiku-4-5", api_key=KEY)
    # It takes no address. Its own client would read one from the environment, which all sessions share.
    generator.async_client = AsyncAnthropic(api_key="none", base_url=url)
    return generator


def chat(url, model):
    from haystack.components.generators.chat import OpenAIChatGenerator
    return OpenAIChatGenerator(model=model or "gpt-4.1", api_key=KEY, api_base_url=f"{url}/v1")


def responses(url, model):
    from haystack.components.generators.chat import OpenAIResponsesChatGenerator
    return OpenAIResponsesChatGenerator(model=model or "gpt-4.1", api_key=KEY, api_base_url=f"{url}/v1")


# Imports are slow, so each dialect imports its own.
MODELS = {"openai-chat": chat, "openai-responses": responses, "anthropic-messages": anthropic}


class Interrupted(Exception):
    """An exception that the application raises, for example on a timeout of the turn."""


class Failed(Exception):
    """A tool that returns an error."""


def tool_of(given):
    # The default: "If set to False, the exception will be turned into a chat message and passed to the LLM".
    async def run(**arguments):
        return await gate(given, arguments, Failed)

    return Tool(name=given["name"], description=given["description"], parameters=given["inputSchema"], async_function=run)


def load(store):
    return [ChatMessage.from_dict(message) for message in json.loads(store.load() or "[]")]


def save(store, messages):
    store.save(json.dumps([message.to_dict() for message in messages]).encode())


async def turn(spec, store, text, stopped, show):
    notes, interrupted = store.running = [], asyncio.get_running_loop().create_future()

    @hook
    def add_notes(state: State) -> None:
        if notes:
            state.set("messages", [ChatMessage.from_user(note) for note in notes])
            notes.clear()

    @hook
    def keep(state: State) -> None:
        save(store, state.data["messages"])

    async def streamed(chunk):
        # The SDK reports no state for a running call.
        if result := chunk.tool_call_result:
            await show(result.origin.id, "failed" if result.error else "completed", result.origin.tool_name)

    agent = Agent(
        chat_generator=MODELS[spec["dialect"]](spec["baseUrl"], spec.get("model")),
        tools=[tool_of(given) for given in spec["tools"]],
        exit_conditions=["text", *(given["name"] for given in spec["tools"] if given.get("ends"))],
        hooks={"after_tool": [add_notes, keep], "after_run": [keep]},
        **({"max_agent_steps": spec["maxSteps"]} if "maxSteps" in spec else {}),
    )
    messages = [*load(store), ChatMessage.from_user(text)]
    save(store, messages)
    running = agent.run_async(messages=messages, streaming_callback=streamed)
    await interruptible(stoppable(running, stopped), interrupted)


def act(spec, store, action):
    """Adds context in the hook, or ends the turn with an exception."""
    notes, interrupted = store.running
    if "inject" in action:
        notes.append(action["inject"])
    else:
        interrupted.set_exception(Interrupted(action["interrupt"]))


about = {"sdk": SDK, "version": version(SDK), "modes": ["hooks"],
         "capabilities": {"sharedSession": True, "stepLimit": True, "finalTools": True, "hooks": True, "interrupt": True,
                          "changes": {"provider": True}}}
serve(about, MODELS, turn, asyncio.CancelledError, read=lambda _, store: json.loads(store.load() or "[]"),
      act=act, ready=lambda spec: MODELS[spec["dialect"]](spec["baseUrl"], spec.get("model")))
