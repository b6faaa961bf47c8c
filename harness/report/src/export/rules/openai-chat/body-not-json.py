def problem(request):
    """Every string is whole: half of a surrogate pair is no character, and the provider reads no such JSON."""
    text = json.dumps(request, ensure_ascii=False)
    half = re.search("[\ud800-\udfff]", text)
    if half:
        return f"the request has half of a character: {half[0]!r}"
