#!/bin/sh
# The interpreter of every Python target: Python 3.11 with the packages of requirements.txt (@LOCKS@).
# It names no folder, so these bytes are the same in every clone, and so are the keys of cached actions; the environment
# is the link beside the file itself.
set -eu
environment=$(dirname "$(readlink -f "$0")")/environment
if [ ! -x "$environment/bin/python" ]; then
  echo "The Python environment $(readlink "$environment" || true) is gone: 'bazel sync --only=pypi' installs it again." >&2
  exit 127
fi
# Scripts see only what Bazel gives them, leave nothing behind and hash strings alike in every run.
export PYTHONSAFEPATH=1 PYTHONNOUSERSITE=1 PYTHONDONTWRITEBYTECODE=1 PYTHONHASHSEED=0
unset PYTHONHOME
exec "$environment/bin/python" "$@"
