"""Runs ChatBedrockConverse's conversion of a history."""

import base64

from brickbat_filter import conversion, serve
from langchain_aws.chat_models.bedrock_converse import ChatBedrockConverse, _messages_to_bedrock
from langchain_core.messages import convert_to_messages

MODEL = ChatBedrockConverse(model="anthropic.claude-sonnet-4-5-20250929-v1:0", region_name="us-east-1",
                            aws_access_key_id="none", aws_secret_access_key="none")


def sent(asked):
    with conversion():
        messages = convert_to_messages(asked["request"]["messages"])
    tools = asked["request"].get("tools")
    options = MODEL._converse_params(tools=MODEL.bind_tools(tools).kwargs.get("tools") if tools else None)
    dicts, system = _messages_to_bedrock(messages, model_id=MODEL._get_base_model(), provider=MODEL.provider)
    return {"request": {**options, "messages": dicts, **({"system": system} if system else {})}}


serve(sent, default=lambda raw: base64.b64encode(raw).decode())
