"""Reading: what one message says, worked out once, before any lock is taken."""
