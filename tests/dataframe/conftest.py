"""Every test of frames runs with the chunks as given and with merged ones."""

from tests import grid_pairs

_session = grid_pairs.session
_coalesce = grid_pairs.coalesce
