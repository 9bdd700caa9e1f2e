"""Which arguments methods take."""
