"""Turn recorded WebSocket connections into cassettes: the dialect, the responses, no secrets."""

import msgspec

from harness.dialects.table import session_turns
from harness.errors import UnscrubbedError
from harness.providers import UNKNOWN
from harness.recording import identify
from harness.recording.detect import Detected
from harness.recording.secrets.scrubber import Scrubber
from harness.wire.cassette import Cassette
from harness.wire.interaction import Interaction
from harness.wire.session import Session


def clean_session(session: Session, scrubber: Scrubber, where: str) -> Session:
    """Return the session without secrets; each frame keeps its length.

    Raises:
        UnscrubbedError: a secret cannot be replaced.
    """
    whole = session.whole()
    (clean,) = scrubber.cleaned([whole], where)
    same = len(clean.body) == len(whole.body)
    if not same or len(clean.request.body) != len(whole.request.body):
        what = "a secret in a frame cannot be replaced by as many bytes"
        raise UnscrubbedError(what, where=where)
    return session.with_whole(clean)


def detected_session(session: Session, by: str = UNKNOWN, named: str = "") -> Detected:
    """Return the dialect of a session: the one the user named, or else the detected one."""
    if named:
        return Detected(named, "certain", "named by --dialect")
    every = tuple(number for number, frame in enumerate(session.frames) if frame.is_message)
    return identify.detected(
        msgspec.structs.replace(session.interaction(every), dialect=UNKNOWN), by
    )


def found_session(session: Session, dialect: str) -> Session:
    """Return the session with the turns that the form of the dialect finds in it."""
    return msgspec.structs.replace(session, turns=session_turns(session.frames, dialect))


def session_cassette(pattern: Cassette, session: Session, dialect: str) -> Cassette:
    """Return the cassette of a session whose turns were found.

    Args:
        pattern: a cassette with the labels and the origin.
        session: the session, without secrets.
        dialect: the dialect of its responses.
    """
    made = msgspec.structs.replace(
        pattern, interactions=session.interactions(), session=session
    ).with_each(dialect=dialect)
    every = tuple(number for number, frame in enumerate(session.frames) if frame.is_message)
    whole = msgspec.structs.replace(session.interaction(every), dialect=dialect)
    model = made.model if made.model != UNKNOWN else _first_model((*made.interactions, whole))
    return identify.identify(msgspec.structs.replace(made, model=model))


def _first_model(interactions: tuple[Interaction, ...]) -> str:
    models = map(identify.model_of, interactions)
    return next((model for model in models if model != UNKNOWN), UNKNOWN)
