def problem(request):
    """The id of a call has 1 to 64 characters."""
    for item in request["input"] if isinstance(request["input"], list) else []:
        if item.get("type") == "function_call" and not 1 <= len(item["call_id"]) <= 64:
            return f"the id of a function_call has a wrong length: {item['call_id']!r}"
