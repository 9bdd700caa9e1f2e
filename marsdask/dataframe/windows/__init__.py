"""Values of rows from the rows before, behind or around them: windows, fills, bins of times."""
