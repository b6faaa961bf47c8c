def problem(request):
    """The ids of tool_use blocks are unique."""
    contents = [message["content"] for message in request["messages"] if isinstance(message["content"], list)]
    ids = [block["id"] for content in contents for block in content if block["type"] == "tool_use"]
    twice = [id for id in ids if ids.count(id) > 1]
    if twice:
        return f"two tool_use blocks have the id {twice[0]}"
