-- Only conversations whose replies a real server gave.
SELECT
    model, prompt, normalizer, count_if(success), count(*),
    sum(turns)::BIGINT, sum(broken_turns)::BIGINT, sum(parse_error_turns)::BIGINT,
    sum(recovered)::BIGINT, sum(retries)::BIGINT,
    sum(tool_use)::BIGINT, sum(json_fallback)::BIGINT,
    sum(compared)::BIGINT, sum(as_recorded)::BIGINT,
    count_if(NOT success AND blame = 'model'),
    count_if(NOT success AND blame = 'provider'),
    count_if(NOT success AND blame = 'normalizer'),
    count_if(NOT success AND blame = 'harness'),
    count_if(NOT success AND blame = 'request'),
    count_if(NOT success AND blame = 'model or provider')
FROM held
WHERE model <> 'unknown'
GROUP BY model, prompt, normalizer
ORDER BY model, prompt, normalizer
