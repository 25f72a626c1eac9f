WITH failures AS (
    SELECT DISTINCT cell, rule, level, outcome FROM findings
    UNION ALL
    SELECT cell, '', 'MUST', outcome FROM judged
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
