"""Causes in words: what a client does, then the detail; an unknown rule stays as it is."""

from harness.results.duties import load_duties
from harness.verdicts.causes import cause_name
from tests.tables import each_row


def test_each_rule_says_what_a_client_does_that_violates_it() -> None:
    faults = {rule: duty.fault for rule, duty in load_duties().items()}
    assert [rule for rule, fault in faults.items() if not fault] == []
    assert [rule for rule, fault in faults.items() if not fault[0].islower()] == []
    assert [rule for rule, fault in faults.items() if fault.endswith(".")] == []


@each_row(
    ("cause", "words"),
    [
        ("TRUNCATED-CALL-NOT-RUN", "executes a call that was cut off"),
        ("CALL-NAME-EXACT · doubled", "changes the name of a call (doubled)"),
        ("FAILURE-NOT-INVENTED · bad … here", "reports a complete turn as failed"),
        ("KeyError in library.chat:parse · …", "raises KeyError"),
        ("A-NEW-RULE · doubled", "A-NEW-RULE · doubled"),
        ("", ""),
    ],
)
def test_cause_in_words(cause: str, words: str) -> None:
    assert cause_name(cause) == words
