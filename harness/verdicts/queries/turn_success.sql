-- A turn counts for the best of normalizers only where that normalizer did right by the
-- bytes: one that loses the broken call of a turn must not turn it into a success.
WITH best AS (
    SELECT cassette, interaction, digest, bool_or(success AND conforms) AS best_success
    FROM ranked
    GROUP BY cassette, interaction, digest
)
SELECT
    entry_name($axis, model, prompt) AS name,
    count_if(success), count(*), count_if(success OR best_success),
    count_if(list_contains(ambiguous, 'calls')),
    count_if(parse_errors > 0 AND parse_error_blame = 'model'),
    count_if(parse_errors > 0 AND parse_error_blame = 'provider'),
    count_if(parse_errors > 0 AND parse_error_blame = 'normalizer'),
    count_if(parse_errors > 0 AND parse_error_blame = 'harness'),
    count_if(parse_errors > 0 AND parse_error_blame = 'request'),
    count_if(parse_errors > 0 AND parse_error_blame = 'model or provider'),
    count_if(NOT success AND blame = 'model'),
    count_if(NOT success AND blame = 'provider'),
    count_if(NOT success AND blame = 'normalizer'),
    count_if(NOT success AND blame = 'harness'),
    count_if(NOT success AND blame = 'request'),
    count_if(NOT success AND blame = 'model or provider')
FROM ranked JOIN best USING (cassette, interaction, digest)
WHERE normalizer = $lead AND name IS NOT NULL
GROUP BY name
ORDER BY name
