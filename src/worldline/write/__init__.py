"""From what somebody says to a changeset: each module is one verb over an open transaction."""
