-- Over all cells, or by the text dialect of those that have one.
WITH split AS (
    SELECT
        cell,
        count_if(parse_errors > 0 AND parse_error_blame = 'model') AS model_errors,
        count_if(parse_errors > 0 AND parse_error_blame = 'provider') AS provider_errors,
        count_if(parse_errors > 0 AND parse_error_blame = 'normalizer') AS normalizer_errors,
        count_if(parse_errors > 0 AND parse_error_blame = 'harness') AS harness_errors,
        count_if(parse_errors > 0 AND parse_error_blame = 'request') AS request_errors,
        count_if(parse_errors > 0 AND parse_error_blame = 'model or provider') AS either_errors,
        count_if(NOT success AND blame = 'model') AS model_failures,
        count_if(NOT success AND blame = 'provider') AS provider_failures,
        count_if(NOT success AND blame = 'normalizer') AS normalizer_failures,
        count_if(NOT success AND blame = 'harness') AS harness_failures,
        count_if(NOT success AND blame = 'request') AS request_failures,
        count_if(NOT success AND blame = 'model or provider') AS either_failures
    FROM turns
    GROUP BY cell
)
SELECT
    CASE $axis WHEN 'text dialect' THEN text_dialect ELSE '' END AS part,
    normalizer AS name, count_if(conforms), count_if(outcome <> 'unjudged'), count_if(conforms),
    count_if(outcome = 'unjudged'),
    coalesce(sum(model_errors), 0)::BIGINT,
    coalesce(sum(provider_errors), 0)::BIGINT,
    coalesce(sum(normalizer_errors), 0)::BIGINT,
    coalesce(sum(harness_errors), 0)::BIGINT,
    coalesce(sum(request_errors), 0)::BIGINT,
    coalesce(sum(either_errors), 0)::BIGINT,
    coalesce(sum(model_failures), 0)::BIGINT,
    coalesce(sum(provider_failures), 0)::BIGINT,
    coalesce(sum(normalizer_failures), 0)::BIGINT,
    coalesce(sum(harness_failures), 0)::BIGINT,
    coalesce(sum(request_failures), 0)::BIGINT,
    coalesce(sum(either_failures), 0)::BIGINT,
    count(DISTINCT CASE WHEN NOT inherited THEN nullif(cause, '') END)
FROM supported LEFT JOIN split USING (cell)
WHERE kind = $kind AND ($axis <> 'text dialect' OR text_dialect <> '')
GROUP BY part, name
HAVING count_if(outcome <> 'unjudged') > 0
ORDER BY part, name
