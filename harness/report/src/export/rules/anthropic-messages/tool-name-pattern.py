def problem(request):
    """The name of a tool_use has from 1 to 200 characters."""
    for at, message in enumerate(request["messages"]):
        for block in message["content"] if isinstance(message["content"], list) else []:
            if block["type"] == "tool_use" and not 1 <= len(block["name"]) <= 200:
                return f"messages.{at}: the tool_use has the name {block['name']!r}"
