"""The exit codes of all commands."""

EXIT_GATE_FAILED = 1
EXIT_USAGE = 2
EXIT_INTERNAL = 3
EXIT_NOTHING_SELECTED = 5
EXIT_INTERRUPTED = 130
EXIT_CLOSED_PIPE = 141  # what a shell says of a program that SIGPIPE ended
