"""Run conversations: describe tools in prompts, execute the model's calls, and keep the history."""
