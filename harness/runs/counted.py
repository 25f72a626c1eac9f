"""A number with its noun, as people read it: `1 cell`, `2 cells`."""


def counted(number: int, noun: str) -> str:
    """Return `number` and `noun`, which takes an s where there is not one of it."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
