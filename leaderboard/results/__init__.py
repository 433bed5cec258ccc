"""One run, one query, one ranked list, two runs beside each other."""
