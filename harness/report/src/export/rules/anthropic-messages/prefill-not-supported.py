def problem(request):
    """The last message is of the user: the model takes no beginning of its reply."""
    last = len(request["messages"]) - 1
    if request["messages"][last]["role"] == "assistant":
        return f"messages.{last}: the last message is of the assistant"
