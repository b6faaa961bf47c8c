def problem(request):
    """The name of a tool_use is made of 1 to 200 letters, digits, `_` and `-`."""
    for at, message in enumerate(request["messages"]):
        for block in message["content"] if isinstance(message["content"], list) else []:
            if block["type"] == "tool_use" and not re.fullmatch(r"[a-zA-Z0-9_-]{1,200}", block["name"]):
                return f"messages.{at}: the tool_use has the name {block['name']!r}"
