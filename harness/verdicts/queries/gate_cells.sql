-- $metric is `conformance` or an outcome; a failure of another's blame is none. Unjudged cells
-- count for `unjudged` only.
SELECT '', TRUE, counted::INTEGER, 1, count(*)
FROM (
    SELECT CASE $metric
        WHEN 'conformance' THEN conforms OR ($blame <> '' AND cell_blame <> $blame)
        ELSE outcome = $metric AND ($blame = '' OR cell_blame = $blame) END AS counted
    FROM supported
    WHERE {selected} AND {not_excused} AND ($metric = 'unjudged' OR outcome <> 'unjudged')
)
GROUP BY counted
ORDER BY counted
