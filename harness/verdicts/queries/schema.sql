CREATE TEMP TABLE outcomes (outcome VARCHAR, badness INTEGER, conforms BOOLEAN);

CREATE TEMP TABLE results (
    cell VARCHAR, scenario VARCHAR, cassette VARCHAR, normalizer VARCHAR, outcome VARCHAR,
    model VARCHAR, prompt VARCHAR, origin VARCHAR, text_dialect VARCHAR,
    kind VARCHAR, provider VARCHAR, dialect VARCHAR, area VARCHAR, cell_blame VARCHAR,
    quirks VARCHAR[], cause VARCHAR, inherited BOOLEAN
);

CREATE TEMP TABLE turns (
    cell VARCHAR, interaction INTEGER, digest VARCHAR, success BOOLEAN, blame VARCHAR,
    parse_errors INTEGER, parse_error_blame VARCHAR, asked VARCHAR, why VARCHAR,
    ambiguous VARCHAR[]
);

CREATE TEMP TABLE conversations (
    cell VARCHAR, success BOOLEAN, blame VARCHAR, turns INTEGER,
    broken_turns INTEGER, parse_error_turns INTEGER, recovered INTEGER, retries INTEGER,
    tool_use INTEGER, json_fallback INTEGER, compared INTEGER, as_recorded INTEGER
);

CREATE TEMP TABLE findings (cell VARCHAR, level VARCHAR, outcome VARCHAR, cause VARCHAR);

-- What a turn is ranked as on an axis; NULL if that is not known.
CREATE TEMP MACRO entry_name(axis, model, prompt) AS CASE
    WHEN axis <> 'prompt' AND model = 'unknown' THEN NULL
    WHEN axis <> 'model' AND prompt = 'unknown' THEN NULL
    WHEN axis = 'model' THEN model
    WHEN axis = 'prompt' THEN prompt
    ELSE model || ' x ' || prompt END;

-- Cells that the normalizer declares itself for.
CREATE TEMP VIEW supported AS
SELECT * FROM results JOIN outcomes USING (outcome) WHERE outcome <> 'unsupported';

-- Those that conform or fail: the denominators of conformance.
CREATE TEMP VIEW judged AS SELECT * FROM supported WHERE outcome <> 'unjudged';

-- Each recorded conversation once for each agent, whatever number of scenarios judge it; a cell
-- whose conversation did not run has no row here, and a log has one though nothing judges it.
CREATE TEMP VIEW held AS
SELECT * FROM results JOIN outcomes USING (outcome) JOIN conversations USING (cell)
WHERE origin IN ('recorded', 'imported')
QUALIFY row_number() OVER (PARTITION BY cassette, normalizer ORDER BY scenario) = 1;
