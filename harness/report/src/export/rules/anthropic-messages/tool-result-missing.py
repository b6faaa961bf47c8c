def problem(request):
    """Each tool_use has its tool_result in the next turn; messages of one role after another are one turn."""
    turns = []
    for message in request["messages"]:
        if not turns or turns[-1]["role"] != message["role"]:
            turns.append({"role": message["role"], "blocks": []})
        if isinstance(message["content"], list):
            turns[-1]["blocks"] += message["content"]
    for at, turn in enumerate(turns):
        following = turns[at + 1]["blocks"] if at + 1 < len(turns) else []
        answered = [block.get("tool_use_id") for block in following]
        calls = [block["id"] for block in turn["blocks"] if block["type"] == "tool_use"]
        still_open = [call for call in calls if call not in answered]
        if still_open:
            return f"no tool_result after turn {at + 1} for {still_open}"
