"""Build the client's messages of a Live session: the setup, then the first turn of the user.

Source: Gemini API reference, "Live API", `BidiGenerateContentClientMessage`.
"""

from typing import Final

from harness.dialects.kit import build_request as kit
from harness.dialects.kit.build_request import Json


def _first_body(spec: kit.RequestSpec) -> Json:
    instructions, question = kit.question_of(spec)
    functions = [kit.function_of(tool) for tool in spec.tools]
    setup: Json = {
        "model": f"models/{spec.model}",
        "generationConfig": {"responseModalities": ["TEXT"]},
        **({"systemInstruction": {"parts": [{"text": instructions}]}} if instructions else {}),
        **({"tools": [{"functionDeclarations": functions}]} if functions else {}),
    }
    turns = [{"role": "user", "parts": [{"text": question}]}]
    content = {"turns": turns, "turnComplete": True}
    return {"events": [{"setup": setup}, {"clientContent": content}]}


_SERVICE: Final = "google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent"
_VERTEX: Final = "google.cloud.aiplatform.v1.LlmBidiService/BidiGenerateContent"
REQUEST_FORMS: Final = {
    "": kit.RequestForm(
        {
            "google-gemini": f"wss://generativelanguage.googleapis.com/ws/{_SERVICE}",
            "google-vertex": f"wss://europe-west1-aiplatform.googleapis.com/ws/{_VERTEX}",
        },
        _first_body,
        (),
    )
}
