"""Conversations: prompts that describe tools, agents that execute calls, and their history."""
