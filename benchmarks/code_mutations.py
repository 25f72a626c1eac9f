"""Deliberate faults in the source of a module, each in one place.

The operators are the classic ones of mutation testing (Jia and Harman, "An Analysis and Survey of
the Development of Mutation Testing", IEEE TSE 37.5, 2011): another comparison, a negated condition,
another constant, a result or a statement left out. Annotations, docstrings, decorators and options
of classes stay, because they do not change what a module does. So does prose, a text of several
words, or one that quotes a value: the suite judges no wording of messages.
"""

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Final, TypeAlias

import msgspec

_COMPARISONS: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_ARITHMETIC: Final[dict[type[ast.operator], type[ast.operator]]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}
# Fields of nodes that no operator enters.
_SKIPPED_FIELDS: Final = frozenset(("annotation", "returns", "decorator_list"))
# Conditions that another operator changes.
_CHANGED_OTHERWISE: Final = (ast.Compare, ast.BoolOp, ast.UnaryOp, ast.Constant)
# Constructs of the type checker.
_TYPING: Final = frozenset(("cast", "TypeVar", "ParamSpec", "NewType"))


_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])")
# A value on one line, or a line within a value of several.
_TEXT_LINE: Final = re.compile(r'^(?P<head>[\w-]+ = ")?(?P<text>.*?)(?P<tail>"?)$')


_SCOPES: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class Mutation(msgspec.Struct, frozen=True):
    """One fault.

    Fields:
        function: qualified name of the function or class that has it; "" for the module.
        line: in the unchanged source, from 1.
        statement: the first line of the statement that contains it.
        operator: what kind of fault it is.
        before, after: the source of the expression or statement.
        number: 1 for the first such change in `function`, 2 for the next equal one.
        module_level: whether the module runs it while it is imported.
    """

    function: str
    line: int
    statement: int
    operator: str
    before: str
    after: str
    number: int
    module_level: bool

    @property
    def name(self) -> str:
        """The fault in one line; the same after lines have moved."""
        again = f" #{self.number}" if self.number > 1 else ""
        return f"{self.function or 'module'}: {self.operator}: {self.before} => {self.after}{again}"


class _Site(msgspec.Struct, frozen=True):
    """Where a fault goes: the field of a parent, and the index in it if it is a list."""

    scope: tuple[str, ...]
    statement: int
    is_module_level: bool
    parent: ast.AST
    field: str
    index: int | None
    node: ast.AST
    mutant: ast.AST
    operator: str


_Change: TypeAlias = tuple[str, ast.AST]


def mutations(source: str) -> tuple[Mutation, ...]:
    """Return each fault for `source`, in the order of its text."""
    seen: Counter[tuple[str, str, str, str]] = Counter()
    found: list[Mutation] = []
    for site in _sites(ast.parse(source)):
        key = (".".join(site.scope), site.operator, _text(site.node), _text(site.mutant))
        seen[key] += 1
        line = site.node.lineno  # type: ignore[attr-defined]
        number = seen[key]
        found.append(Mutation(key[0], line, site.statement, *key[1:], number, site.is_module_level))
    return tuple(found)


def mutated(source: str, index: int) -> ast.Module:
    """Return the tree of `source` with the fault `mutations(source)[index]`."""
    tree = ast.parse(source)
    for number, site in enumerate(_sites(tree)):
        if number == index:
            if site.index is None:
                setattr(site.parent, site.field, site.mutant)
            else:
                getattr(site.parent, site.field)[site.index] = site.mutant
            return ast.fix_missing_locations(tree)
    msg = f"{index} is not the index of a mutation"
    raise IndexError(msg)


def text_mutations(source: str) -> tuple[Mutation, ...]:
    """Return each fault for a TOML file of texts: a sentence or a line of a value left out."""
    seen: Counter[tuple[str, str]] = Counter()
    found: list[Mutation] = []
    for line, name, sentence, _ in _sentences(source):
        seen[name, sentence] += 1
        number = seen[name, sentence]
        found.append(
            Mutation(name, line, line, "sentence", sentence, "", number, module_level=True)
        )
    return tuple(found)


