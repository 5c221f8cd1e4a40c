"""Optional parts behind one-method ports, imported when they are used."""
