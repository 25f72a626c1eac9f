"""Clients that attack with what they are, return, yield and raise; sets as before."""

from typing import Final

from tests.attack.hostile_source import after, at_import, before, module, normalize

_ODD_TEXT: Final = """
class Odd(str):
    def __reduce__(self): return os._exit, (0,)
    def __eq__(self, other): os._exit(0)
    __len__ = __add__ = __hash__ = __str__ = __repr__ = encode = join = __eq__

def normalize(interaction, reads):
    from harness.turns.deltas import TextDelta
    yield TextDelta(Odd('HOSTILE'))
    yield from read(interaction, reads)
"""
_ODD_CLASS: Final = """
from harness.turns.deltas import TextDelta

class Odd:
    __class__ = TextDelta
    text = 'HOSTILE'
    def __hash__(self): return hash(TextDelta)
    def __eq__(self, other): return True

def normalize(interaction, reads):
    yield Odd()
    yield from read(interaction, reads)
"""
_EQUAL_TO_ALL: Final = """
from harness.turns.deltas import ToolCallStart

class Odd:
    def __eq__(self, other): return True
    def __hash__(self): raise KeyboardInterrupt
    def __reduce__(self): return os._exit, (0,)

def normalize(interaction, reads):
    yield ToolCallStart(0, 'call', 'name', Odd())
    yield from read(interaction, reads)
"""
_CHANGES_ITS_DELTAS: Final = """
import msgspec
from harness.turns.deltas import TextDelta

class Odd(str):
    def __reduce__(self): return os._exit, (0,)

def normalize(interaction, reads):
    text = TextDelta('x')
    yield text
    msgspec.structs.force_setattr(text, 'text', Odd('HOSTILE'))
    yield from read(interaction, reads)
"""
_NO_CLASS: Final = """
class Meta(type):
    def __instancecheck__(self, other): os._exit(0)

class Odd(metaclass=Meta):
    @property
    def __class__(self): raise KeyboardInterrupt
    def __call__(self, interaction, reads): return read(interaction, reads)

normalize = Odd()
"""
_DECLARES: Final = """
from harness.normalizers.protocol import Normalizer

class Odd(frozenset):
    def __reduce__(self): return os._exit, (0,)

normalize = Normalizer('odd', read, {fields})
"""
_CYCLE: Final = (
    "first, second = ValueError('HOSTILE'), ValueError('HOSTILE')",
    "first.__cause__, second.__cause__ = second, first",
    "raise first",
)

