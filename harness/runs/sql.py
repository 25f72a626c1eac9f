"""Every line of SQL that a run is asked with; values come in as parameters only.

Tables: `outcomes` (the outcomes there are), `results` (a row a cell), `turns` (a row an
interaction of a cell), `conversations` (a row a cell of a conversation that was had), `findings`
(a row a finding of a cell).
"""

from collections.abc import Mapping

import msgspec

from harness.project import GateRule, Metric
from harness.runs.statistics import Cluster

SCHEMA = (
    "CREATE TABLE outcomes (outcome VARCHAR, badness INTEGER, conforms BOOLEAN)",
    """
    CREATE TABLE results (
        cell VARCHAR, scenario VARCHAR, cassette VARCHAR, normalizer VARCHAR, outcome VARCHAR,
        model VARCHAR, prompt VARCHAR, origin VARCHAR, text_dialect VARCHAR,
        kind VARCHAR, provider VARCHAR, dialect VARCHAR, area VARCHAR, cell_blame VARCHAR,
        quirks VARCHAR[]
    )
    """,
    """
    CREATE TABLE turns (
        cell VARCHAR, interaction INTEGER, digest VARCHAR, success BOOLEAN, blame VARCHAR,
        parse_errors INTEGER, parse_error_blame VARCHAR, asked VARCHAR, why VARCHAR
    )
    """,
    """
    CREATE TABLE conversations (
        cell VARCHAR, success BOOLEAN, blame VARCHAR, turns INTEGER,
        broken_turns INTEGER, parse_error_turns INTEGER, recovered INTEGER, retries INTEGER,
        tool_use INTEGER, json_fallback INTEGER, compared INTEGER, as_recorded INTEGER
    )
    """,
    "CREATE TABLE findings (cell VARCHAR, rule VARCHAR, level VARCHAR, outcome VARCHAR)",
    # Cells that the normalizer declares itself for: the denominators.
    """
    CREATE VIEW supported AS
    SELECT * FROM results JOIN outcomes USING (outcome) WHERE outcome <> 'unsupported'
    """,
    # Each recorded turn once for each normalizer, whatever number of scenarios judge its
    # cassette. Cassettes of two folders may share an id, so the body's digest tells turns
    # apart too. A labelled one knows more about blame than the strict reading.
    """
    CREATE VIEW measured AS
    SELECT supported.*, turns.* EXCLUDE (cell)
    FROM supported JOIN turns USING (cell)
    WHERE origin IN ('recorded', 'imported')
    QUALIFY row_number() OVER (
        PARTITION BY cassette, interaction, digest, normalizer
        ORDER BY starts_with(scenario, 'cassette:'), scenario
    ) = 1
    """,
    # Each recorded conversation once for each agent, whatever number of scenarios judge it; a
    # cell that was not had has no row here, and a log has one though nothing judges it.
    """
    CREATE VIEW held AS
    SELECT * FROM results JOIN outcomes USING (outcome) JOIN conversations USING (cell)
    WHERE origin IN ('recorded', 'imported')
    QUALIFY row_number() OVER (PARTITION BY cassette, normalizer ORDER BY scenario) = 1
    """,
)

INSERT_OUTCOMES = """
INSERT INTO outcomes
SELECT unnest(?::VARCHAR[]), unnest(?::INTEGER[]), unnest(?::BOOLEAN[])
"""

INSERT_RESULTS = """
INSERT INTO results
SELECT
    unnest(?::VARCHAR[]), unnest(?::VARCHAR[]), unnest(?::VARCHAR[]), unnest(?::VARCHAR[]),
    unnest(?::VARCHAR[]), unnest(?::VARCHAR[]), unnest(?::VARCHAR[]), unnest(?::VARCHAR[]),
    unnest(?::VARCHAR[]), unnest(?::VARCHAR[]), unnest(?::VARCHAR[]), unnest(?::VARCHAR[]),
    unnest(?::VARCHAR[]), unnest(?::VARCHAR[]), unnest(?::VARCHAR[][])
"""

