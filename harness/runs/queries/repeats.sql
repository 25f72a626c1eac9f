-- How often each request was asked again for each name, and how often that went well. A turn
-- that does not say what was asked is a request of its own.
WITH clusters AS (
    SELECT
        CASE $axis WHEN 'model' THEN model WHEN 'prompt' THEN prompt
        ELSE model || ' x ' || prompt END AS name,
        count_if(success) AS k, count(*) AS n
    FROM measured
    WHERE normalizer = $lead AND (model <> 'unknown' OR $axis = 'prompt')
    GROUP BY name, CASE asked WHEN '' THEN cell || ' ' || interaction ELSE asked END
)
SELECT name, k, n, count(*) FROM clusters GROUP BY name, k, n ORDER BY name, k, n
