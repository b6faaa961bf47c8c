def problem(request):
    """The id of a tool_use is made of letters, digits, `_` and `-`."""
    for at, message in enumerate(request["messages"]):
        for block in message["content"] if isinstance(message["content"], list) else []:
            if block["type"] == "tool_use" and not re.fullmatch(r"[a-zA-Z0-9_-]+", block["id"]):
                return f"messages.{at}: the tool_use has the id {block['id']!r}"
