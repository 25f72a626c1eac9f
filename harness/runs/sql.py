"""The SQL that a run is queried with, one file a query in `queries/`; values are parameters.

Tables: `outcomes` (every outcome), `results` (a row a cell), `turns` (a row an interaction of a
cell), `conversations` (a row a cell whose conversation ran), `findings` (a row a finding).
"""

from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Final

import msgspec

from harness.project import GateRule, Metric
from harness.runs.statistics import Cluster


@cache
def query_text(name: str) -> str:
    """Return the text of `queries/NAME.sql`."""
    return (resources.files(__package__) / "queries" / f"{name}.sql").read_text(encoding="utf-8")


@cache
def _gate_query(name: str) -> str:
    return query_text(name).format(
        selected=query_text("gate_selected"),
        not_excused="cell NOT IN (SELECT unnest($excused::VARCHAR[]))",
    )


class RuleTrials(msgspec.Struct, frozen=True):
    """Trials of a rule that repeat each other.

    Fields:
        entry: the model, where the rule counts turns.
        wanted: whether the rule counts them; the others only tell how alike repeats are.
        cluster: `k` of `n`, where `k` counts what the metric is named after.
    """

    entry: str
    wanted: bool
    cluster: Cluster


# Every other metric is a share of cells.
_QUERY_OF: Final[dict[Metric, str]] = {
    "turn_success": "gate_turns",
    "parse_error_rate": "gate_turns",
    "conversation_success": "gate_conversations",
    "retries": "gate_conversations",
    "recovery": "gate_conversations",
}
_OF_MODELS: tuple[Metric, ...] = ("turn_success", "conversation_success")


def rule_query(rule: GateRule, lead: str) -> tuple[str, Mapping[str, object]]:
    """Return the query of `rule` and its parameters but `excused`.

    Args:
        rule: what to count.
        lead: name of the normalizer through which models are measured.
    """
    name, where = _QUERY_OF.get(rule.metric, "gate_cells"), rule.where
    values: dict[str, object] = {**msgspec.structs.asdict(where), "metric": rule.metric}
    if name == "gate_cells":
        return _gate_query(name), values
    measured = bool(where.model or where.prompt) or rule.metric in _OF_MODELS
    values["measured"] = measured
    if name == "gate_turns":
        values["lead"] = lead if measured and not where.normalizer else ""
    return _gate_query(name), values
