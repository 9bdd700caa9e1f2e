#!/bin/bash
# Build and push the image of marsdask, with whichever of docker, podman, buildah and nerdctl is here.
set -euo pipefail

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)"

usage() {
  cat <<TEXT
Usage: $0 [options] (build | push)

  build    build the image; without -t it is also tagged "latest"
  push     push it to the registry of -r

Options:
  -r REPO      registry, for instance registry.example.com
  -o ORG       organization (default: marsdask)
  -t TAG       tag (default: v and the version of this repository)
  -b BUILDER   docker, podman, buildah or nerdctl (default: the first of them in PATH)
  -p IMAGE     Python's image to build on, best by its digest: python@sha256:...
  -h, --help   show this text
TEXT
}

fail() {
  echo "$0: error: $1" >&2
  usage >&2
  exit 1
}

image_refs() {
  local name="${ORG:-marsdask}/marsdask"
  if [[ -n "${REPO:-}" ]]; then
    name="$REPO/$name"
  fi
  if [[ -n "${TAG:-}" ]]; then
    echo "$name:$TAG"
  else
    echo "$name:v$(sed -n 's/^version = "\(.*\)"$/\1/p' "$ROOT/pyproject.toml" | head -n 1)"
    echo "$name:latest"
  fi
}

builder() {
  local known=(docker podman buildah nerdctl) one
  if [[ -n "${BUILDER:-}" ]]; then
    [[ " ${known[*]} " == *" $BUILDER "* ]] || fail "invalid -b: $BUILDER; choose from ${known[*]}"
    known=("$BUILDER")
  fi
  for one in "${known[@]}"; do
    if command -v "$one" >/dev/null; then
      echo "$one"
      return
    fi
  done
  fail "found none of ${known[*]} in PATH"
}

build() {
  local tool ref words=()
  tool="$(builder)"
  for ref in $(image_refs); do
    words+=(-t "$ref")
  done
  if [[ -n "${PYTHON_IMAGE:-}" ]]; then
    words+=(--build-arg "PYTHON_IMAGE=$PYTHON_IMAGE")
  fi
  "$tool" build -f "$ROOT/docker/Dockerfile" "${words[@]}" "$ROOT"
}

push() {
  local tool ref
  [[ -n "${REPO:-}" ]] || fail "push needs -r"
  tool="$(builder)"
  for ref in $(image_refs); do
    "$tool" push "$ref"
  done
}

REPO="" ORG="" TAG="" BUILDER="" PYTHON_IMAGE=""
if [[ " $* " == *" --help "* ]]; then
  usage
  exit 0
fi
while getopts ":r:o:t:b:p:h" option; do
  case "$option" in
    r) REPO="$OPTARG" ;;
    o) ORG="$OPTARG" ;;
    t) TAG="$OPTARG" ;;
    b) BUILDER="$OPTARG" ;;
    p) PYTHON_IMAGE="$OPTARG" ;;
    h) usage; exit 0 ;;
    :) fail "-$OPTARG needs a value" ;;
    *) fail "unknown option: -$OPTARG" ;;
  esac
done
shift $((OPTIND - 1))
[[ $# -eq 1 ]] || fail "give build or push"
case "$1" in
  build) build ;;
  push) push ;;
  *) fail "unknown command: $1; give build or push" ;;
esac
