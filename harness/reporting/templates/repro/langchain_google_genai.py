"""The package langchain-google-genai: the sum of the chunks of `ChatGoogleGenerativeAI.stream`."""

from google.genai import errors
from langchain_google_genai import ChatGoogleGenerativeAI
from langchain_google_genai.chat_models import ChatGoogleGenerativeAIError
from shared.langchain import summed
from shared.langchain_tool import TOOL

DOCUMENTED = (ChatGoogleGenerativeAIError, errors.APIError, errors.UnknownApiResponseError)
FINISH = {"STOP": "stop", "MAX_TOKENS": "length", "SAFETY": "content_filter"}


def drive(base_url):
    """Return the turn as agent code gets it."""
    model = ChatGoogleGenerativeAI(
        model="gemini-any", base_url=base_url, api_key="none", vertexai=False, max_retries=1
    )
    return summed(model.bind_tools([TOOL]).stream("any"))
