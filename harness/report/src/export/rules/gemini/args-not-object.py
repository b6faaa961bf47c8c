def problem(request):
    """The arguments of a functionCall are an object."""
    for at, content in enumerate(request["contents"]):
        for part in content.get("parts") or []:
            call = part.get("functionCall")
            if call is not None and not isinstance(call.get("args", {}), dict):
                return f"contents.{at}: the arguments of the functionCall are {call.get('args')!r}"
