"""The code that dialects share. It imports turns and wire, and never a dialect."""
