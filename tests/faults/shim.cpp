// tests/faults/shim.cpp - stands before the C library, preloaded, and lets
// calls fail that a test has chosen by their number.
//
// 1. Nothing fails until faults_arm(), which children of a fork inherit.
// 2. Calls are counted by kind, on all threads, and those from `first` to
//    `first + count - 1` fail as the system would let them: by errno, by a
//    null pointer, or, where the error is `kills`, by the end of the process.
// 3. The dynamic linker's own calls of malloc never fail: where one for a
//    thread's variables does, it ends the process, which no library can help.
// 4. Whoever dies by a signal says first where it was, as libraries and
//    offsets: addr2line knows the functions.
// 5. malloc is glibc's by its other name: to look it up would allocate.

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

enum Kind { memory, threads, files, maps, kinds };
constexpr int kills = -1;

struct Count {
    std::atomic<std::int64_t> calls = 0;
    std::atomic<std::int64_t> failed = 0;
    std::int64_t first = 0;
    std::int64_t count = 0;
    int error = 0;
    std::atomic<bool> is_armed = false;
};

Count counts[kinds];

/// Whether this call fails; then errno is set.
bool fails(Kind kind) {
    Count& of = counts[kind];
    if (!of.is_armed.load(std::memory_order_acquire))
        return false;
    const std::int64_t call = of.calls++;
    if (call < of.first || call - of.first >= of.count)
        return false;
    if (of.error == kills)
        kill(getpid(), SIGKILL);
    ++of.failed;
    errno = of.error;
    return true;
}

/// Where the dynamic linker's code lies.
struct Linker {
    std::uintptr_t begin = 0, end = 0;
};
Linker linker;

int find_linker(dl_phdr_info* library, std::size_t, void*) {
    if (!std::strstr(library->dlpi_name, "/ld-linux"))
        return 0;
    for (int k = 0; k < library->dlpi_phnum; ++k) {
        const auto& part = library->dlpi_phdr[k];
        if (part.p_type == PT_LOAD && (part.p_flags & PF_X)) {
            linker.begin = library->dlpi_addr + part.p_vaddr;
            linker.end = linker.begin + part.p_memsz;
        }
    }
    return 1;
}

bool memory_fails(const void* caller) {
    const auto at = reinterpret_cast<std::uintptr_t>(caller);
    return (at < linker.begin || at >= linker.end) && fails(memory);
}

void tell_where(int signal) {
    void* places[64];
    backtrace_symbols_fd(places, backtrace(places, 64), STDERR_FILENO);
    std::signal(signal, SIG_DFL);
    raise(signal);
}

__attribute__((constructor)) void begin() {
    dl_iterate_phdr(find_linker, nullptr);
    void* place = nullptr;
    backtrace(&place, 1); // it loads a library the first time
    for (int signal : {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV})
        std::signal(signal, tell_where);
}

/// The next function of that name.
template <class Function> Function* next(const char* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

} // namespace

extern "C" {

/// `kind` as above, `error` an errno or -1.
void faults_arm(int kind, std::int64_t first, std::int64_t count, int error) {
    Count& of = counts[kind];
    of.calls = of.failed = 0;
    of.first = first;
    of.count = count;
    of.error = error;
    of.is_armed.store(true, std::memory_order_release);
}

/// Afterwards nothing of the kind fails; how many did.
std::int64_t faults_disarm(int kind) {
    counts[kind].is_armed = false;
    return counts[kind].failed;
}

/// Returns how many calls of the kind there were since it was armed.
std::int64_t faults_calls(int kind) {
    return counts[kind].calls;
}

// ---- memory ----------------------------------------------------------------

void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t number, std::size_t size);
void* __libc_realloc(void* old, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);

void* malloc(std::size_t size) {
    return memory_fails(__builtin_return_address(0)) ? nullptr
                                                     : __libc_malloc(size);
}

void* calloc(std::size_t number, std::size_t size) {
    return memory_fails(__builtin_return_address(0))
               ? nullptr
               : __libc_calloc(number, size);
}

void* realloc(void* old, std::size_t size) {
    return memory_fails(__builtin_return_address(0))
               ? nullptr
               : __libc_realloc(old, size);
}

void* memalign(std::size_t alignment, std::size_t size) {
    return memory_fails(__builtin_return_address(0))
               ? nullptr
               : __libc_memalign(alignment, size);
}

void* aligned_alloc(std::size_t alignment, std::size_t size) {
    return memalign(alignment, size);
}

int posix_memalign(void** out, std::size_t alignment, std::size_t size) {
    void* made = memalign(alignment, size);
    if (!made)
        return ENOMEM;
    *out = made;
    return 0;
}

// ---- threads ---------------------------------------------------------------

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                   void* (*start)(void*), void* argument) {
    static auto* const real = next<decltype(pthread_create)>("pthread_create");
    if (fails(threads))
        return errno;
    return real(thread, attributes, start, argument);
}

// ---- files -----------------------------------------------------------------

int open(const char* path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    const auto mode = mode_t(va_arg(rest, unsigned));
    va_end(rest);
    static auto* const real = next<decltype(open)>("open");
    return fails(files) ? -1 : real(path, flags, mode);
}

int openat(int folder, const char* path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    const auto mode = mode_t(va_arg(rest, unsigned));
    va_end(rest);
    static auto* const real = next<decltype(openat)>("openat");
    return fails(files) ? -1 : real(folder, path, flags, mode);
}

#define FILE_CALL(Result, name, failure, parameters, arguments)                \
    Result name parameters {                                                   \
        static auto* const real = next<Result parameters>(#name);              \
        return fails(files) ? failure : real arguments;                        \
    }

FILE_CALL(ssize_t, read, -1, (int file, void* out, size_t size),
          (file, out, size))
FILE_CALL(ssize_t, write, -1, (int file, const void* bytes, size_t size),
          (file, bytes, size))
FILE_CALL(int, fsync, -1, (int file), (file))
FILE_CALL(int, mkdir, -1, (const char* path, mode_t mode), (path, mode))
FILE_CALL(int, fstat, -1, (int file, struct stat* out), (file, out))
FILE_CALL(int, fstatat, -1,
          (int folder, const char* path, struct stat* out, int flags),
          (folder, path, out, flags))
FILE_CALL(int, renameat, -1,
          (int from, const char* old, int to, const char* path),
          (from, old, to, path))
FILE_CALL(int, unlinkat, -1, (int folder, const char* path, int flags),
          (folder, path, flags))
FILE_CALL(int, futimens, -1, (int file, const timespec times[2]), (file, times))
FILE_CALL(void*, fdopendir, nullptr, (int file), (file))

#undef FILE_CALL

// ---- maps ------------------------------------------------------------------

void* mmap(void* where, std::size_t size, int protection, int flags, int file,
           off_t offset) noexcept {
    static auto* const real = next<decltype(mmap)>("mmap");
    return fails(maps) ? MAP_FAILED
                       : real(where, size, protection, flags, file, offset);
}

int mprotect(void* where, std::size_t size, int protection) noexcept {
    static auto* const real = next<decltype(mprotect)>("mprotect");
    return fails(maps) ? -1 : real(where, size, protection);
}

} // extern "C"
