def problem(request):
    """No message of the user is empty."""
    for at, message in enumerate(request["messages"]):
        if message["role"] == "user" and not message["content"]:
            return f"messages.{at}: the message of the user has no content"
