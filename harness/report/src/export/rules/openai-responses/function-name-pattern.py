def problem(request):
    """The name of a function is made of letters, digits, `_` and `-`."""
    for item in request["input"] if isinstance(request["input"], list) else []:
        if item.get("type") == "function_call" and not re.fullmatch(r"[a-zA-Z0-9_-]+", item["name"]):
            return f"the name of a function_call is {item['name']!r}"
