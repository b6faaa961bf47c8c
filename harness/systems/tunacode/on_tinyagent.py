"""tunacode 0.2: the loop of tinyagent."""
from contextlib import nullcontext

from tinyagent.agent_types import AgentTool, AgentToolResult, TextContent
from tunacode.core.agents.agent_components.agent_config import get_or_create_agent
from tunacode.core.logging.manager import get_logger
from tunacode.core.session import StateManager

__all__ = ["StateManager"]

MODELS = {"openai-chat": "openai:gpt-4.1"}
# A Rust thread reads the streams, so turns of the event loop do not show its progress.
CAPABILITIES = {"barrier": False}
CONFIRMS = PATCHES = False

# The process opens the log only once, so it must not be in the folder of the first session.
get_logger()


class Failed(Exception):
    """A tool's error. Every exception of a tool becomes an error result."""


def point(config, spec):
    config["env"] |= {"OPENAI_BASE_URL": spec["baseUrl"] + "/v1", "OPENAI_API_KEY": "none"}


def agent_of(manager):
    return get_or_create_agent(manager.session.current_model, manager)


def offering(agent, given, run):
    """Replaces tunacode's tools with those of the scenario."""
    def tool(one):
        async def execute(call_id, arguments, _signal, _on_update):
            # The loop does not validate arguments. Each tool does it itself, as tunacode's tools do.
            if missing := [key for key in one["inputSchema"].get("required", ()) if key not in arguments]:
                raise Failed(f"Invalid arguments: {', '.join(missing)} missing")
            return AgentToolResult(content=[TextContent(text=await run(one, call_id, arguments))])
        name, description, parameters = one["name"], one["description"], one["inputSchema"]
        return AgentTool(name=name, description=description, parameters=parameters, execute=execute)
    agent.set_tools([tool(one) for one in given])
    return nullcontext()
