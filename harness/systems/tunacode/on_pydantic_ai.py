"""tunacode 0.1: the loop of Pydantic AI."""
from pydantic_ai import ModelRetry as Failed
from pydantic_ai import Tool
from tunacode.core.agents import agent_components
from tunacode.core.agents.agent_components.agent_config import clear_all_caches, get_or_create_agent
from tunacode.core.logging import get_logger
from tunacode.core.state import StateManager
from tunacode.tools.decorators import base_tool

__all__ = ["Failed", "StateManager"]

MODELS = {"anthropic-messages": "anthropic:claude-haiku-4-5", "openai-chat": "openai:gpt-4.1"}
CAPABILITIES = {"approvals": True}
CONFIRMS = True
PATCHES = hasattr(agent_components, "patch_tool_messages")

# The process opens the log only once, so it must not be in the folder of the first session.
get_logger()


def point(config, spec):
    path = {"anthropic-messages": "", "openai-chat": "/v1"}[spec["dialect"]]
    config["settings"]["base_url"] = spec["baseUrl"] + path
    config["env"] |= {"ANTHROPIC_API_KEY": "none", "OPENAI_API_KEY": "none"}


def agent_of(manager):
    # tunacode also caches agents by model name only. A cached agent would use another session's provider.
    clear_all_caches()
    return get_or_create_agent(manager.session.current_model, manager)


def offering(agent, given, run):
    """Replaces tunacode's tools with those of the scenario, each with the decorator that tunacode's tools have."""
    def tool(one):
        async def named(ctx, **arguments):
            return await run(one, ctx.tool_call_id, arguments)
        made = Tool.from_schema(base_tool(named), one["name"], one["description"], one["inputSchema"], takes_ctx=True)
        # Made like tunacode's own tools.
        made.max_retries = 3
        return made
    return agent.override(tools=[tool(one) for one in given])
