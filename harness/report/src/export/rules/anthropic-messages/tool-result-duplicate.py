def problem(request):
    """No message has two tool_result blocks for one tool_use."""
    for at, message in enumerate(request["messages"]):
        blocks = message["content"] if isinstance(message["content"], list) else []
        ids = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        twice = [id for id in ids if ids.count(id) > 1]
        if twice:
            return f"messages.{at}: {twice[0]} has two tool_result blocks"