def mutated_text(source: str, index: int) -> str:
    """Return `source` without the sentence `text_mutations(source)[index]`."""
    line, _, _, left = list(_sentences(source))[index]
    lines = source.split("\n")
    lines[line - 1] = left
    return "\n".join(lines)


def _sentences(source: str) -> Iterator[tuple[int, str, str, str]]:
    """Yield line number, name of the value, a sentence, and the line without it."""
    table = name = ""
    is_block = False
    for number, line in enumerate(source.split("\n"), start=1):
        if not is_block and (header := re.fullmatch(r"\[(.+)\]", line)):
            table = f"{header[1]}."
        if not is_block and (key := re.match(r"[\w-]+(?= = )", line)):
            name = f"{table}{key[0]}"
        if "'''" in line:
            is_block = not is_block
        elif (is_block or " = " in line) and (parts := _TEXT_LINE.fullmatch(line)):
            pieces = [each for each in _SENTENCE_END.split(parts["text"]) if each]
            for at, piece in enumerate(pieces):
                others = " ".join(each for index, each in enumerate(pieces) if index != at)
                head, tail = parts["head"] or "", parts["tail"]
                yield number, name, piece, f"{head}{others}{tail}"


def _text(node: ast.AST) -> str:
    return " ".join(ast.unparse(node).split())


def _sites(tree: ast.Module) -> Iterator[_Site]:
    yield from _below(tree, (), 0, is_module_level=True)


def _below(
    parent: ast.AST, scope: tuple[str, ...], statement: int, *, is_module_level: bool
) -> Iterator[_Site]:
    for field, value in ast.iter_fields(parent):
        if field in _SKIPPED_FIELDS or (field == "keywords" and isinstance(parent, ast.ClassDef)):
            continue
        nodes = value if isinstance(value, list) else [value]
        for position, node in enumerate(nodes):
            if not isinstance(node, ast.AST) or _is_skipped(parent, field, node):
                continue
            line = node.lineno if isinstance(node, ast.stmt) else statement
            at_import = is_module_level and not _runs_later(parent, field)
            index = position if isinstance(value, list) else None
            for operator, mutant in _changes(parent, field, node):
                ast.copy_location(mutant, node)
                yield _Site(scope, line, at_import, parent, field, index, node, mutant, operator)
            inside = (*scope, node.name) if isinstance(node, _SCOPES) else scope
            yield from _below(node, inside, line, is_module_level=at_import)


def _runs_later(parent: ast.AST, field: str) -> bool:
    """Whether a field is run by calls; defaults of parameters are not."""
    is_function = isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
    return is_function and field == "body"


def _is_skipped(parent: ast.AST, field: str, node: ast.AST) -> bool:
    """Whether no client runs `node`: it is for readers, the type checker or emulated cassettes.

    The text of an exception is for readers.
    """
    match parent, node:
        case (
            (_, ast.Expr(value=ast.Constant()) | ast.Assert() | ast.Import() | ast.ImportFrom())
            | (_, ast.AnnAssign(annotation=ast.Name(id="TypeAlias")))
            | (_, ast.Assign(value=ast.Subscript(value=ast.Name(id="Literal"))))
            | (_, ast.If(test=ast.Name(id="TYPE_CHECKING")))
            | (_, ast.AnnAssign(target=ast.Name(id="REQUEST_FORMS")))
            | (ast.keyword(arg="summary") | ast.Raise(), _)
        ):
            return True
        case _, ast.JoinedStr(values=parts):
            return _quotes_a_value(parts)
        case _, ast.Assign(value=ast.Call(func=ast.Name(id=name))):
            return name in _TYPING
        case ast.Call(func=ast.Name(id="cast"), args=[first, *_]), _:
            return field == "args" and node is first
        case ast.JoinedStr(), ast.Constant(value=value):
            return _is_prose(value)
    return False


def _quotes_a_value(parts: list[ast.expr]) -> bool:
    """Return whether a formatted text is a message in prose that shows a value with `!r`."""
    is_prose = any(isinstance(it, ast.Constant) and _is_prose(it.value) for it in parts)
    return is_prose and any(
        isinstance(it, ast.FormattedValue) and it.conversion == ord("r") for it in parts
    )


