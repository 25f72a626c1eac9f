"""Store turns in the history: which parts, in which form, and how many messages."""
