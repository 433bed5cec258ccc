"""Mails: put down in a transaction, sent later."""
