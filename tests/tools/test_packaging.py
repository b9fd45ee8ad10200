# tests/tools/test_packaging.py - what stands in for functions of a newer glibc
# in wheels behaves as they do.
from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PACKAGING = Path(__file__).parents[2] / "scripts/packaging"
sys.path.insert(0, str(PACKAGING))

import check_tests  # noqa: E402

PROGRAM = r"""
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
int shim_clockwait(pthread_cond_t*, pthread_mutex_t*, clockid_t,
                   const struct timespec*);
int shim_stat(const char*, struct stat*);
int shim_lstat(const char*, struct stat*);
int shim_fstat(int, struct stat*);
int shim_fstatat(int, const char*, struct stat*, int);
int shim_gettid(void);
uint32_t shim_random(void);

static void waits(clockid_t clock, long milliseconds) {
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    struct timespec start, until, end;
    pthread_mutex_lock(&mutex);
    clock_gettime(clock, &start);
    until = start;
    until.tv_nsec += milliseconds * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    assert(shim_clockwait(&condition, &mutex, clock, &until) == ETIMEDOUT);
    clock_gettime(clock, &end);
    double waited = (end.tv_sec - start.tv_sec) * 1e3 +
                    (end.tv_nsec - start.tv_nsec) / 1e6;
    assert(waited > milliseconds - 5 && waited < milliseconds + 5000);
}

int main(int count, char** words) {
    struct stat right, found;
    (void)count;
    waits(CLOCK_MONOTONIC, 60);
    waits(CLOCK_REALTIME, 60);
    waits(CLOCK_MONOTONIC, 990);
    assert(!stat(words[0], &right));
    assert(!shim_stat(words[0], &found) && found.st_ino == right.st_ino);
    assert(found.st_size == right.st_size && found.st_mode == right.st_mode);
    assert(!shim_lstat(words[0], &found) && found.st_ino == right.st_ino);
    assert(!shim_fstatat(AT_FDCWD, words[0], &found, 0));
    assert(found.st_ino == right.st_ino);
    assert(!shim_fstat(open(words[0], O_RDONLY), &found));
    assert(found.st_ino == right.st_ino);
    assert(shim_stat("/none/such", &found) == -1 && errno == ENOENT);
    assert(shim_gettid() == getpid());
    assert(shim_random() != shim_random() || shim_random() != shim_random());
    return 0;
}
"""
NAMES = {
    "arc4random": "shim_random",
    "fstat": "shim_fstat",
    "fstatat": "shim_fstatat",
    "gettid": "shim_gettid",
    "lstat": "shim_lstat",
    "pthread_cond_clockwait": "shim_clockwait",
    "stat": "shim_stat",
}


def run(*words: str | Path) -> None:
    subprocess.run([str(word) for word in words], check=True)


def test_functions_for_glibc_2_28(tmp_path):
    shims, program = tmp_path / "shims.o", tmp_path / "program"
    run("gcc", "-O2", "-c", PACKAGING / "glibc_2_28.c", "-o", shims)
    renamed = [
        word
        for name, other in NAMES.items()
        for word in ("--redefine-sym", f"{name}={other}")
    ]
    run("objcopy", *renamed, shims)
    source = tmp_path / "program.c"
    source.write_text(PROGRAM)
    run("gcc", "-O2", "-Wall", "-Werror", source, shims, "-o", program)
    run(program)


def test_the_count_of_tests_is_read():
    log = "F.\n1 failed, 2575 passed, 3 skipped, 12 warnings in 9.99s\n"
    counts = check_tests.counts(log)
    assert counts["failed"] == 1
    assert counts["passed"] == 2575
    assert counts["skipped"] == 3
