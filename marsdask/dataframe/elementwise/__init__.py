"""Operations on rows that stay where they are: arithmetic, columns, filters."""
