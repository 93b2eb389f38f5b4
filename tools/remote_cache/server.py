"""A cache for `bazel --config=remote-cache`: Debian's nginx with WebDAV, in the foreground until Ctrl-C.

Examples:
  bazel run //tools/remote_cache:server -- --folder=$HOME/bazel-cache
  bazel run //tools/remote_cache:server -- --folder=/srv/cache --address=0.0.0.0:9090
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from absl import app, flags

FLAGS = flags.FLAGS
flags.DEFINE_string("folder", None, "Where the cache is kept; made if it is not there.", required=True)
flags.DEFINE_string("address", "127.0.0.1:8080", "Address and port to listen at.")

TEMPLATE = Path(__file__).with_name("nginx.conf")


class ServerError(Exception):
    """One sentence for the person at the terminal."""


def find_nginx() -> str:
    """/usr/sbin is on root's PATH alone."""
    nginx = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")
    if nginx is None:
        raise ServerError("there is no nginx: install Debian's package nginx-light")
    return nginx


def configure(folder: Path, address: str) -> Path:
    """Makes the cache's folder and writes nginx' configuration into it."""
    if any(character in str(folder) for character in " \t\n;{}\"'$\\"):
        raise ServerError(f"--folder={folder}: nginx cannot name a folder with such characters")
    try:
        for name in ("cache", "incoming"):
            (folder / name).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ServerError(f"--folder={folder}: {error.strerror}") from error
    text = TEMPLATE.read_text().replace("{FOLDER}", str(folder)).replace("{ADDRESS}", address)
    (folder / "nginx.conf").write_text(text)
    return folder / "nginx.conf"


def start(folder: Path, address: str) -> subprocess.Popen:
    """nginx as a child in the foreground. It has begun to listen, or its error is raised."""
    config = configure(folder, address)
    command = [find_nginx(), "-e", str(folder / "error.log"), "-c", str(config)]
    check = subprocess.run([*command, "-t", "-q"], capture_output=True, text=True, check=False)
    if check.returncode != 0:
        raise ServerError(
            check.stderr.strip().splitlines()[0] if check.stderr.strip() else "nginx refuses its configuration"
        )
    # Started by root, its workers would be somebody who cannot write here.
    user = "user root;" if os.geteuid() == 0 else ""
    return subprocess.Popen([*command, "-g", f"daemon off; {user}"])


def main(argv: list[str]) -> int:
    if len(argv) > 1:
        raise app.UsageError(f"unexpected argument {argv[1]}")
    folder = Path(os.environ.get("BUILD_WORKING_DIRECTORY", "."), FLAGS.folder).absolute()
    try:
        server = start(folder, FLAGS.address)
    except ServerError as error:
        print(f"server: error: {error}", file=sys.stderr)
        return 1
    print(
        f"serving {folder}/cache: bazel build --config=remote-cache --remote_cache=http://{FLAGS.address} ...",
        flush=True,
    )
    try:
        return server.wait()
    except KeyboardInterrupt:
        server.terminate()
        return server.wait()


if __name__ == "__main__":
    app.run(main)
