SELECT normalizer, outcome, count(*)
FROM results JOIN outcomes USING (outcome)
WHERE kind <> 'log'
GROUP BY normalizer, outcome, badness
ORDER BY normalizer, badness
