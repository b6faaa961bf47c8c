def problem(request):
    """A functionCall has a name."""
    for at, content in enumerate(request["contents"]):
        for part in content.get("parts") or []:
            call = part.get("functionCall")
            if call is not None and not call.get("name"):
                return f"contents.{at}: the name of the functionCall is {call.get('name')!r}"
