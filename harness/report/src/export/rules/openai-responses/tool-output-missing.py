def problem(request):
    """Each function_call has its function_call_output, unless it is an async call."""
    items = request["input"] if isinstance(request["input"], list) else []
    answered = [item["call_id"] for item in items if item.get("type") == "function_call_output"]
    calls = [item["call_id"] for item in items if item.get("type") == "function_call" and item.get("async") is not True]
    still_open = [call for call in calls if call not in answered]
    if still_open:
        return f"no function_call_output for {still_open}"
