def problem(request):
    """A content with functionCall parts is followed by one with a functionResponse for each of them."""
    def count(content, kind):
        return sum(kind in part for part in content.get("parts") or [])
    contents = request["contents"]
    for at, content in enumerate(contents):
        calls = count(content, "functionCall")
        responses = count(contents[at + 1], "functionResponse") if at + 1 < len(contents) else 0
        if calls > responses:
            return f"contents.{at}: {calls} functionCall parts, and {responses} functionResponse parts after them"
