"""Lets Brickbat drive Deep Agents: `create_deep_agent` with a checkpointer. See README.md."""
import asyncio
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path

import aiosqlite
from deepagents import create_deep_agent
from langgraph.types import Command
from brickbat_adapter import serve, stoppable
from graph import Saver, gated, settled, show_results, stored

SDK = "deepagents"


def anthropic(url, model):
    from langchain_anthropic import ChatAnthropic
    return ChatAnthropic(model=model or "claude-haiku-4-5", base_url=url, api_key="none")


def chat(url, model):
    from langchain_openai import ChatOpenAI
    return ChatOpenAI(model=model or "gpt-4.1", base_url=f"{url}/v1", api_key="none", use_responses_api=False)


def responses(url, model):
    from langchain_openai import ChatOpenAI
    return ChatOpenAI(model=model or "gpt-5", base_url=f"{url}/v1", api_key="none", use_responses_api=True)


def gemini(url, model):
    from langchain_google_genai import ChatGoogleGenerativeAI
    return ChatGoogleGenerativeAI(model=model or "gemini-3-pro-preview", base_url=url, api_key="none")


def mistral(url, model):
    from langchain_mistralai import ChatMistralAI
    return ChatMistralAI(model=model or "mistral-large-latest", base_url=f"{url}/v1", api_key="none")


def bedrock(url, model):
    from langchain_aws import ChatBedrockConverse
    model = model or "anthropic.claude-haiku-4-5-20251001-v1:0"
    keys = {"aws_access_key_id": "none", "aws_secret_access_key": "none"}
    return ChatBedrockConverse(model=model, base_url=url, region_name="us-east-1", **keys)


# Imports are slow, so each dialect imports its own.
MODELS = {"anthropic-messages": anthropic, "openai-chat": chat, "openai-responses": responses, "gemini": gemini,
          "mistral": mistral, "bedrock-converse": bedrock}

@asynccontextmanager
async def opened(spec, store):
    """The agent on the session's database, and the configuration that names the thread."""
    # On a busy machine, a write of the previous turn can lock the file for longer than the default five seconds.
    async with aiosqlite.connect(Path(spec["stateDir"], "checkpoints.db"), timeout=60) as connection:
        saver = Saver(connection)
        asks = {given["name"]: {"allowed_decisions": ["approve", "reject"]} for given in spec["tools"] if given["asks"]}
        agent = create_deep_agent(
            MODELS[spec["dialect"]](spec["baseUrl"], spec.get("model")),
            tools=[gated(given) for given in spec["tools"]],
            interrupt_on=asks or None,
            checkpointer=saver,
        )
        yield agent, {"configurable": {"thread_id": store.file.stem}}


async def turn(spec, store, text, stopped, show, ask):
    async def run(agent, config, said):
        """Runs the graph until it ends or asks the user. It asks one question for all calls of a reply."""
        question = None
        # Without the mode `messages`, the SDK would request replies that are not streamed.
        async for mode, update in agent.astream(said, config, stream_mode=["updates", "messages"]):
            for node, change in (update.items() if mode == "updates" else ()):
                if node == "__interrupt__":
                    question = change[0]
                await show_results(node, change, show)
        return question

    said = {"messages": [{"role": "user", "content": text}]}
    async with opened(spec, store) as (agent, config):
        while question := await stoppable(run(agent, config, said), stopped):
            state = await agent.aget_state(config)
            said = Command(resume=await answers(spec, question, state.values["messages"][-1], stopped, ask))


async def answers(spec, question, message, stopped, ask):
    """Asks the user about the waiting calls and returns the decisions in their order."""
    names = {given["name"] for given in spec["tools"] if given["asks"]}
    asked = await asyncio.gather(*(ask(call["id"]) for call in message.tool_calls if call["name"] in names))
    # The SDK is idle while the user is asked, so the stop reaches only the application.
    if stopped.done():
        raise asyncio.CancelledError
    return {question.id: {"decisions": [{"type": "approve" if allowed else "reject"} for allowed in asked]}}


async def read(spec, store):
    async with opened(spec, store) as (agent, config):
        return await stored(agent, config)


about = {"sdk": SDK, "version": version(SDK), "modes": ["checkpointer"],
         "capabilities": {"approvals": True, "sharedSession": True}}
serve(about, MODELS, turn, asyncio.CancelledError, read=read, settled=settled,
      ready=lambda spec: MODELS[spec["dialect"]](spec["baseUrl"], spec.get("model")))
