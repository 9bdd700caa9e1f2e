"""The files that frames are read from: their stamps, and what footers tell of them."""
