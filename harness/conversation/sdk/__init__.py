"""Adapters of third-party agent libraries, each of which runs the library's own tool loop.

An adapter gives the library an HTTP client of `harness.normalizers.sdk` that sends each request
through the task, and functions that execute the tools of the task. It translates what the library
returns: the history that it stores, each response, and how the run ended. It repairs and hides
nothing. Fields that a library does not expose are in `Agent.hides`. A limit that it does not have
is a policy of the agent, so that scenarios about it are unsupported.

A documented exception is how a library reports the end of a run. Any other exception is a crash.
"""
