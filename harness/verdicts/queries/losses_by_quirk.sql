SELECT
    normalizer, quirk, count_if(conforms), count(*), arg_min(outcome, badness)
FROM (SELECT normalizer, outcome, conforms, badness, unnest(quirks) AS quirk FROM judged)
GROUP BY normalizer, quirk
ORDER BY normalizer, quirk
