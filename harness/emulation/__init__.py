"""Emulated cassettes: the key `emulate` of a scenario -> the cassette of that scenario.

Nothing that judges imports this package, so that no verdict can depend on how a cassette was
written.
"""
