"""Pure decisions: values in, values out, no store and no clock."""
