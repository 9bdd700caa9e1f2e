#!/bin/sh
# Run a module, with a name of Mars's or of marsdask's: entrypoint.sh MODULE ARGS...
# `exec`: signals reach the module, which moves its results before it ends.
exec python -m "$@"
