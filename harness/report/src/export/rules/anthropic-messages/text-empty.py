def problem(request):
    """No text block is empty."""
    for at, message in enumerate(request["messages"]):
        blocks = message["content"] if isinstance(message["content"], list) else []
        if any(block["type"] == "text" and block["text"] == "" for block in blocks):
            return f"messages.{at}: a text block is empty"
