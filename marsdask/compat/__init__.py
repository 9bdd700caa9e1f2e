"""Programs that were written for Mars run unchanged: ``import mars`` can mean marsdask here.

    python -m marsdask.compat program.py

What NumPy, pandas and scikit-learn have given up since is in modules of the names of Mars's.
"""

from .alias import MarsInstalled, install, is_installed, uninstall

__all__ = ["MarsInstalled", "install", "is_installed", "uninstall"]
