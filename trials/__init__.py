"""Long trials, run by `make trials`: what no test of seconds can show. Each prints its figures."""
