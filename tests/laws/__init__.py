"""Laws: properties that hold for every history, found by hypothesis."""
