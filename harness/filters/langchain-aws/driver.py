"""Runs ChatBedrockConverse's conversion of a history. Each input line has a history, each output line the request body."""

import base64
import json
import sys

from langchain_aws.chat_models.bedrock_converse import ChatBedrockConverse, _messages_to_bedrock
from langchain_core.messages import convert_to_messages

MODEL = ChatBedrockConverse(model="anthropic.claude-sonnet-4-5-20250929-v1:0", region_name="us-east-1",
                            aws_access_key_id="none", aws_secret_access_key="none")


def written(messages, options):
    dicts, system = _messages_to_bedrock(messages, model_id=MODEL._get_base_model(), provider=MODEL.provider)
    return {**MODEL._converse_params(tools=options.get("tools")), "messages": dicts, **({"system": system} if system else {})}


for line in sys.stdin:
    asked = json.loads(line)
    try:
        request = asked["request"]
        messages = convert_to_messages(request["messages"])
    except Exception as error:
        answer = {"unsupported": f"{type(error).__name__}: {error}"}
    else:
        try:
            options = MODEL.bind_tools(request["tools"]).kwargs if request.get("tools") else {}
            answer = {"request": written(messages, options)}
        except Exception as error:
            answer = {"error": {"kind": type(error).__name__, "message": str(error)}}
    print(json.dumps({"id": asked["id"], **answer}, default=lambda raw: base64.b64encode(raw).decode()), flush=True)
