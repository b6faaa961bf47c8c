def problem(request):
    """No message of the assistant is empty, but the last one may be."""
    for at, message in enumerate(request["messages"]):
        if message["role"] == "assistant" and not message["content"] and at < len(request["messages"]) - 1:
            return f"messages.{at}: the message of the assistant has no content"
