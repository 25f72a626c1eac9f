"""Generated conversations: the inputs for agents."""
