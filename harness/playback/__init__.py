"""Play a cassette as if it were the provider: in this process, or as a server on this machine.

`playback` decides which interaction answers a request, and stores requests and answers. The
transports for httpx and httpx2 and the server only transfer the answer, read by read. This package
never connects to a real server.
"""
