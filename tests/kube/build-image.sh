#!/bin/bash
# Build the image by bin/kube-image-tool.sh with Debian's buildah, which needs no daemon, and run it:
#   build-image.sh [FOLDER]     the folder is ~/.cache/marsdask/image by default
# For root on Debian 12, with a network: its packages are unpacked into FOLDER, and nothing is
# installed. The base is a Debian with its Python in place of Docker's, which may be out of reach.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
folder=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/marsdask/image}
base=localhost/python:debian
mkdir -p "$folder/packages" "$folder/bin" "$folder/home/.config/containers"
folder=$(cd "$folder" && pwd -P)

if [ ! -x "$folder/unpacked/usr/bin/buildah" ]; then
  cd "$folder/packages"
  apt-get download -q buildah libgpgme11 libassuan0 libdevmapper1.02.1 libseccomp2 libsubid4 debootstrap
  for package in *.deb; do
    dpkg-deb -x "$package" "$folder/unpacked"
  done
  echo '{"default": [{"type": "insecureAcceptAnything"}]}' >"$folder/home/.config/containers/policy.json"
fi

# buildah starts itself anew without the variables of this process, so the loader's cache names its
# libraries, for this script and its children only.
if [ -z "${MARSDASK_APART:-}" ]; then
  libraries=("$folder/unpacked/usr/lib/"*-linux-gnu "$folder/unpacked/lib/"*-linux-gnu)
  /sbin/ldconfig -C "$folder/ld.so.cache" "${libraries[@]}"
  export MARSDASK_APART=1
  # shellcheck disable=SC2016 # the inner shell expands them
  exec unshare --mount --propagation private bash -c \
    'mount --bind "$0/ld.so.cache" /etc/ld.so.cache && exec "$1" "$0"' \
    "$folder" "$root/tests/kube/build-image.sh"
fi

cat >"$folder/bin/buildah" <<END
#!/bin/bash
exec "$folder/unpacked/usr/bin/buildah" --root "$folder/store" --runroot "$folder/run" --storage-driver vfs "\$@"
END
chmod +x "$folder/bin/buildah"
export PATH="$folder/bin:$PATH" HOME="$folder/home" BUILDAH_ISOLATION=chroot

if ! buildah inspect --type image "$base" >/dev/null 2>&1; then
  rm -rf "$folder/base"
  # shellcheck disable=SC2016 # apt-get expands it
  mirror=$(env -u HOME apt-get indextargets --format '$(REPO_URI)' 'Component: main' | head -n 1)
  DEBOOTSTRAP_DIR="$folder/unpacked/usr/share/debootstrap" "$folder/unpacked/usr/sbin/debootstrap" \
    --variant=minbase --include=python3,python3-venv,ca-certificates bookworm "$folder/base" "$mirror"
  ln -s python3 "$folder/base/usr/bin/python"
  # The authorities of this host, for its way to packages.
  cp -L /etc/ssl/certs/ca-certificates.crt "$folder/base/etc/ssl/certs/ca-certificates.crt"
  made=$(buildah from scratch)
  buildah copy -q "$made" "$folder/base" /
  buildah config --env PIP_CERT=/etc/ssl/certs/ca-certificates.crt "$made"
  buildah commit -q "$made" "$base"
  buildah rm "$made" >/dev/null
  rm -rf "$folder/base"
fi

"$root/bin/kube-image-tool.sh" -b buildah -p "$base" -t test build
made=$(buildah from --pull-never marsdask/marsdask:test)
trap 'buildah rm "$made" >/dev/null' EXIT
in_image() {
  buildah run "$made" -- "$@"
}
test "$(in_image id -u)" = 1000
test "$(in_image readlink /bin/sh)" = bash
for module in scheduler web worker supervisor; do
  in_image /bin/sh -c "python -m mars.deploy.kubernetes.$module --version"
  in_image /srv/entrypoint.sh "mars.deploy.kubernetes.$module" --version >/dev/null
done
in_image python -c "
import mars.tensor as mt
assert mt.ones((100, 10), chunk_size=10).sum().execute().fetch() == 1000"
# A command of `sh -c` gets signals itself: a worker's status is the one that KubeDL restarts, and a
# scheduler's the one that ends a job well.
in_image python -c "
import signal, subprocess
import mars.tensor as mt
from mars.session import new_session

def start(module, *options):
    line = ' '.join(['python -m mars.deploy.kubernetes.' + module, '-a 127.0.0.1', *options])
    process = subprocess.Popen(['/bin/sh', '-c', line], stdout=subprocess.PIPE, text=True)
    return process, next(line.split()[-1] for line in process.stdout if 'started at' in line)

scheduler, address = start('scheduler')
where = '-s ' + address.partition('://')[2]
(web, page), (worker, _) = start('web', where), start('worker', where, '--cpu-procs 1')
session = new_session('http://127.0.0.1:' + page.rpartition(':')[2])
assert mt.ones((100, 10), chunk_size=10).sum().execute(session=session).fetch(session=session) == 1000
session.close()
for process, status in (worker, 143), (scheduler, 0), (web, 0):
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == status, (process.args, process.returncode)
"
buildah images
