"""Write emulated cassettes from the key `emulate` of scenario files.

The code that judges clients does not import this package. So no outcome can depend on how a
cassette was written.
"""
