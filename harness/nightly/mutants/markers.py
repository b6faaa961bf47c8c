"""Puts markers into a source text. Each writes its number to a file when it is executed."""
import json

JS_MARKER = """\
function __brickbat_reached(n) {{
  const seen = globalThis.__brickbat_seen ??= new Set();
  if (seen.has(n)) return;
  seen.add(n);
  process.getBuiltinModule("node:fs").appendFileSync({file}, n + "\\n");
}}
"""
PYTHON_MARKER = """\
_seen = set()


def reached(n):
    if n not in _seen:
        _seen.add(n)
        with open({file}, "a") as file:
            file.write(f"{{n}}\\n")
"""
# The module that the marked Python files import.
PYTHON_MODULE = "brickbat_markers"


def javascript(form, number, _):
    call = f"__brickbat_reached({number})"
    return {
        "statement": (f"{call};", ""), "branch": (f"{{{call};", "}"), "expression": (f"({call},", ")"),
    }[form]


def python(form, number, indent):
    call = f'__import__("{PYTHON_MODULE}").reached({number})'
    return {
        "inline": (f"{call}; ", ""), "line": (f"{call}\n{indent}", ""), "condition": (f"({call} or (", "))"),
    }[form]


def marked(source, numbers, words):
    """The text with a marker at each place. `numbers` has the number of each place, `words` the text of a marker."""
    inserted = []
    for (form, start, end), number in numbers.items():
        line = source[source.rfind("\n", 0, start) + 1:start]
        opening, closing = words(form, number, line)
        # An outer range begins before an inner one, and ends after it.
        inserted.append((start, 1, start - end, opening))
        inserted.append((end, 0, end - start, closing))
    parts, at = [], 0
    for offset, _, _, text in sorted(inserted):
        parts += [source[at:offset], text]
        at = offset
    return "".join([*parts, source[at:]])


def marked_javascript(source, numbers, file):
    return JS_MARKER.format(file=json.dumps(str(file))) + marked(source, numbers, javascript)


def python_module(file):
    return PYTHON_MARKER.format(file=repr(str(file)))
