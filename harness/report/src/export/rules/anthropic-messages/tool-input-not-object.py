def problem(request):
    """The input of a tool_use is an object."""
    for at, message in enumerate(request["messages"]):
        for block in message["content"] if isinstance(message["content"], list) else []:
            if block["type"] == "tool_use" and not isinstance(block["input"], dict):
                return f"messages.{at}: the tool_use has the input {block['input']!r}"
