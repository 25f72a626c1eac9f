"""Collect the code of a script for maintainers: the driver of a library, and its constants.

A driver is the code that calls one library. A script contains the source of its driver and of the
modules that the driver imports from `shared`, and calls the driver's function `drive`.
`harness.repro.drivers` describes the drivers.
"""

import ast
import base64
import json
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from pprint import pformat
from typing import Any, Final, Literal, NamedTuple

from harness.errors import UsageError
from harness.wording import did_you_mean

Suffix = Literal[".py", ".mjs"]

_FOLDER: Final = Path(__file__).parent
DRIVERS: Final = _FOLDER / "drivers"
_SHARED: Final = "harness.repro.drivers.shared."
# Clients whose driver is that of another major version of their library.
_DRIVERS_OF: Final = {
    f"ai7-{name}": f"ai-{name}"
    for name in ("openai-compatible", "openai-chat", "openai-responses", "anthropic", "google")
}
# The template of Python scripts reads arguments as drivers do.
_ARGUMENTS: Final = "shared/arguments.py"
_WIDTH: Final = 96
_JS_IMPORT: Final = re.compile(r'^import (?:[^;"]+ from )?"([^"]+)";\n', re.MULTILINE)
# What a driver declares is for the client that wraps it.
_JS_HELLO: Final = re.compile(r"^export const hello = \{.*?^\};\n", re.MULTILINE | re.DOTALL)
_JS_EXPORT: Final = re.compile(r"^export (?=async|const|function)", re.MULTILINE)
_JS_SHARED: Final = "./shared/"
# What the template of Python scripts imports.
_TEMPLATE_IMPORTS: Final = (
    "import json",
    "import sys",
    "import threading",
    "from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer",
)


class Driver(NamedTuple):
    """The source code that calls one library.

    Fields:
        suffix: the suffix of the script, `.py` or `.mjs`.
        imports: the import statements of the script, as text.
        code: the other code, including the code that several drivers share.
        collect: in Python, the statements that call the driver and add its events to the list
            `events`.
        packages: in JavaScript, the names of the imported packages.
    """

    suffix: Suffix
    imports: str
    code: str
    collect: str = ""
    packages: tuple[str, ...] = ()


def reproducible_clients() -> tuple[str, ...]:
    """Return the names of the normalizers and clients for which there are scripts."""
    names = (file.name for file in DRIVERS.iterdir() if not file.name.startswith("_"))
    python = [name.removesuffix(".py").replace("_", "-") for name in names if name.endswith(".py")]
    return tuple(sorted((*python, *_javascript_clients(), *_DRIVERS_OF)))


def driver_name(client: str) -> str:
    """Return the name of the driver of a client, which clients of several versions may share."""
    return _DRIVERS_OF.get(client, client)


def _javascript_clients() -> Iterator[str]:
    names = (file.name for file in DRIVERS.iterdir())
    return (name.removesuffix(".mjs") for name in names if name.endswith(".mjs"))


def load_driver(client: str) -> Driver:
    """Return the driver of a client.

    Raises:
        UsageError: the client has no driver.
    """
    names = reproducible_clients()
    if client not in names:
        raise UsageError(
            f"there is no script for the client {client!r}",
            hint=did_you_mean(client, names, "known"),
        )
    name = driver_name(client)
    if name in _javascript_clients():
        return _javascript_driver(_source(f"{name}.mjs"))
    return _python_driver(_source(f"{name.replace('-', '_')}.py"))


def template_of(suffix: Suffix) -> str:
    """Return the template for scripts with this suffix."""
    return _FOLDER.joinpath(f"script{suffix}.txt").read_text(encoding="utf-8")


def _source(path: str) -> str:
    return DRIVERS.joinpath(path).read_text(encoding="utf-8")


def _python_driver(source: str) -> Driver:
    imports: dict[str, None] = {}
    parts: dict[str, None] = {}
    _collect_python(_source(_ARGUMENTS), imports, parts)
    _collect_python(source, imports, parts)
    code = "\n\n\n".join(parts)
    collect = _collect_statements(code)
    if "asyncio" in collect:
        imports["import asyncio"] = None
    lines = sorted({*imports, *_TEMPLATE_IMPORTS}, key=_import_order)
    own = [line for line in lines if _module(line) in sys.stdlib_module_names]
    others = [line for line in lines if line not in own]
    return Driver(".py", "\n".join((*own, "", *others)), code, collect)


