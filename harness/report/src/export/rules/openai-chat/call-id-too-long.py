def problem(request):
    """The id of a call has at most 40 characters."""
    for at, message in enumerate(request["messages"]):
        for call in message.get("tool_calls") or []:
            if len(call["id"]) > 40:
                return f"messages.{at}: the id of the call is too long: {call['id']!r}"
