"""Operations on the order of rows: sort, number, select by position, scan, shift."""
