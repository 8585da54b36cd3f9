#!/usr/bin/env bash
# Generate the Python stubs, their types and the commented descriptor set from proto/.
# With --check: fail when what is committed differs from what would be generated.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-.venv/bin/python}
[ -x "$python" ] || python=python3
target=src/client/schemaxis/v1
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

PATH="$(cd "$(dirname "$(command -v "$python")")" && pwd):$PATH" "$python" -m grpc_tools.protoc \
  --proto_path=proto \
  --python_out="$out" --mypy_out="quiet:$out" \
  --grpc_python_out="$out" --mypy_grpc_out="quiet:$out" \
  --include_imports --include_source_info --descriptor_set_out="$out/schemaxis/v1/schemaxis.binpb" \
  $(find proto -name '*.proto' | LC_ALL=C sort)
# A file without a service needs no gRPC stub.
for stub in "$out"/schemaxis/v1/*_pb2_grpc.py; do
  grep -q '^class .*Stub' "$stub" || rm -f "$stub" "${stub}i"
done
touch "$out/schemaxis/v1/__init__.py"

if [ "${1:-}" = "--check" ]; then
  if ! diff -rq --exclude=__pycache__ "$out/schemaxis/v1" "$target"; then
    echo "The generated files are stale: run scripts/gen_protos.sh and commit $target." >&2
    exit 1
  fi
else
  rm -rf "$target"
  mkdir -p "$target"
  cp "$out"/schemaxis/v1/* "$target"/
fi
