"""Judge agents on complete conversations, with replies from a cassette and with mock tools."""
