"""What dialects share; it imports turns and wire, never a dialect."""
