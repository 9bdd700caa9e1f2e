"""Where lines of CSV files begin and end."""
