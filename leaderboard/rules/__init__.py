"""The rules that decide a figure, a rank, a phase, a state or a right. Pure: no database, no site, no files."""
