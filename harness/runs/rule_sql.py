"""A rule of the gate -> the one query that counts for it; globs go in as parameters.

A rule is about a model where it names a model or a prompt, or where its metric is a success rate of
turns or conversations. Then only recorded and imported turns count, each once, and as the
lead normalizer read them unless the rule names another: nobody measured the model of an
emulated cassette.
"""

from collections.abc import Mapping

import msgspec

from harness.project import GateRule, Metric
from harness.runs.repeats import Cluster


class Trials(msgspec.Struct, frozen=True):
    """Trials of a rule that repeat each other.

    Fields:
        entry: the model, where the rule counts turns.
        wanted: whether the rule counts them; the others only tell how alike repeats are.
        cluster: `k` of `n`, where `k` counts what the metric is named after.
    """

    entry: str
    wanted: bool
    cluster: Cluster


_WANTED = """
    ($normalizer = '' OR (kind = 'turns' AND normalizer GLOB $normalizer))
    AND ($agent = '' OR (kind = 'conversation' AND normalizer GLOB $agent))
    AND ($model = '' OR model GLOB $model)
    AND ($prompt = '' OR prompt GLOB $prompt)
    AND ($provider = '' OR provider GLOB $provider)
    AND ($dialect = '' OR dialect GLOB $dialect)
    AND ($area = '' OR area GLOB $area)
"""
_NOT_EXCUSED = "cell NOT IN (SELECT unnest($excused::VARCHAR[]))"

# $metric is `conformance` or an outcome; a failure of another's blame is none.
_CELLS = f"""
SELECT '', TRUE, counted::INTEGER, 1, count(*)
FROM (
    SELECT CASE $metric
        WHEN 'conformance' THEN conforms OR ($blame <> '' AND cell_blame <> $blame)
        ELSE outcome = $metric AND ($blame = '' OR cell_blame = $blame) END AS counted
    FROM supported
    WHERE {_WANTED} AND {_NOT_EXCUSED}
)
GROUP BY counted
ORDER BY counted
"""  # noqa: S608 - made of constants

_TURNS = f"""
WITH rows AS (
    SELECT * FROM measured WHERE $measured
    UNION ALL BY NAME
    SELECT supported.*, turns.* EXCLUDE (cell)
    FROM supported JOIN turns USING (cell)
    WHERE NOT $measured
), clusters AS (
    SELECT
        model, {_WANTED} AS wanted, count(*) AS n,
        count_if(CASE $metric
            WHEN 'turn_success' THEN success OR ($blame <> '' AND blame <> $blame)
            ELSE parse_errors > 0 AND ($blame = '' OR parse_error_blame = $blame) END) AS k
    FROM rows
    WHERE {_NOT_EXCUSED} AND ($lead = '' OR normalizer = $lead)
    GROUP BY model, wanted, CASE asked WHEN '' THEN cell || ' ' || interaction ELSE asked END
)
SELECT model, wanted, k, n, count(*)
FROM clusters
GROUP BY model, wanted, k, n
ORDER BY model, wanted, k, n
"""  # noqa: S608 - made of constants

# Of `recovery`, the trials are broken turns; of the others, conversations.
_CONVERSATIONS = f"""
WITH rows AS (
    SELECT * FROM held WHERE $measured
    UNION ALL BY NAME
    SELECT * FROM supported JOIN conversations USING (cell) WHERE NOT $measured
), counted AS (
    SELECT
        CASE $metric
            WHEN 'conversation_success'
                THEN (success OR ($blame <> '' AND blame <> $blame))::INTEGER
            WHEN 'retries' THEN (retries > 0)::INTEGER
            ELSE recovered END AS k,
        CASE $metric WHEN 'recovery' THEN broken_turns ELSE 1 END AS n
    FROM rows
    WHERE {_WANTED} AND {_NOT_EXCUSED}
)
SELECT '', TRUE, k, n, count(*) FROM counted WHERE n > 0 GROUP BY k, n ORDER BY k, n
"""  # noqa: S608 - made of constants

_QUERIES: dict[Metric, str] = {
    "conformance": _CELLS,
    "silent_wrong": _CELLS,
    "lost_call": _CELLS,
    "crash": _CELLS,
    "hang": _CELLS,
    "leak": _CELLS,
    "mismatch": _CELLS,
    "turn_success": _TURNS,
    "parse_error_rate": _TURNS,
    "conversation_success": _CONVERSATIONS,
    "retries": _CONVERSATIONS,
    "recovery": _CONVERSATIONS,
}
_OF_MODELS: tuple[Metric, ...] = ("turn_success", "conversation_success")


def rule_query(rule: GateRule, lead: str) -> tuple[str, Mapping[str, object]]:
    """Return the query of `rule` and its parameters but `excused`.

    Args:
        rule: what to count.
        lead: name of the normalizer through which models are measured.
    """
    query, where = _QUERIES[rule.metric], rule.where
    values: dict[str, object] = {**msgspec.structs.asdict(where), "metric": rule.metric}
    if query is _CELLS:
        return query, values
    measured = bool(where.model or where.prompt) or rule.metric in _OF_MODELS
    values["measured"] = measured
    if query is _TURNS:
        values["lead"] = lead if measured and not where.normalizer else ""
    return query, values
