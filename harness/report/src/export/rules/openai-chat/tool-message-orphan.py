def problem(request):
    """A tool message follows a message with tool_calls, or another tool message."""
    before = {"role": ""}
    for at, message in enumerate(request["messages"]):
        if message["role"] == "tool" and before["role"] != "tool" and not before.get("tool_calls"):
            return f"messages.{at}: the tool message follows no message with tool_calls"
        before = message
