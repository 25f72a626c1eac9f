-- A cell fails for one cause, that of its worst finding. Violated SHOULD rules fail no cell.
WITH failures AS (
    SELECT cell, cause, 'MUST' AS level, outcome FROM judged WHERE NOT conforms
    UNION ALL
    SELECT cell, cause, level, outcome FROM findings WHERE level <> 'MUST'
)
SELECT
    failures.cause, level, arg_min(failures.outcome, badness), normalizer,
    count(DISTINCT cell) AS cells_hit,
    list_sort(list_distinct(flatten(list(quirks)))), list(DISTINCT cell ORDER BY cell)
FROM failures
JOIN results USING (cell)
JOIN outcomes ON outcomes.outcome = failures.outcome
GROUP BY failures.cause, level, normalizer
ORDER BY
    CASE level WHEN 'MUST' THEN 0 WHEN 'SHOULD' THEN 1 ELSE 2 END,
    min(badness), cells_hit DESC, failures.cause, normalizer
