"""Lets Brickbat drive Pydantic AI. For an SDK of your own, replace what is said of Pydantic AI here."""
from importlib.metadata import version
from pydantic_ai import Agent, CancellationToken, ModelMessagesTypeAdapter, RunCancelled, Tool, ToolFailed
from pydantic_ai import capture_run_messages
from pydantic_ai.models import infer_model
from pydantic_ai.providers import infer_provider_class
from brickbat_adapter import gate, serve

MODELS = {"anthropic-messages": ("anthropic:claude-haiku-4-5", ""), "openai-chat": ("openai-chat:gpt-4.1", "/v1")}
SDK = "pydantic-ai-slim"


def gated(given):
    async def run(**arguments):
        return await gate(given, arguments, ToolFailed)
    return Tool.from_schema(run, given["name"], given["description"], given["inputSchema"])


async def turn(spec, store, text, stopped, show):
    name, path = MODELS[spec["dialect"]]
    name = f"{name.split(':')[0]}:{spec['model']}" if spec.get("model") else name
    model = infer_model(name, lambda kind: infer_provider_class(kind)(api_key="none", base_url=spec["baseUrl"] + path))
    agent = Agent(model, tools=[gated(given) for given in spec["tools"]])
    history = ModelMessagesTypeAdapter.validate_json(store.load() or "[]")
    token = CancellationToken()
    stopped.add_done_callback(lambda _: token.cancel())

    async def watch(_, events):
        async for event in events:
            # Pydantic AI has no state for a call that runs; show only what your SDK tells of a call.
            if event.event_kind == "function_tool_result":
                await show(event.tool_call_id, "completed" if event.part.outcome == "success" else "failed")
    with capture_run_messages() as messages:
        try:
            await agent.run(text, message_history=history, cancellation_token=token, event_stream_handler=watch)
        finally:
            store.save(ModelMessagesTypeAdapter.dump_json(messages or history))

serve({"sdk": SDK, "version": version(SDK), "modes": ["message-history"]}, MODELS, turn, RunCancelled)
