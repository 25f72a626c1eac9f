-- Each recorded turn once for each normalizer, whatever number of scenarios judge its cassette.
-- Cassettes of two folders may share an id, so the body's digest distinguishes turns too. A
-- scenario knows more about blame than the oracle. A table, because most questions ask for it and
-- to find these turns takes longer than the rest of their answers.
CREATE TEMP TABLE measured AS
SELECT supported.*, turns.* EXCLUDE (cell)
FROM supported JOIN turns USING (cell)
WHERE origin IN ('recorded', 'imported')
QUALIFY row_number() OVER (
    PARTITION BY cassette, interaction, digest, normalizer
    ORDER BY starts_with(scenario, 'cassette:'), scenario
) = 1;

-- No ranking counts a turn that failed because of its request, or that the harness cannot read.
CREATE TEMP VIEW ranked AS
SELECT * FROM measured WHERE success OR blame NOT IN ('request', 'harness');
