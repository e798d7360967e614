#!/bin/sh
# Prints the mangled names of these sources, one a line, for Linux; those of blocks.mm without the underscore of macOS.
# Needs Clang 19 and a GCC that has C++20. What GCC cannot mangle yet it leaves out.
set -eu
cd "$(dirname "$0")"
objects=$(mktemp -d)
trap 'rm -r "$objects"' EXIT

for source in language expressions; do
    clang++-19 -std=c++2b -w -c "$source.cpp" -o "$objects/$source-23.o"
    clang++-19 -std=c++20 -fclang-abi-compat=17 -w -c "$source.cpp" -o "$objects/$source-17.o"
    g++ -std=c++20 -w -c "$source.cpp" -o "$objects/$source-gcc.o" 2>/dev/null || true
done
clang++-19 -x objective-c++ -fblocks -fobjc-runtime=macosx-13 -fobjc-arc -fobjc-weak -target arm64-apple-macosx13 \
    -std=c++20 -w -c blocks.mm -o "$objects/blocks.o"
clang++-19 -std=c++20 --precompile part.cppm -o "$objects/part.pcm"
clang++-19 -std=c++20 -fmodule-file=foo.bar:part="$objects/part.pcm" --precompile module.cppm -o "$objects/module.pcm"
clang++-19 -std=c++20 -c "$objects/part.pcm" -o "$objects/part.o"
clang++-19 -std=c++20 -fmodule-file=foo.bar:part="$objects/part.pcm" -c "$objects/module.pcm" -o "$objects/module.o"

for object in "$objects"/*.o; do
    llvm-nm-19 --no-demangle -P "$object"
done | cut -d' ' -f1 | sed 's/^__Z/_Z/; s/^____Z/___Z/' | grep -E '^(_Z|___Z)' | sort -u
