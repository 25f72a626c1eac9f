-- Why measured turns failed, and the first cells. A turn of several cells is in one of them.
SELECT blame, why, count(*) AS failed_turns, list(DISTINCT cell ORDER BY cell)[:5] AS cells
FROM measured
WHERE normalizer = $lead AND NOT success
GROUP BY blame, why
ORDER BY failed_turns DESC, blame, why