def _collect_statements(code: str) -> str:
    """Return the statements that call a driver, with the constants that it needs as arguments."""
    defined = (ast.FunctionDef, ast.AsyncFunctionDef)
    functions = {it.name: it for it in ast.parse(code).body if isinstance(it, defined)}
    connect, drive = functions["connect"], functions["drive"]
    takes = {argument.arg for it in (connect, drive) for argument in it.args.args}
    client = "connect(base_url, DIALECT)" if "dialect" in takes else "connect(base_url)"
    request = ", REQUEST" if "request" in takes else ""
    if isinstance(drive, ast.FunctionDef):
        return f"    for event in drive({client}{request}):\n        events.append(event)"
    return f"""\
    async def emit(*event):
        events.append(event)

    asyncio.run(drive({client}, emit{request}))"""


def _import_order(line: str) -> tuple[bool, str]:
    return line.startswith("from"), line.lower()


def _module(line: str) -> str:
    return line.split()[1].partition(".")[0]


def _collect_python(source: str, imports: dict[str, None], parts: dict[str, None]) -> None:
    """Add the imports of a Python module to `imports`, and its code to `parts`.

    The code of the shared modules that it imports comes first.
    """
    body = ast.parse(source).body
    found = [node for node in body if isinstance(node, ast.Import | ast.ImportFrom)]
    for node in found:
        module = (node.module or "") if isinstance(node, ast.ImportFrom) else ""
        if module.startswith(_SHARED):
            path = f"shared/{module.removeprefix(_SHARED)}.py"
            _collect_python(_source(path), imports, parts)
        else:
            imports[ast.get_source_segment(source, node) or ""] = None
    end = (found or body)[-1 if found else 0].end_lineno or 0
    parts["\n".join(source.splitlines()[end:]).strip()] = None


def _javascript_driver(source: str) -> Driver:
    imports: dict[str, None] = {}
    parts: dict[str, None] = {}
    _collect_javascript(source, imports, parts)
    text = "\n".join(('import { createServer } from "node:http";', "", *sorted(imports)))
    packages = tuple(each for line in imports for each in re.findall(r'"([^"]+)"', line))
    return Driver(".mjs", text, "\n\n".join(parts), packages=packages)


def _collect_javascript(source: str, imports: dict[str, None], parts: dict[str, None]) -> None:
    """Add the imports of a JavaScript module to `imports`, and its code to `parts`."""
    end = 0
    for found in _JS_IMPORT.finditer(source):
        end = found.end()
        if found[1].startswith(_JS_SHARED):
            _collect_javascript(_source(found[1].removeprefix("./")), imports, parts)
        else:
            imports[found[0].strip()] = None
    parts[_JS_EXPORT.sub("", _JS_HELLO.sub("", source[end:])).strip()] = None


def literal(value: Any, suffix: Suffix) -> str:  # noqa: ANN401 - any JSON
    """Return a JSON value as an expression of Python or JavaScript, as `suffix` says."""
    if suffix == ".py":
        return pformat(value, width=_WIDTH, sort_dicts=False)
    return json.dumps(value, ensure_ascii=False, indent=2)


def constants(values: Iterable[tuple[str, Any]], suffix: Suffix) -> str:
    """Return statements that define a constant for each name and value."""
    form = "{} = {}" if suffix == ".py" else "const {} = {};"
    return "\n".join(form.format(name, literal(value, suffix)) for name, value in values)


def reads_literal(reads: Iterable[bytes], suffix: Suffix) -> str:
    """Return the items of a list literal with one item of bytes for each read.

    Each line of a read is on a separate line.
    """
    item = _python_read if suffix == ".py" else _javascript_read
    return "".join(map(item, filter(None, reads)))


def _python_read(read: bytes) -> str:
    lines = [repr(line) for line in read.splitlines(keepends=True)]
    if len(lines) == 1:
        return f"    {lines[0]},\n"
    return "    (\n" + "".join(f"        {line}\n" for line in lines) + "    ),\n"


def _javascript_read(read: bytes) -> str:
    try:
        lines = [line.decode() for line in read.splitlines(keepends=True)]
    except UnicodeDecodeError:
        return f'  Buffer.from("{base64.b64encode(read).decode()}", "base64"),\n'
    return "  " + " +\n    ".join(json.dumps(line, ensure_ascii=False) for line in lines) + ",\n"
