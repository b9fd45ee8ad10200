#!/bin/sh
# scripts/macos/compiler.sh - the compiler for macOS on arm64: Zig's compiles,
# and LLVM's linker, which knows Apple's options, links. Libraries of this
# system are left out: what they would give is looked up when the result is
# loaded. scripts/compile-macos says where Zig is (@ZIG@), and whether it is the
# compiler of C or of C++ (@NAME@).
for option; do
    case $option in
    -c | -E | -S | -M*)
        exec "@ZIG@/zig" "@NAME@" -target aarch64-macos.13.0 "$@"
        ;;
    -v | --version) exec "@ZIG@/zig" "@NAME@" "$@" ;;
    esac
done
for option; do
    shift
    case $option in
    /usr/lib/*.a | /usr/lib/*.so | -lrt | -ldl | -lm | */libzstd.dylib) ;;
    *) set -- "$@" "$option" ;;
    esac
done
exec clang-22 --target=arm64-apple-macos13.0 -fuse-ld=lld -nostdlib \
    "-L@ZIG@/lib/libc/darwin" -lSystem -Wl,-undefined,dynamic_lookup "$@"
