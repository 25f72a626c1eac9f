"""A call for an agent loop that looks tools up by their names."""


def named(event, call_id, name, arguments):
    """Return the event of a call for an agent loop that looks a tool up by its name."""
    if name:
        return event, call_id, name, arguments
    return "rejected", call_id, name, arguments, "no tool is without a name"
