-- The same turns as each normalizer read them.
SELECT model, prompt, normalizer, count_if(success), count(*)
FROM ranked
WHERE model <> 'unknown' AND normalizer IN (SELECT normalizer FROM results WHERE kind = 'turns')
GROUP BY model, prompt, normalizer
ORDER BY model, prompt, normalizer
