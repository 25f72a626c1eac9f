"""Adapters: other people's libraries as normalizers, driven as their users drive them.

An adapter judges a library at the layer that hands calls to agent code, over the library's own
HTTP client, with its retries off. It repairs nothing and hides nothing: what a library raises
that it does not document is a crash, what it hands over is what runs. A library's package is an
extra and is imported when it is first needed; nothing outside this folder imports one.
"""
