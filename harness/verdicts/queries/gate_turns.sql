WITH rows AS (
    SELECT * FROM ranked WHERE $measured
    UNION ALL BY NAME
    SELECT supported.*, turns.* EXCLUDE (cell)
    FROM supported JOIN turns USING (cell)
    WHERE NOT $measured
), clusters AS (
    SELECT
        model, {selected} AS wanted, count(*) AS n,
        count_if(CASE $metric
            WHEN 'turn_success' THEN success OR ($blame <> '' AND blame <> $blame)
            WHEN 'parse_error_rate'
                THEN parse_errors > 0 AND ($blame = '' OR parse_error_blame = $blame)
            ELSE len(ambiguous) > 0 END) AS k
    FROM rows
    WHERE {not_excused} AND ($lead = '' OR normalizer = $lead)
    GROUP BY model, wanted, CASE asked WHEN '' THEN cell || ' ' || interaction ELSE asked END
)
SELECT model, wanted, k, n, count(*)
FROM clusters
GROUP BY model, wanted, k, n
ORDER BY model, wanted, k, n
