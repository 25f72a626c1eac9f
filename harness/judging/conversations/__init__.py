"""Complete conversations, judged by replay: a cassette and mock tools -> findings."""
