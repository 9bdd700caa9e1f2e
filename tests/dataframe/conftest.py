"""Every test of frames runs with the chunks as given and with merged ones."""

from tests import both_grids

_session = both_grids.session
_coalesce = both_grids.coalesce
