def problem(request):
    """The name of a function is made of 1 to 64 letters, digits, `_` and `-`."""
    for at, message in enumerate(request["messages"]):
        for call in message.get("tool_calls") or []:
            if not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", call["function"]["name"]):
                return f"messages.{at}: the name of the function is {call['function']['name']!r}"
