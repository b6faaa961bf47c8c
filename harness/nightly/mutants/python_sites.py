"""Lists the places in a Python file that can be mutated.

Each site has its kind, its range, the text that replaces the range, and the place of a marker that shows whether the code
is executed. `sites.mjs` does the same for JavaScript.
"""
import ast
import copy

# The statements that can change places with a neighbour. None binds a name or leaves the block.
MOVABLE = (ast.Expr, ast.AugAssign, ast.If, ast.For, ast.AsyncFor, ast.With, ast.AsyncWith, ast.Try)
EXITS = (ast.Return, ast.Raise, ast.Continue, ast.Break)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Source:
    """A source text with the offsets of its nodes."""

    def __init__(self, text):
        self.text = text
        self.lines = text.splitlines(keepends=True)
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line))

    def offset(self, line, column):
        """`ast` counts columns in bytes."""
        return self.starts[line - 1] + len(self.lines[line - 1].encode()[:column].decode())

    def range(self, node):
        return self.offset(node.lineno, node.col_offset), self.offset(node.end_lineno, node.end_col_offset)

    def of(self, node):
        start, end = self.range(node)
        return self.text[start:end]


def named(tree, functions):
    """Yields the functions and classes with these names (`f`, `Class` or `Class.method`)."""
    missing = set(functions)

    def look(node, inside):
        for child in ast.iter_child_nodes(node):
            name = getattr(child, "name", None) if isinstance(child, (*FUNCTIONS, ast.ClassDef)) else None
            full = f"{inside}.{name}" if inside else name
            if name and (full in functions or name in functions):
                missing.difference_update((full, name))
                yield child
            else:
                yield from look(child, name if isinstance(child, ast.ClassDef) else inside)

    yield from look(tree, None)
    if missing:
        raise LookupError(f"no function or class has the name {', '.join(sorted(missing))}")


def lists_of(node):
    return [value for name, value in ast.iter_fields(node)
            if name in ("body", "orelse", "finalbody") and isinstance(value, list)]


def is_stored(statement):
    """True for a statement that changes an object, and binds no name."""
    if isinstance(statement, ast.Assign):
        return all(isinstance(target, (ast.Attribute, ast.Subscript)) for target in statement.targets)
    return isinstance(statement, (ast.AugAssign, ast.Delete))


def is_text(node):
    """True for a docstring."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


class Finder:
    def __init__(self, text):
        self.source = Source(text)
        self.found = []

    def put(self, kind, bounds, text, mark):
        start, end = bounds
        self.found.append({"kind": kind, "start": start, "end": end, "text": text, "mark": mark})

    def mark(self, statement):
        """Where the marker of a statement goes. The condition of an `elif` carries its own."""
        start, end = self.source.range(statement)
        if isinstance(statement, ast.If) and self.source.text.startswith("elif", start):
            start, end = self.source.range(statement.test)
            return {"form": "condition", "start": start, "end": end}
        is_compound = bool(lists_of(statement)) or isinstance(statement, ast.Match)
        return {"form": "line" if is_compound else "inline", "start": start, "end": end}

    def block(self, statements, is_top):
        for index, statement in enumerate(statements):
            if is_text(statement):
                continue
            mark = self.mark(statement)
            before = statements[index - 1] if index else None
            if before and not is_text(before) and all(isinstance(one, MOVABLE) or is_stored(one)
                                                      for one in (before, statement)):
                self.swap(before, statement)
            self.statement(statement, mark, is_top)
            self.inside(statement, mark)

    def swap(self, one, two):
        (start, middle), (next_start, end) = self.source.range(one), self.source.range(two)
        between = self.source.text[middle:next_start]
        self.put("swap", (start, end), self.source.of(two) + between + self.source.of(one), self.mark(one))

    def statement(self, node, mark, is_top):
        bounds = self.source.range(node)
        if isinstance(node, ast.Expr) or is_stored(node):
            self.put("drop-statement", bounds, "pass", mark)
        if isinstance(node, EXITS):
            is_result = is_top and isinstance(node, ast.Return) and node.value is not None
            if not is_result:
                self.put("drop-exit", bounds, "pass", mark)

    def inside(self, node, mark):
        """The sites in the expressions and blocks of a statement or expression."""
        self.expression(node, mark)
        blocks = lists_of(node)
        for block in blocks:
            self.block(block, isinstance(node, FUNCTIONS))
        if isinstance(node, (*FUNCTIONS, ast.JoinedStr)):
            # The rest of a function is executed when it is defined. Before Python 3.12 the parts of an f-string have no
            # place of their own.
            return
        in_blocks = {id(statement) for block in blocks for statement in block}
        for child in ast.iter_child_nodes(node):
            if id(child) not in in_blocks:
                self.inside(child, mark)

    def expression(self, node, mark):
        source = self.source
        match node:
            case ast.If() | ast.IfExp():
                self.put("negate", source.range(node.test), f"(not ({source.of(node.test)}))", mark)
            case ast.For() | ast.comprehension(is_async=0):
                for cut in ("[1:]", "[:-1]"):
                    self.put("skip-result", source.range(node.iter), f"list({source.of(node.iter)}){cut}", mark)
                for condition in getattr(node, "ifs", []):
                    self.put("drop-filter", source.range(condition), "True", mark)
            case ast.Call():
                self.call(node, mark)
            case ast.Dict() if len(node.keys) > 1:
                for index in range(len(node.keys)):
                    less = ast.Dict([*node.keys[:index], *node.keys[index + 1:]],
                                    [*node.values[:index], *node.values[index + 1:]])
                    self.put("drop-property", source.range(node), ast.unparse(less), mark)
            case ast.Constant(value=True) | ast.Constant(value=False):
                if isinstance(node.value, bool):
                    self.put("flip-flag", source.range(node), str(not node.value), mark)

    def call(self, node, mark):
        if len(node.args) + len(node.keywords) < 2:
            return
        for index in range(len(node.keywords)):
            less = copy.copy(node)
            less.keywords = [*node.keywords[:index], *node.keywords[index + 1:]]
            self.put("drop-argument", self.source.range(node), ast.unparse(less), mark)
        if not node.keywords:
            less = copy.copy(node)
            less.args = node.args[:-1]
            self.put("drop-argument", self.source.range(node), ast.unparse(less), mark)


def sites(text, functions):
    """The sites in these functions and classes, in the order of the text."""
    finder = Finder(text)
    for node in named(ast.parse(text), functions):
        finder.block(node.body, isinstance(node, FUNCTIONS))
    return finder.found
