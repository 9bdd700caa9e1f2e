"""Operations that work chunk by chunk: arithmetic, columns, filters."""
