def problem(request):
    """A message with tool_calls is followed by a tool message for each of them."""
    messages = request["messages"]
    for at, message in enumerate(messages):
        following = itertools.takewhile(lambda later: later["role"] == "tool", messages[at + 1:])
        answered = [later["tool_call_id"] for later in following]
        still_open = [call["id"] for call in message.get("tool_calls") or [] if call["id"] not in answered]
        if still_open:
            return f"messages.{at}: no tool message after it for {still_open}"