INSERT_TURNS = """
INSERT INTO turns
SELECT
    unnest(?::VARCHAR[]), unnest(?::INTEGER[]), unnest(?::VARCHAR[]), unnest(?::BOOLEAN[]),
    unnest(?::VARCHAR[]), unnest(?::INTEGER[]), unnest(?::VARCHAR[]), unnest(?::VARCHAR[]),
    unnest(?::VARCHAR[])
"""

INSERT_CONVERSATIONS = """
INSERT INTO conversations
SELECT
    unnest(?::VARCHAR[]), unnest(?::BOOLEAN[]), unnest(?::VARCHAR[]), unnest(?::INTEGER[]),
    unnest(?::INTEGER[]), unnest(?::INTEGER[]), unnest(?::INTEGER[]), unnest(?::INTEGER[]),
    unnest(?::INTEGER[]), unnest(?::INTEGER[]),
    unnest(?::INTEGER[]), unnest(?::INTEGER[])
"""

INSERT_FINDINGS = """
INSERT INTO findings
SELECT unnest(?::VARCHAR[]), unnest(?::VARCHAR[]), unnest(?::VARCHAR[]), unnest(?::VARCHAR[])
"""

OUTCOME_COUNTS = """
SELECT normalizer, outcome, count(*)
FROM results JOIN outcomes USING (outcome)
WHERE kind <> 'log'
GROUP BY normalizer, outcome, badness
ORDER BY normalizer, badness
"""

FAILURES_BY_SIGNATURE = """
WITH failures AS (
    SELECT DISTINCT cell, rule, level, outcome FROM findings
    UNION ALL
    SELECT cell, '', 'MUST', outcome FROM supported
    WHERE NOT conforms AND cell NOT IN (SELECT cell FROM findings WHERE level = 'MUST')
)
SELECT
    rule, level, failures.outcome, normalizer, count(DISTINCT cell) AS cells_hit,
    list_sort(list_distinct(flatten(list(quirks)))), list(DISTINCT cell ORDER BY cell)
FROM failures
JOIN results USING (cell)
JOIN outcomes ON outcomes.outcome = failures.outcome
WHERE NOT conforms
GROUP BY rule, level, failures.outcome, badness, normalizer
ORDER BY
    CASE level WHEN 'MUST' THEN 0 WHEN 'SHOULD' THEN 1 ELSE 2 END,
    badness, cells_hit DESC, rule, normalizer
"""

LOSSES_BY_QUIRK = """
SELECT
    normalizer, quirk, count_if(conforms), count(*), arg_min(outcome, badness)
FROM (SELECT normalizer, outcome, conforms, badness, unnest(quirks) AS quirk FROM supported)
GROUP BY normalizer, quirk
ORDER BY normalizer, quirk
"""

# A turn counts for the best of normalizers only where that normalizer did right by the
# bytes: one that loses the broken call of a turn must not turn it into a success.
TURN_SUCCESS = """
WITH best AS (
    SELECT cassette, interaction, digest, bool_or(success AND conforms) AS best_success
    FROM measured
    GROUP BY cassette, interaction, digest
)
SELECT
    CASE $axis WHEN 'model' THEN model WHEN 'prompt' THEN prompt
    ELSE model || ' x ' || prompt END AS name,
    count_if(success), count(*), count_if(success OR best_success),
    count_if(parse_errors > 0 AND parse_error_blame = 'model'),
    count_if(parse_errors > 0 AND parse_error_blame = 'provider'),
    count_if(parse_errors > 0 AND parse_error_blame = 'normalizer'),
    count_if(parse_errors > 0 AND parse_error_blame = 'harness'),
    count_if(NOT success AND blame = 'model'),
    count_if(NOT success AND blame = 'provider'),
    count_if(NOT success AND blame = 'normalizer'),
    count_if(NOT success AND blame = 'harness')
FROM measured JOIN best USING (cassette, interaction, digest)
WHERE normalizer = $lead
GROUP BY name
ORDER BY name
"""

