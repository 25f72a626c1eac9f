"""The package langchain-ollama: the sum of the chunks of `ChatOllama.stream`, or `OllamaLLM`."""

import ollama
from langchain_core.exceptions import OutputParserException
from langchain_ollama import ChatOllama, OllamaLLM
from shared.langchain import summed
from shared.langchain_tool import TOOL

DOCUMENTED = (ollama.ResponseError, OutputParserException)


def drive(base_url):
    """Return the turn as agent code gets it."""
    if "prompt" not in REQUEST:
        model = ChatOllama(model="any", base_url=base_url, reasoning=True)
        turn = summed(model.bind_tools([TOOL]).stream("any"), finish="done_reason")
        return {**turn, "finish": turn.get("finish") or "stop"}  # servers of 2024 had no reason
    model = OllamaLLM(model="any", base_url=base_url, reasoning=True)
    ((choice,),) = model.generate(["any"]).generations
    finish = (choice.generation_info or {}).get("done_reason")
    return {"text": choice.text, "calls": [], "finish": finish}
