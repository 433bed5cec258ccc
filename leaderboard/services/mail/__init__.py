"""Mails: put down by whatever they tell of, in its transaction, and sent later; no request waits for a mail server."""
