"""What comes from other memories and what goes to them: importers, exporters, an exact copy."""
