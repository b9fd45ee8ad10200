// formulas/static_objects.cpp - part of each shared library: its static objects
// are never destroyed.
//
// A process may end while a thread is at work, be it a compile that nobody
// waits for any more or a call on a daemon thread of Python's. Destructors that
// run at exit would take from it what it reads: LLVM's options and tables, and
// our own. Nothing of them needs to be destroyed; the system takes it all.
//
// Compilers register such destructors by a call of __cxa_atexit(). This one is
// local to the library, and is found before that of the C library.

extern "C" __attribute__((visibility("hidden"))) int
// NOLINTNEXTLINE(bugprone-reserved-identifier)
__cxa_atexit(void (*)(void*), void*, void*) {
    return 0;
}
