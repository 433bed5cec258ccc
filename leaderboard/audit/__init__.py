"""The audit trail as people read it, and whether what is on record is what this program wrote."""
