"""Lets Brickbat drive Semantic Kernel for Python: a streamed ChatCompletionAgent. README.md describes what it stores and when."""
import asyncio
from importlib.metadata import version

from semantic_kernel import Kernel
from semantic_kernel.agents import ChatCompletionAgent, ChatHistoryAgentThread
from semantic_kernel.connectors.ai import FunctionChoiceBehavior
from semantic_kernel.contents import ChatHistory, FunctionResultContent
from semantic_kernel.filters import FilterTypes
from semantic_kernel.functions import KernelFunctionFromMethod, KernelParameterMetadata, KernelPlugin, kernel_function
from brickbat_adapter import gate, serve, stoppable

SDK = "semantic-kernel"
PLUGIN = "brickbat"
# More requests than any scenario has. The SDK's default is 5.
MAX_ATTEMPTS = 20


def anthropic(url, model):
    from anthropic import AsyncAnthropic
    from semantic_kernel.connectors.ai.anthropic import AnthropicChatCompletion
    client = AsyncAnthropic(api_key="none", base_url=url)
    return AnthropicChatCompletion(ai_model_id=model or "claude-haiku-4-5", async_client=client, api_key="none")


def chat(url, model):
    from openai import AsyncOpenAI
    from semantic_kernel.connectors.ai.open_ai import OpenAIChatCompletion
    client = AsyncOpenAI(api_key="none", base_url=f"{url}/v1")
    return OpenAIChatCompletion(ai_model_id=model or "gpt-4.1", async_client=client)


# Imports are slow, so each dialect imports its own.
MODELS = {"anthropic-messages": anthropic, "openai-chat": chat}


class Failed(Exception):
    """A tool that fails. The kernel returns the text of the exception as its result."""


def function_of(given):
    @kernel_function(name=given["name"], description=given["description"])
    async def run(**arguments):
        return await gate(given, arguments, Failed)

    schema = given["inputSchema"]
    required = schema.get("required", [])
    parameters = [
        KernelParameterMetadata(name=name, type_="str", is_required=name in required, schema_data=of)
        for name, of in schema.get("properties", {}).items()
    ]
    return KernelFunctionFromMethod(method=run, plugin_name=PLUGIN, parameters=parameters)


def kernel_of(spec):
    kernel = Kernel(plugins=[KernelPlugin(name=PLUGIN, functions=[function_of(given) for given in spec["tools"]])])
    final = {given["name"] for given in spec["tools"] if given.get("ends")}

    @kernel.filter(FilterTypes.AUTO_FUNCTION_INVOCATION)
    async def end_with(context, next):
        await next(context)
        context.terminate = context.function.name in final
    return kernel


async def turn(spec, store, text, stopped, show):
    history = opened(store)
    history.add_user_message(text)

    def keep():
        store.save(history.serialize().encode())

    async def between(message):
        """Handles each complete message during the turn."""
        for item in message.items:
            # The SDK reports no state for a running call.
            if isinstance(item, FunctionResultContent):
                await show(item.id, "completed", item.function_name)
        keep()

    agent = ChatCompletionAgent(
        service=MODELS[spec["dialect"]](spec["baseUrl"], spec.get("model")),
        kernel=kernel_of(spec),
        name="assistant",
        function_choice_behavior=FunctionChoiceBehavior.Auto(
            maximum_auto_invoke_attempts=spec.get("maxSteps", MAX_ATTEMPTS)),
    )

    async def run():
        async for _ in agent.invoke_stream(thread=ChatHistoryAgentThread(history), on_intermediate_message=between):
            pass

    keep()
    try:
        await stoppable(run(), stopped)
    finally:
        keep()


def opened(store):
    kept = store.load()
    return ChatHistory.restore_chat_history(kept.decode()) if kept else ChatHistory()


def read(spec, store):
    return opened(store).model_dump(mode="json")


about = {"sdk": SDK, "version": version(SDK), "modes": ["thread"],
         "capabilities": {"sharedSession": True, "stepLimit": True, "finalTools": True}}
serve(about, MODELS, turn, asyncio.CancelledError, read=read,
      ready=lambda spec: MODELS[spec["dialect"]](spec["baseUrl"], spec.get("model")))
