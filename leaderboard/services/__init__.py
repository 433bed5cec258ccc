"""Every write: a function takes a session, the actor and plain values; the caller owns the transaction."""
