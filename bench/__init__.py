"""Benchmarks: our figures as ratios against named peers, measured in the same run on the same machine.

python -m bench [--folder FOLDER] [--repeat N] [--queries N] [--depth N]
"""
