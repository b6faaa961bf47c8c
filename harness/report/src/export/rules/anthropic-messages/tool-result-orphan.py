def problem(request):
    """Each tool_result answers a tool_use of the message before it."""
    def blocks(message):
        return message["content"] if isinstance(message["content"], list) else []
    before = {"content": []}
    for at, message in enumerate(request["messages"]):
        called = [block.get("id") for block in blocks(before)]
        for block in blocks(message):
            if block["type"] == "tool_result" and block["tool_use_id"] not in called:
                return f"messages.{at}: the tool_result of {block['tool_use_id']} has no tool_use in the message before it"
        before = message
