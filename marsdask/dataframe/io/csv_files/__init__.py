"""The beginnings and ends of lines in CSV files."""
