"""Play a cassette as the provider: in this process for httpx and httpx2, or over loopback.

`playback` decides which interaction answers a request, and stores requests and answers. The
transports and the server only transfer the answer, read by read. This package never connects to a
real server.
"""
