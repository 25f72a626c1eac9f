"""How the source of a hostile client is put together: a module with `normalize`."""

from typing import Final

HEAD: Final = """
import asyncio, atexit, builtins, collections, ctypes, decimal, faulthandler, gc, itertools, json
import logging, multiprocessing, os, pathlib, pickle, resource, signal, socket
import subprocess, sys, tempfile, threading, time, warnings
from harness.normalizers.reference import normalizer as right

def read(interaction, reads):
    return right.normalize(interaction, reads)

def command():
    return multiprocessing.parent_process().pid

def fails(*arguments, **options):
    raise ValueError('HOSTILE')

def hangs(*arguments, **options):
    while True: pass

server = os.getppid()  # it forks the workers
times = itertools.count()
libc = ctypes.CDLL(None)

"""
SLEEP: Final = "[sys.executable, '-c', 'import time; time.sleep(3600)']"


def before(*lines: str) -> str:
    """Return a client that runs `lines` and reads the stream right."""
    return normalize(*lines, "return read(interaction, reads)")


def once(*lines: str) -> str:
    """Return a client that runs `lines` in the first replay of its process, and reads right."""
    return before("if not next(times):", *(f"    {line}" for line in lines))


def after(*lines: str) -> str:
    """Return a client that reads the stream right and runs `lines` before its end."""
    return normalize("yield from read(interaction, reads)", *lines)


def normalize(*lines: str) -> str:
    """Return a client whose function has the body `lines`."""
    body = "".join(f"    {line}\n" for line in lines)
    return f"{HEAD}def normalize(interaction, reads):\n{body}"


def at_import(*lines: str) -> str:
    """Return a client that runs `lines` at its import, and reads the stream right."""
    return HEAD + "\n".join((*lines, "normalize = read", ""))


def module(source: str) -> str:
    """Return a client of `source` after the imports."""
    return f"{HEAD}{source}\n"
