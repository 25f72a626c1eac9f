"""Members of values that a library hands over, as the stream has them."""


def member(value, name):
    """Return a member of a dict or an object, or None if it has none of that name."""
    return value.get(name) if isinstance(value, dict) else getattr(value, name, None)


def text_of(value):
    """Return a value that should be text; "" if it is not."""
    return value if isinstance(value, str) else ""


def reasoning_of(delta):
    """Return the reasoning in a delta, which packages without such a member keep, or ""."""
    texts = (member(delta, name) for name in ("reasoning_content", "reasoning"))
    found = next(filter(None, texts), "")
    return found if isinstance(found, str) else ""
