"""Operations on rows of equal keys: group-by, merge, distinct rows."""
