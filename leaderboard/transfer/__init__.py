"""Whole campaigns as files: a manifest beside topics, judgments and runs, which is read, drafted and written.

manifest   what a manifest says, which columns it holds, and the files of a folder or an archive
drafting   a manifest of files that have none
importing  a manifest's campaign through the services
exporting  a campaign of this installation as files with its manifest
organise   the same for the site's pages and its API
"""
