"""Lets Brickbat drive LangGraph for Python: `create_agent` of LangChain with a checkpointer. See README.md."""
import asyncio
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path

from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware, SummarizationMiddleware
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import ToolMessage
from langchain_core.messages.utils import count_tokens_approximately
from langchain_core.tools import StructuredTool, ToolException
from langchain_openai import ChatOpenAI
from langgraph.prebuilt import ToolRuntime
from langgraph.types import Command
from langgraph_swarm import create_swarm
from brickbat_adapter import gate, serve, stoppable
from graph import Saver, gated, settled, show_results, stored

SDK = "langgraph"
MODELS = {
    "anthropic-messages": lambda url, model: ChatAnthropic(
        model=model or "claude-haiku-4-5", base_url=url, api_key="none"),
    "openai-chat": lambda url, model: ChatOpenAI(
        model=model or "gpt-4.1", base_url=f"{url}/v1", api_key="none", use_responses_api=False),
    "openai-responses": lambda url, model: ChatOpenAI(
        model=model or "gpt-5", base_url=f"{url}/v1", api_key="none", use_responses_api=True),
}
# When a checkpoint is written: in parallel with the next step (the default), before it, or at the end.
MODES = {"durability-async": "async", "durability-sync": "sync", "durability-exit": "exit", "compaction": "async",
         "swarm": "async"}


def handed(given):
    """A custom handoff tool, as the README of LangGraph Swarm shows for tools with arguments."""
    async def run(runtime: ToolRuntime, **arguments):
        await gate(given, arguments, ToolException)
        agent = given["handsOver"]
        done = ToolMessage(f"Successfully transferred to {agent}", name=given["name"], tool_call_id=runtime.tool_call_id)
        return Command(goto=agent, graph=Command.PARENT,
                       update={"messages": [*runtime.state["messages"], done], "active_agent": agent})
    return StructuredTool(name=given["name"], description=given["description"], args_schema=given["inputSchema"],
                          coroutine=run)


# The first agent of a swarm.
FIRST = "brickbat"


def agents_of(spec, model, middleware):
    """The agents of a swarm: the first, and one for each handoff tool. All have the same tools."""
    tools = [handed(given) if "handsOver" in given else gated(given) for given in spec["tools"]]
    names = [FIRST, *(given["handsOver"] for given in spec["tools"] if "handsOver" in given)]
    return [create_agent(model, tools=tools, middleware=middleware, system_prompt=f"You are {name}.", name=name)
            for name in names]


# Token count at which the history is summarised: more than any scenario has unless its provider reports more.
FULL = 100_000


class Compaction:
    """The summary that a session's `SummarizationMiddleware` makes before the next model request, if one is requested."""

    def __init__(self):
        self.is_asked, self.middleware, self.keep = False, None, 1

    def ask(self, keep):
        self.is_asked, self.keep = True, max(keep, 1)
        if self.middleware:
            self.middleware.keep = ("messages", self.keep)

    def count(self, messages):
        """Counts tokens. If a summary is requested, returns the threshold once."""
        if self.is_asked:
            self.is_asked = False
            return FULL
        return count_tokens_approximately(messages)

    def begin(self, model):
        self.middleware = SummarizationMiddleware(
            model, trigger=("tokens", FULL), keep=("messages", self.keep), token_counter=self.count)
        return self.middleware


# The compactions by session file, and the session files with a running turn.
compactions, in_turn = {}, set()


@asynccontextmanager
async def opened(spec, store):
    """The agent on the session's database, and the configuration that names the thread."""
    async with Saver.from_conn_string(str(Path(spec["stateDir"], "checkpoints.db"))) as saver:
        asks = {given["name"]: {"allowed_decisions": ["approve", "reject"]} for given in spec["tools"] if given["asks"]}
        model = MODELS[spec["dialect"]](spec["baseUrl"], spec.get("model"))
        middleware = [HumanInTheLoopMiddleware(asks, interrupt_mode="per_call")] if asks else []
        if spec["mode"] == "compaction":
            middleware.append(compactions.setdefault(store.file, Compaction()).begin(model))
        if spec["mode"] == "swarm":
            swarm = create_swarm(agents_of(spec, model, middleware), default_active_agent=FIRST)
            agent = swarm.compile(checkpointer=saver)
        else:
            agent = create_agent(
                model,
                tools=[gated(given) for given in spec["tools"]],
                middleware=middleware,
                checkpointer=saver,
            )
        config = {"configurable": {"thread_id": store.file.stem}}
        await saver.of(spec, config)
        yield agent, config


# The prefix of a message that replaces the user's last one: the thread forks at the checkpoint before that message.
EDIT = "/edit "


async def before_input(agent, config, prompts=1):
    """The checkpoint before the user's last message, or an earlier one, found as the documentation of time travel shows."""
    async for state in agent.aget_state_history(config):
        prompts -= state.metadata["source"] == "input"
        if prompts == 0 and state.parent_config:
            return state.parent_config
    # The first message has no checkpoint before it.
    if prompts == 0:
        await agent.checkpointer.adelete_thread(config["configurable"]["thread_id"])
    return config


async def turn(spec, store, text, stopped, show, ask):
    async def run(agent, config, said):
        """Runs the graph until it ends or asks the user."""
        questions = {}
        # Without the mode `messages`, the SDK would request replies that are not streamed.
        how = {"stream_mode": ["updates", "messages"], "durability": MODES[spec["mode"]], "subgraphs": True}
        async for _, mode, update in agent.astream(said, config, **how):
            for node, change in (update.items() if mode == "updates" else ()):
                if node == "__interrupt__":
                    questions |= {question.id: question.value["tool_call_id"] for question in change}
                await show_results(node, change, show)
        return questions

    said = {"messages": [{"role": "user", "content": text.removeprefix(EDIT)}]}
    in_turn.add(store.file)
    try:
        async with opened(spec, store) as (agent, config):
            if text.startswith(EDIT):
                config = await before_input(agent, config)
            if store.running:
                config, store.running = await before_input(agent, config, store.running), None
            while questions := await stoppable(run(agent, config, said), stopped):
                answers = await asyncio.gather(*map(ask, questions.values()))
                # The SDK is idle while the user is asked, so the stop reaches only the application.
                if stopped.done():
                    raise asyncio.CancelledError
                kinds = [{"type": "approve"} if allowed else {"type": "reject"} for allowed in answers]
                said = Command(resume=dict(zip(questions, kinds)))
    finally:
        in_turn.discard(store.file)


def act(spec, store, action):
    """Summarises the history before the next model request, or rewinds to an earlier checkpoint for the next prompt."""
    change = action["change"]
    if "prompts" in change:
        store.running = change["prompts"]
    else:
        # Between turns, the next user message is kept too.
        compactions.setdefault(store.file, Compaction()).ask(change["keep"] + (store.file not in in_turn))


async def read(spec, store):
    async with opened(spec, store) as (agent, config):
        return await stored(agent, config)


about = {"sdk": SDK, "version": version(SDK), "modes": list(MODES),
         "capabilities": {"approvals": True, "sharedSession": True, "handoffs": True, "saving": True,
                          "failingWrites": True,
                          "changes": {"rewind": True, "summarise": True, "inFlight": True, "provider": True}}}
serve(about, MODELS, turn, asyncio.CancelledError, read=read, settled=settled, act=act)
