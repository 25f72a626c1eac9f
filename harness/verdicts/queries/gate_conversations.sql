-- Of `recovery`, the trials are broken turns; of the others, conversations.
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
    WHERE {selected} AND {not_excused}
)
SELECT '', TRUE, k, n, count(*) FROM counted WHERE n > 0 GROUP BY k, n ORDER BY k, n
