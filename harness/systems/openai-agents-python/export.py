# requires: openai-agents openai
#? dialect=openai-responses mode=session
from agents import Agent, FunctionTool, OpenAIResponsesModel, Runner, SQLiteSession, set_tracing_disabled
#? end
#? dialect=openai-responses mode=input-list
from agents import Agent, FunctionTool, OpenAIResponsesModel, Runner, set_tracing_disabled
#? end
#? dialect=openai-chat mode=session
from agents import Agent, FunctionTool, OpenAIChatCompletionsModel, Runner, SQLiteSession, set_tracing_disabled
#? end
#? dialect=openai-chat mode=input-list
from agents import Agent, FunctionTool, OpenAIChatCompletionsModel, Runner, set_tracing_disabled
#? end
from openai import AsyncOpenAI

set_tracing_disabled(True)


class Application:
    #? mode=session
    """The SDK keeps the thread in a `SQLiteSession`."""
    #? end
    #? mode=input-list
    """`to_input_list` of each run is the input of the next one, even after an error."""
    #? end

    def __init__(self, url, tools):
        client = AsyncOpenAI(api_key="none", base_url=url + "/v1")
        #? dialect=openai-responses
        model = OpenAIResponsesModel("{{model}}", openai_client=client)
        #? end
        #? dialect=openai-chat
        model = OpenAIChatCompletionsModel("{{model}}", openai_client=client)
        #? end
        self.agent = Agent("agent", model=model, tools=[self.tool(**tool) for tool in tools])
        #? mode=session
        self.session = SQLiteSession("thread")
        #? end
        #? mode=input-list
        self.items = []
        #? end
        self.state = None

    def tool(self, name, description, inputSchema, run):
        async def invoke(_, text):
            try:
                return await run(**json.loads(text or "{}"))
            except ToolError as error:
                return str(error)
        return FunctionTool(name, description, inputSchema, invoke, strict_json_schema=False)

    async def turn(self, text, stopped):
        # A stopped run continues from its state, as the guide on streaming recommends.
        state, self.state = self.state, None
        if state:
            state.add_input(text)
        #? mode=session
        result = Runner.run_streamed(self.agent, state or text, session=self.session, max_turns=20)
        #? end
        #? mode=input-list
        self.items = self.items + [{"role": "user", "content": text}]
        result = Runner.run_streamed(self.agent, state or self.items, max_turns=20)
        #? end
        stopped.add_done_callback(lambda _: result.cancel(mode="after_turn"))
        #? mode=session
        async for _ in result.stream_events():
            pass
        #? end
        #? mode=input-list
        try:
            async for _ in result.stream_events():
                pass
        finally:
            self.items = result.to_input_list()
        #? end
        if stopped.done():
            self.state = result.to_state()
