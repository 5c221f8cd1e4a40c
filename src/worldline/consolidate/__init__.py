"""Sleep: passes over what was learned, which only ever add understanding."""
