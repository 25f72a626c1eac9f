-- How often each request was asked again for each name, and how often that went well or, for
-- $metric 'parse_error', gave a parse_error. A turn that does not say what was asked is a
-- request of its own.
WITH clusters AS (
    SELECT
        entry_name($axis, model, prompt) AS name,
        count_if(CASE $metric WHEN 'success' THEN success ELSE parse_errors > 0 END) AS k,
        count(*) AS n
    FROM ranked
    WHERE normalizer = $lead AND name IS NOT NULL
    GROUP BY name, CASE asked WHEN '' THEN cell || ' ' || interaction ELSE asked END
)
SELECT name, k, n, count(*) FROM clusters GROUP BY name, k, n ORDER BY name, k, n
