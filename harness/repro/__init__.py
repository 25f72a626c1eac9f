"""Scripts that show a failure of a library to its maintainers, without this package.

`script` fills the template of a language, `code` takes the source of a driver. The drivers in
`drivers/` call the libraries; the adapters of `harness.normalizers.sdk` and the clients for Node
wrap the same drivers.
"""
