"""``import mars`` means marsdask in this image, and so does ``python -m mars``.

Python imports this module at its start, by ``mars_alias.pth``. It loads nothing until somebody asks
for Mars, which an installed pymars would answer first.
"""

from __future__ import annotations

import sys
from typing import Any


class LateFinder:
    """Installs the alias of marsdask at the first import of Mars."""

    @classmethod
    def find_spec(cls, name: str, path: Any = None, target: Any = None) -> Any:
        """Return the spec that the alias finds."""
        if name.partition(".")[0] != "mars":
            return None
        sys.meta_path.remove(cls)
        from marsdask.compat import install

        install()
        return sys.meta_path[0].find_spec(name, path, target)


sys.meta_path.append(LateFinder)
