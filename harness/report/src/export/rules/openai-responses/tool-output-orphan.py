def problem(request):
    """Each function_call_output has its function_call before it."""
    called = []
    for at, item in enumerate(request["input"] if isinstance(request["input"], list) else []):
        if item.get("type") == "function_call":
            called.append(item["call_id"])
        elif item.get("type") == "function_call_output" and item["call_id"] not in called:
            return f"input.{at}: the function_call_output of {item['call_id']} has no function_call before it"
