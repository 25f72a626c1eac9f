"""Third-party libraries under test: each in a separate environment and process, and compared.

`peers.toml` lists them, and `locks/` pins everything that an environment contains.
"""
