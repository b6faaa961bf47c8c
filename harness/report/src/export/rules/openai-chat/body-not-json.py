def problem(request):
    """Every string is well-formed: a lone surrogate is not a character, and the provider rejects such JSON."""
    text = json.dumps(request, ensure_ascii=False)
    half = re.search("[\ud800-\udfff]", text)
    if half:
        return f"the request has half of a character: {half[0]!r}"
