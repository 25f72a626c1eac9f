"""The dialect `openai-chat`: the chat completions stream, as its many providers spell it."""
