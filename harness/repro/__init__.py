"""Write scripts that show a failure of a library to its maintainers, without this package.

`script` fills the template for a language, and `code` collects the source of a driver, the code
that calls a library. The adapters of `harness.normalizers.sdk` and the clients for Node use the
same drivers, which are in the folder `drivers/`.
"""
