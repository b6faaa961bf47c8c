"""Lets Brickbat drive tunacode through `process_request`, as its terminal interface does. See README.md."""
import asyncio
import json
import os
from copy import deepcopy
from importlib.metadata import version

from brickbat_adapter import gate, maybe, serve, stoppable
from tunacode.core.agents.main import process_request
from tunacode.exceptions import UserAbortError

SDK = "tunacode-cli"
# Up to 0.1.x, tunacode uses the loop of Pydantic AI. From 0.2 on, it uses that of tinyagent.
if version(SDK).startswith("0.1."):
    import on_pydantic_ai as loop
else:
    import on_tinyagent as loop

# A state manager lives as long as the process. A new process loads the session from its file.
LIVE = {}


def saving(spec, act):
    """Sets the variable that names tunacode's session folder. tunacode reads it before its first await."""
    os.environ["XDG_DATA_HOME"] = spec["stateDir"]
    return maybe(act())


async def live(spec, store):
    id = store.file.stem
    if id not in LIVE:
        manager = LIVE[id] = loop.StateManager()
        manager.session.user_config = config = deepcopy(manager.session.user_config)
        loop.point(config, spec)
        manager.session.session_id, manager.session.project_id = id, "brickbat"
        provider, _, model = loop.MODELS[spec["dialect"]].partition(":")
        manager.session.current_model = f"{provider}:{spec.get('model') or model}"
        # Before its first turn a session has no file.
        await saving(spec, lambda: manager.load_session(id))
    return LIVE[id]


async def request(manager, agent, text, stopped, confirm):
    """One request, made like that of the interface: streamed and, if the version supports it, with tool confirmation."""
    async def shown(_):
        pass
    how = {"streaming_callback": shown} | ({"tool_callback": confirm} if loop.CONFIRMS else {})
    await stoppable(process_request(text, manager.session.current_model, manager, **how), stopped)


async def patched(manager, *rest):
    """One request inside the interface of 0.1.32, which adds results for the open calls of a failed request."""
    from tunacode.core.agents.agent_components import patch_tool_messages
    try:
        await request(manager, *rest)
    except asyncio.CancelledError:
        patch_tool_messages("Operation cancelled by user", state_manager=manager)
        raise
    except Exception as error:
        patch_tool_messages(f"Request failed: {type(error).__name__}", state_manager=manager)
        raise


MODES = {"process-request": request} | ({"interface": patched} if loop.PATCHES else {})


async def turn(spec, store, text, stopped, show, ask=None):
    manager = await live(spec, store)

    async def run(given, call_id, arguments):
        # tunacode shows a tool only by its name, and no tool after the request. Calls that are still open end with it.
        status = "failed"
        try:
            result = await gate(given, arguments, loop.Failed)
            status = "completed"
            return result
        finally:
            await show(call_id, status, given["name"])

    async def confirm(part, _node=None):
        """Asks the question that the interface asks before a tool runs."""
        if any(given["asks"] for given in spec["tools"] if given["name"] == part.tool_name):
            if not await ask(part.tool_call_id):
                raise UserAbortError("User aborted tool execution")

    agent = loop.agent_of(manager)
    try:
        with loop.offering(agent, spec["tools"], run):
            await MODES[spec["mode"]](manager, agent, text, stopped, confirm)
    finally:
        await saving(spec, manager.save_session)


def read(_, store):
    files = list(store.file.parent.glob(f"tunacode/sessions/*_{store.file.stem}.json"))
    return [json.loads(file.read_bytes())["messages"] for file in files]


about = {"sdk": SDK, "version": version(SDK), "modes": list(MODES), "capabilities": loop.CAPABILITIES}
serve(about, loop.MODELS, turn, asyncio.CancelledError, read=read)