# The same turns as each normalizer read them.
MEASURED_TURNS = """
SELECT model, prompt, normalizer, count_if(success), count(*)
FROM measured
WHERE normalizer IN (SELECT normalizer FROM results WHERE kind = 'turns')
GROUP BY model, prompt, normalizer
ORDER BY model, prompt, normalizer
"""

COMMONEST_FAILURES = """
SELECT
    CASE $axis WHEN 'model' THEN model ELSE prompt END AS name,
    why, count(*) AS failed_turns, min(cell)
FROM measured
WHERE normalizer = $lead AND NOT success
GROUP BY name, why
QUALIFY row_number() OVER (PARTITION BY name ORDER BY failed_turns DESC, why) = 1
ORDER BY name
"""

# Over all cells, or by the text dialect of those that have one.
CONFORMANCE = """
WITH split AS (
    SELECT
        cell,
        count_if(parse_errors > 0 AND parse_error_blame = 'model') AS model_errors,
        count_if(parse_errors > 0 AND parse_error_blame = 'provider') AS provider_errors,
        count_if(parse_errors > 0 AND parse_error_blame = 'normalizer') AS normalizer_errors,
        count_if(parse_errors > 0 AND parse_error_blame = 'harness') AS harness_errors,
        count_if(NOT success AND blame = 'model') AS model_failures,
        count_if(NOT success AND blame = 'provider') AS provider_failures,
        count_if(NOT success AND blame = 'normalizer') AS normalizer_failures,
        count_if(NOT success AND blame = 'harness') AS harness_failures
    FROM turns
    GROUP BY cell
)
SELECT
    CASE $axis WHEN 'text dialect' THEN text_dialect ELSE '' END AS part,
    normalizer AS name, count_if(conforms), count(*), count_if(conforms),
    coalesce(sum(model_errors), 0)::BIGINT,
    coalesce(sum(provider_errors), 0)::BIGINT,
    coalesce(sum(normalizer_errors), 0)::BIGINT,
    coalesce(sum(harness_errors), 0)::BIGINT,
    coalesce(sum(model_failures), 0)::BIGINT,
    coalesce(sum(provider_failures), 0)::BIGINT,
    coalesce(sum(normalizer_failures), 0)::BIGINT,
    coalesce(sum(harness_failures), 0)::BIGINT
FROM supported LEFT JOIN split USING (cell)
WHERE kind = $kind AND ($axis <> 'text dialect' OR text_dialect <> '')
GROUP BY part, name
ORDER BY part, name
"""

# Only conversations whose replies a real server gave.
CONVERSATION_SUCCESS = """
SELECT
    model, prompt, normalizer, count_if(success), count(*),
    sum(turns)::BIGINT, sum(broken_turns)::BIGINT, sum(parse_error_turns)::BIGINT,
    sum(recovered)::BIGINT, sum(retries)::BIGINT,
    sum(tool_use)::BIGINT, sum(json_fallback)::BIGINT,
    sum(compared)::BIGINT, sum(as_recorded)::BIGINT,
    count_if(NOT success AND blame = 'model'),
    count_if(NOT success AND blame = 'provider'),
    count_if(NOT success AND blame = 'normalizer'),
    count_if(NOT success AND blame = 'harness')
FROM held
GROUP BY model, prompt, normalizer
ORDER BY model, prompt, normalizer
"""

# How often each request was asked again for each name, and how often that went well. A turn
# that does not say what was asked is a request of its own.
REPEATS = """
WITH clusters AS (
    SELECT
        CASE $axis WHEN 'model' THEN model WHEN 'prompt' THEN prompt
        ELSE model || ' x ' || prompt END AS name,
        count_if(success) AS k, count(*) AS n
    FROM measured
    WHERE normalizer = $lead
    GROUP BY name, CASE asked WHEN '' THEN cell || ' ' || interaction ELSE asked END
)
SELECT name, k, n, count(*) FROM clusters GROUP BY name, k, n ORDER BY name, k, n
"""


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


_SELECTED = """
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
    WHERE {_SELECTED} AND {_NOT_EXCUSED}
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
        model, {_SELECTED} AS wanted, count(*) AS n,
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
    WHERE {_SELECTED} AND {_NOT_EXCUSED}
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
