#!/bin/sh
# Runs a target of build.sh: tests/fuzz/guided.sh TARGET SECONDS. What is worth keeping goes to target/fuzz/TARGET.
set -eu
cd "$(dirname "$0")/../.."
target="$1"
host="$(rustc -vV | sed -n 's/^host: //p')"
found="target/fuzz/$target"
mkdir -p "$found"
set -- -max_total_time="$2" -rss_limit_mb=1024 -timeout=30 -print_final_stats=1 -artifact_prefix="$found-"
case "$target" in
    xml | tables | archive) set -- "$@" -max_len=16384 ;;
    symbols) set -- "$@" -max_len=4096 ;;
    rules) set -- "$@" -max_len=2048 ;;
    dataset) set -- "$@" -max_len=1024 ;;
    *) set -- "$@" -max_len=512 ;;
esac
if [ -e "tests/fuzz/$target.dict" ]; then
    set -- "$@" -dict="tests/fuzz/$target.dict"
fi
exec "tests/fuzz/target/guided/$host/release/$target" "$@" "$found" "tests/fuzz/corpus/$target"