def _is_prose(value: object) -> bool:
    return isinstance(value, str) and " " in value.strip()


def _changes(parent: ast.AST, field: str, node: ast.AST) -> Iterator[_Change]:
    """Yield each fault of `node` itself."""
    for kind, operator in _OPERATORS:
        if isinstance(node, kind):
            yield from operator(parent, field, node)


def _comparison(_parent: ast.AST, _field: str, node: ast.Compare) -> Iterator[_Change]:
    for index, compared in enumerate(node.ops):
        if type(compared) in _COMPARISONS:
            mutant = deepcopy(node)
            mutant.ops[index] = _COMPARISONS[type(compared)]()
            yield "comparison", mutant


def _boolean(_parent: ast.AST, _field: str, node: ast.BoolOp) -> Iterator[_Change]:
    other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    yield "boolean", ast.BoolOp(other, deepcopy(node.values))
    for index in range(len(node.values)):
        values = [deepcopy(each) for at, each in enumerate(node.values) if at != index]
        yield "operand", values[0] if len(values) == 1 else ast.BoolOp(node.op, values)


def _negation(_parent: ast.AST, _field: str, node: ast.UnaryOp) -> Iterator[_Change]:
    if isinstance(node.op, ast.Not | ast.USub):
        yield "negation", deepcopy(node.operand)


def _arithmetic(
    _parent: ast.AST, _field: str, node: ast.BinOp | ast.AugAssign
) -> Iterator[_Change]:
    if type(node.op) in _ARITHMETIC:
        mutant = deepcopy(node)
        mutant.op = _ARITHMETIC[type(node.op)]()
        yield "arithmetic", mutant


def _constant(parent: ast.AST, field: str, node: ast.Constant) -> Iterator[_Change]:
    match node.value:
        case bool(value):
            yield "constant", ast.Constant(not value)
        case int(number):
            yield "constant", ast.Constant(number + 1)
        case str(text) if not _is_prose(text):
            if isinstance(parent, ast.JoinedStr):
                yield "constant", ast.Constant(f"{text}XX")
            elif not (isinstance(parent, ast.FormattedValue) and field == "format_spec"):
                yield "constant", ast.Constant(f"XX{text}")
        case bytes(data):
            yield "constant", ast.Constant(b"XX" + data)


def _condition(_parent: ast.AST, field: str, node: ast.expr) -> Iterator[_Change]:
    """Negate a condition that no other operator changes, and leave out a filter or a guard."""
    if field in ("ifs", "guard"):
        yield field, ast.Constant(value=True)
    elif field == "test" and not isinstance(node, _CHANGED_OTHERWISE):
        yield "condition", ast.UnaryOp(ast.Not(), deepcopy(node))


def _result(_parent: ast.AST, _field: str, node: ast.Return) -> Iterator[_Change]:
    if node.value is not None and not isinstance(node.value, ast.Constant):
        yield "result", ast.Return(ast.Constant(None))


def _statement(_parent: ast.AST, _field: str, node: ast.stmt) -> Iterator[_Change]:
    """Leave out a statement that has an effect beyond its local names."""
    match node:
        case ast.Expr(value=ast.Call() | ast.Yield() | ast.YieldFrom()):
            yield "statement", ast.Pass()
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript(), *_]):
            yield "statement", ast.Pass()
        case ast.AugAssign() | ast.Raise() | ast.Delete():
            yield "statement", ast.Pass()
        case ast.Continue():
            yield "jump", ast.Break()
        case ast.Break():
            yield "jump", ast.Continue()


_OPERATORS: Final[tuple[tuple[type, Callable[..., Iterator[_Change]]], ...]] = (
    (ast.Compare, _comparison),
    (ast.BoolOp, _boolean),
    (ast.UnaryOp, _negation),
    (ast.BinOp, _arithmetic),
    (ast.AugAssign, _arithmetic),
    (ast.Constant, _constant),
    (ast.expr, _condition),
    (ast.Return, _result),
    (ast.stmt, _statement),
)
