#!/bin/sh
# Build etcd and kube-apiserver of Debian 12 into a folder, for "make kube":
#   build-apiserver.sh [FOLDER]     the folder is ~/.cache/marsdask/kube by default
# Nothing is installed, and no root is needed; apt-get, dpkg-dev and make are. It takes about six
# minutes of one core and 1.3 GB below FOLDER/build, which is removed. What is there is kept.
set -eu

# Make talks of its folder in a recipe; the target of a make that calls this is not one of this make.
unset MAKEFLAGS MFLAGS MAKELEVEL
folder=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/marsdask/kube}
if [ -x "$folder/kube-apiserver" ] && [ -x "$folder/etcd" ]; then
    echo "$folder"
    exit 0
fi
for command in apt-get dpkg-source make; do
    command -v "$command" >/dev/null || {
        echo "build-apiserver.sh needs $command, of Debian" >&2
        exit 1
    }
done

mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
build=$folder/build
rm -rf "$build"
mkdir -p "$build/lists/partial" "$build/cache/archives/partial" "$build/root"
cd "$build"

# The package lists of this build only: sources too, from the mirror that the machine uses.
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Component: main' | head -n 1)
key=/usr/share/keyrings/debian-archive-keyring.gpg
for kind in deb deb-src; do
    echo "$kind [signed-by=$key] ${KUBE_MIRROR:-$mirror} bookworm main"
done >sources.list
cat >apt.conf <<END
Dir::Etc::SourceList "$build/sources.list";
Dir::Etc::SourceParts "/dev/null";
Dir::State::Lists "$build/lists";
Dir::Cache "$build/cache";
APT::Sandbox::User "root";
END
export APT_CONFIG="$build/apt.conf"
apt-get update -q
apt-get source -q kubernetes
apt-get download -q etcd-server golang-1.19-go golang-1.19-src rsync libpopt0 libxxhash0 \
    golang-github-modern-go-reflect2-dev
for package in *.deb; do
    dpkg-deb -x "$package" root
done

tree=$(echo "$build"/kubernetes-*/)
cd "$tree"
# reflect2 1.0.1 ends the server at the first custom resource with Go 1.18 or later.
reflect2=vendor/github.com/modern-go/reflect2
cp "$build/root/usr/share/gocode/src/github.com/modern-go/reflect2"/* "$reflect2"
rm -f "$reflect2/go_above_17.go" "$reflect2/go_below_17.go" "$reflect2/go_below_19.go"

# A low priority, but at most nice 15 in all, counting this script's own.
niceness=$(($(nice) < 15 ? 15 - $(nice) : 0))
GOROOT=$build/root/usr/lib/go-1.19
LD_LIBRARY_PATH=$(echo "$build"/root/usr/lib/*-linux-gnu)
PATH=$GOROOT/bin:$build/root/usr/bin:$PATH
export GOROOT LD_LIBRARY_PATH PATH
version=$(dpkg-parsechangelog -S Version | sed 's/.*really//; s/-.*//')
# Without git the build knows no version of its own.
cat >"$build/version" <<END
KUBE_GIT_COMMIT=debian
KUBE_GIT_TREE_STATE=archive
KUBE_GIT_VERSION=v$version
KUBE_GIT_MAJOR=$(echo "$version" | cut -d. -f1)
KUBE_GIT_MINOR=$(echo "$version" | cut -d. -f2)
END
KUBE_GIT_VERSION_FILE=$build/version GOPATH=$build/go GOCACHE=$build/gocache GOPROXY=off GO111MODULE=auto \
    CGO_ENABLED=0 GOFLAGS=-p=1 GOMAXPROCS=${GOMAXPROCS:-1} \
    nice -n "$niceness" make WHAT=cmd/kube-apiserver GOLDFLAGS="-s -w" KUBE_VERBOSE=1

cp "$build/root/usr/bin/etcd" "$folder/etcd"
cp _output/bin/kube-apiserver "$folder/kube-apiserver"
cd "$folder"
chmod -R u+w "$build" # Go's cache of modules has no write bits
rm -rf "$build"
echo "$folder"
