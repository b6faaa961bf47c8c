# requires: pydantic-ai-slim[anthropic,google,openai]
import pydantic_ai
from pydantic_ai import Agent, Tool
from pydantic_ai.models import infer_model
from pydantic_ai.providers import infer_provider_class


class Application:
    """The captured messages of each run are stored, even after an error, and are the history of the next one."""

    def __init__(self, url, tools):
        def provider(kind):
            #? dialect=anthropic-messages|gemini
            return infer_provider_class(kind)(api_key="none", base_url=url)
            #? end
            #? dialect=openai-chat|openai-responses
            return infer_provider_class(kind)(api_key="none", base_url=url + "/v1")
            #? end

        #? dialect=anthropic-messages
        model = infer_model("anthropic:{{model}}", provider)
        #? end
        #? dialect=openai-chat
        model = infer_model("openai-chat:{{model}}", provider)
        #? end
        #? dialect=openai-responses
        model = infer_model("openai-responses:{{model}}", provider)
        #? end
        #? dialect=gemini
        model = infer_model("google:{{model}}", provider)
        #? end
        self.agent = Agent(model, tools=[self.tool(**tool) for tool in tools])
        self.messages = []

    def tool(self, name, description, inputSchema, run):
        async def tool(**arguments):
            try:
                return await run(**arguments)
            except ToolError as error:
                #? major=1
                raise pydantic_ai.ModelRetry(str(error)) from error
                #? end
                #? major!=1
                raise pydantic_ai.ToolFailed(str(error)) from error
                #? end
        return Tool.from_schema(tool, name, description, inputSchema)

    async def turn(self, text, stopped):
        #? major=1
        how = {}
        task = asyncio.current_task()
        stopped.add_done_callback(lambda _: task.cancel())
        #? end
        #? major!=1
        token = pydantic_ai.CancellationToken()
        stopped.add_done_callback(lambda _: token.cancel())
        how = {"cancellation_token": token}
        #? end

        async def watch(_, events):
            async for _ in events:
                pass

        #? mode!=run
        # refuse: the mode {{mode}}; the mode `run` can be exported
        #? end
        with pydantic_ai.capture_run_messages() as messages:
            try:
                await self.agent.run(text, message_history=self.messages, event_stream_handler=watch, **how)
            finally:
                self.messages = max(list(messages), self.messages, key=len)
