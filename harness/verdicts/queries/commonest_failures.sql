SELECT
    entry_name($axis, model, prompt) AS name,
    why, count(*) AS failed_turns, min(cell)
FROM ranked
WHERE normalizer = $lead AND NOT success AND name IS NOT NULL
GROUP BY name, why
QUALIFY row_number() OVER (PARTITION BY name ORDER BY failed_turns DESC, why) = 1
ORDER BY name
