def problem(request):
    """Each tool_use has its tool_result in the next message."""
    def blocks(message):
        return message["content"] if isinstance(message["content"], list) else []
    messages = request["messages"]
    for at, message in enumerate(messages):
        following = messages[at + 1] if at + 1 < len(messages) else {"content": []}
        answered = [block.get("tool_use_id") for block in blocks(following)]
        still_open = [block["id"] for block in blocks(message) if block["type"] == "tool_use" and block["id"] not in answered]
        if still_open:
            return f"messages.{at}: no tool_result in the next message for {still_open}"
