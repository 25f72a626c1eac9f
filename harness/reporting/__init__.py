"""A run -> views: the HTML report, and tables for terminals and Markdown.

Every view is a pure function of the run: same run, same bytes; no clock, no cassette, no
network.
"""
