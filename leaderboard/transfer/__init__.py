"""Whole campaigns as files: a manifest beside topics, judgments and runs, which is read, drafted and written.

tree       the files of a folder or an archive, by their paths
toml       how a manifest is written
columns    which column of which table a manifest holds, and which are left out, with the reason
manifest   what a manifest says
drafting   a manifest of a tree that has none
importing  a manifest's campaign through the services
exporting  a campaign of this installation as a tree with its manifest
"""
