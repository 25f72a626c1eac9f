"""Present a run: as the HTML report, and as tables for terminals and Markdown.

Every output depends on the run alone, so the same run gives the same bytes. No module here uses a
clock, a cassette or the network.
"""
