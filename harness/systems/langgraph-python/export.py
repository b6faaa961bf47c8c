# requires: langgraph langchain langchain-core langchain-anthropic langchain-openai
from langchain.agents import create_agent
#? dialect=anthropic-messages
from langchain_anthropic import ChatAnthropic
#? end
from langchain_core.tools import StructuredTool, ToolException
#? dialect!=anthropic-messages
from langchain_openai import ChatOpenAI
#? end
from langgraph.checkpoint.memory import InMemorySaver


class Application:
    """An agent with a checkpointer that keeps the thread."""

    def __init__(self, url, tools):
        #? dialect=anthropic-messages
        model = ChatAnthropic(model="{{model}}", base_url=url, api_key="none")
        #? end
        #? dialect=openai-chat
        model = ChatOpenAI(model="{{model}}", base_url=url + "/v1", api_key="none", use_responses_api=False)
        #? end
        #? dialect=openai-responses
        model = ChatOpenAI(model="{{model}}", base_url=url + "/v1", api_key="none", use_responses_api=True)
        #? end
        self.agent = create_agent(model, tools=[self.tool(**tool) for tool in tools], checkpointer=InMemorySaver())

    def tool(self, name, description, inputSchema, run):
        async def tool(**arguments):
            try:
                return await run(**arguments)
            except ToolError as error:
                raise ToolException(str(error)) from error
        return StructuredTool(
            name=name, description=description, args_schema=inputSchema, coroutine=tool, handle_tool_error=True)

    async def turn(self, text, stopped):
        task = asyncio.current_task()
        stopped.add_done_callback(lambda _: task.cancel())
        said = {"messages": [{"role": "user", "content": text}]}
        #? mode=durability-async
        durability = "async"
        #? end
        #? mode=durability-sync
        durability = "sync"
        #? end
        #? mode=durability-exit
        durability = "exit"
        #? end
        stream = self.agent.astream(
            said, {"configurable": {"thread_id": "thread"}}, stream_mode=["updates", "messages"], durability=durability)
        async for _ in stream:
            pass
