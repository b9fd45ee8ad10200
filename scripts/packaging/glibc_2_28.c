/* scripts/packaging/glibc_2_28.c - what objects compiled here ask of a C
   library, and glibc 2.28 has not. Linked into each library of a wheel and
   local to it. The numbers are the versions that have brought them. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* 2.32: whether only one thread runs, which spares atomic operations. The
   process of an interpreter may have others. */
char __libc_single_threaded = 0;

/* 2.33: until then in an archive beside the library, as calls of functions
   that take the version of the structure. */
#ifdef __x86_64__
enum { stat_version = 1 };
#else
enum { stat_version = 0 };
#endif
int __xstat(int, const char*, struct stat*);
int __lxstat(int, const char*, struct stat*);
int __fxstat(int, int, struct stat*);
int __fxstatat(int, int, const char*, struct stat*, int);
int stat(const char* path, struct stat* found) {
    return __xstat(stat_version, path, found);
}
int lstat(const char* path, struct stat* found) {
    return __lxstat(stat_version, path, found);
}
int fstat(int file, struct stat* found) {
    return __fxstat(stat_version, file, found);
}
int fstatat(int folder, const char* path, struct stat* found, int flags) {
    return __fxstatat(stat_version, folder, path, found, flags);
}
int fstat64(int file, struct stat64* found) {
    return __fxstat(stat_version, file, (struct stat*)found);
}

/* In every version in that archive: bound to the library that calls them, so
   that nothing of it is called once it is gone. */
extern void* __dso_handle __attribute__((visibility("hidden")));
int __cxa_atexit(void (*)(void*), void*, void*);
int __register_atfork(void (*)(void), void (*)(void), void (*)(void), void*);
int atexit(void (*function)(void)) {
    return __cxa_atexit((void (*)(void*))function, NULL, &__dso_handle);
}
int pthread_atfork(void (*before)(void), void (*parent)(void),
                   void (*child)(void)) {
    return __register_atfork(before, parent, child, &__dso_handle);
}

/* 2.30 */
pid_t gettid(void) {
    return (pid_t)syscall(SYS_gettid);
}

/* 2.33: statistics of the heap, which LLVM asks for when it is told to. */
struct statistics {
    size_t fields[10];
};
struct statistics mallinfo2(void) {
    struct statistics none;
    memset(&none, 0, sizeof none);
    return none;
}

/* 2.36: names of temporary files in LLVM. */
uint32_t arc4random(void) {
    uint32_t number = 0;
    while (getrandom(&number, sizeof number, 0) != sizeof number)
        if (errno != EINTR)
            abort();
    return number;
}

/* 2.30: a wait until a time of another clock than the condition's, which in
   libstdc++ is the realtime clock's. A clock that is set meanwhile makes the
   wait end early or late; callers look at their own clock and wait again. */
int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                           clockid_t clock, const struct timespec* until) {
    struct timespec now, end;
    int64_t nanoseconds;
    if (clock == CLOCK_REALTIME)
        return pthread_cond_timedwait(condition, mutex, until);
    clock_gettime(clock, &now);
    clock_gettime(CLOCK_REALTIME, &end);
    nanoseconds = (int64_t)end.tv_nsec + until->tv_nsec - now.tv_nsec;
    end.tv_sec += until->tv_sec - now.tv_sec + nanoseconds / 1000000000;
    nanoseconds %= 1000000000;
    if (nanoseconds < 0) {
        nanoseconds += 1000000000;
        --end.tv_sec;
    }
    end.tv_nsec = (long)nanoseconds;
    return pthread_cond_timedwait(condition, mutex, &end);
}