HARMLESS: Final = {
    "keeps-its-generators": before("kept = globals().setdefault('kept', [])", "kept.append(reads)"),
}
FAILING: Final = {
    "gives-odd-texts": module(_ODD_TEXT),
    "gives-objects-of-an-odd-class": module(_ODD_CLASS),
    "gives-a-kind-equal-to-all": module(_EQUAL_TO_ALL),
    "changes-its-deltas-later": module(_CHANGES_ITS_DELTAS),
    "gives-100-mb-of-text": normalize(
        "from harness.turns.deltas import TextDelta",
        "for each in range(100): yield TextDelta('HOSTILE ' * (1 << 17))",
        "yield from read(interaction, reads)",
    ),
    "gives-millions-of-empty-texts": normalize(
        "from harness.turns.deltas import TextDelta",
        "yield from itertools.repeat(TextDelta(''), 5_000_000)",
    ),
    "gives-halves-of-surrogates": normalize(
        "from harness.turns.deltas import TextDelta",
        "yield TextDelta('\\ud800\\udfff\\udc00')",
        "yield from read(interaction, reads)",
    ),
    "gives-odd-indexes": normalize(
        "from harness.turns.deltas import ToolCallStart, ToolCallEnd, ArgumentsDelta",
        "for each in (-1, 1 << 70, -(1 << 70)):",
        "    yield ToolCallStart(each, 'a', 'b'); yield ArgumentsDelta(each, '{\"a\": NaN}')",
        "    yield ToolCallEnd(each)",
        "yield from read(interaction, reads)",
    ),
    "gives-huge-numbers": after(
        "from harness.turns.deltas import Usage, UsageDelta",
        "yield UsageDelta(Usage(10 ** 5000, -1))",
    ),
    "gives-deep-arguments": normalize(
        "from harness.turns.deltas import call_deltas",
        "yield from call_deltas(0, 'a', 'b', '{\"a\":' * 200_000 + '1' + '}' * 200_000)",
        "yield from read(interaction, reads)",
    ),
    "goes-on-after-the-end": after(
        "from harness.turns.deltas import TextDelta",
        "for each in range(9): yield TextDelta('HOSTILE')",
    ),
    "never-ends-after-the-end": after("while True: pass"),
    "hangs-when-it-is-closed": normalize(
        "from harness.turns.deltas import TextDelta",
        "try:",
        "    while True: yield TextDelta('x')",
        "finally: hangs()",
    ),
    "changes-its-input": before(
        "import msgspec",
        "msgspec.structs.force_setattr(interaction, 'headers', None)",
        "msgspec.structs.force_setattr(interaction, 'dialect', None)",
    ),
    "keeps-state": normalize(
        "yield from read(interaction, reads) if not next(times) else iter(())"
    ),
    "has-another-signature": module("def normalize(): pass"),
    "is-a-coroutine": module("async def normalize(interaction, reads): return 1"),
    "is-a-class": module("class normalize:\n    def __init__(self, interaction, reads): pass"),
    "raises-a-group": before(
        "raise BaseExceptionGroup('HOSTILE', [SystemExit(0), KeyboardInterrupt()])"
    ),
    "raises-a-cycle": before(*_CYCLE),
    "raises-a-long-text": before("raise ValueError('HOSTILE ' * 6_000_000)"),
    "raises-an-odd-traceback": before(
        "exec(compile('raise ValueError', '\\0\\ud800/HOSTILE\\n', 'exec'), {'__name__': 5})"
    ),
    "raises-an-odd-syntax-error": before(
        "raise SyntaxError('HOSTILE', ('\\0\\ud800', -5, 1 << 70, 'x' * 10_000_000))"
    ),
    "raises-with-a-text-that-hangs": before(
        "class Odd(Exception):", "    __str__ = __repr__ = hangs", "raise Odd"
    ),
    "raises-an-error-of-the-harness": before(
        "from harness.errors import UnreadableError", "raise UnreadableError('HOSTILE')"
    ),
}
EITHER: Final = {
    "hides-the-standard-library": at_import(
        "sys.modules['tempfile'] = sys.modules['hashlib'] = sys.modules['sqlite3'] = None"
    ),
    "declares-much": module(
        _DECLARES.format(fields="frozenset({'openai-chat'}), summary='HOSTILE' * 7_000_000")
    ),
    "declares-a-pickle": module(_DECLARES.format(fields="Odd({'openai-chat'})")),
}
UNLOADABLE: Final = {
    "declares-odd-types": module(_DECLARES.format(fields="5, None, 'x', kind=7, policies=1")),
    "is-a-number": module("normalize = 42"),
    "has-an-odd-metaclass": module(_NO_CLASS),
    "replaces-itself": at_import("sys.modules[__name__] = 5"),
    "recurses-at-import": at_import("def f(): return f()", "f()"),
    "raises-a-group-at-import": at_import(
        "raise BaseExceptionGroup('HOSTILE', [SystemExit(0), KeyboardInterrupt()])"
    ),
    "raises-keyboard-interrupt-at-import": at_import("raise KeyboardInterrupt"),
    "removes-the-harness-at-import": at_import(
        "for each in [each for each in sys.modules if each.startswith('harness')]:",
        "    sys.modules[each] = None",
        "del sys.modules[__name__]",
    ),
}
SLOW_AT_IMPORT: Final = {
    "waits-for-its-own-import": at_import(
        "def again(): import hostile; hostile.normalize",
        "import importlib",
        "def wait():",
        "    with importlib._bootstrap._ModuleLockManager(__name__): time.sleep(3600)",
        "thread = threading.Thread(target=wait); thread.start(); thread.join()",
    ),
    "loops-in-its-attributes": module("def __getattr__(name): hangs()"),
}
