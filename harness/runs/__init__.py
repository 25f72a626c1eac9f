"""Select subjects, plan cells, load their files, judge them and collect the results."""
