# tests/tools/test_packaging.py - what wheels are made and tested with:
# stand-ins for functions of a newer glibc, the count of tests, their files.
from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGING = ROOT / "scripts/packaging"
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


LINUX = {
    "CMAKE_SYSTEM_NAME": "Linux",
    "CMAKE_SYSTEM_PROCESSOR": "x86_64",
    "CMAKE_SIZEOF_VOID_P": "8",
    "TILEFOLD_LIBC": "glibc",
}


def built_for(**machine):
    """What is said of a machine, and CMake's status."""
    words = [f"-D{name}={value}" for name, value in (LINUX | machine).items()]
    script = ROOT / "runtime/cpu/platforms.cmake"
    done = subprocess.run(
        ["cmake", *words, "-P", script], capture_output=True, text=True
    )
    return done.returncode, " ".join(done.stderr.split())


@pytest.mark.parametrize(
    "machine",
    [
        {},
        {"CMAKE_SYSTEM_PROCESSOR": "aarch64"},
        {
            "CMAKE_SYSTEM_NAME": "Darwin",
            "CMAKE_SYSTEM_PROCESSOR": "arm64",
            "TILEFOLD_LIBC": "",
        },
    ],
)
def test_machines_that_will_do(machine):
    assert built_for(**machine) == (0, "")


@pytest.mark.parametrize(
    ("machine", "sentence"),
    [
        ({"CMAKE_SYSTEM_PROCESSOR": "riscv64"}, "not of 'riscv64'"),
        ({"CMAKE_SYSTEM_PROCESSOR": "i686"}, "not of 'i686'"),
        ({"CMAKE_SIZEOF_VOID_P": "4"}, "a Python, of 64 bits"),
        ({"TILEFOLD_LIBC": ""}, "Debian, Ubuntu or Fedora"),
        ({"CMAKE_SYSTEM_NAME": "Darwin"}, "a processor of Intel"),
        ({"CMAKE_SYSTEM_NAME": "Windows"}, "its subsystem for Linux"),
    ],
)
def test_other_machines_are_refused_with_a_sentence(machine, sentence):
    status, said = built_for(**machine)
    assert status == 1
    assert sentence in said


def test_the_count_of_tests_is_read():
    log = "F.\n1 failed, 2575 passed, 3 skipped, 12 warnings in 9.99s\n"
    counts = check_tests.counts(log)
    assert counts["failed"] == 1
    assert counts["passed"] == 2575
    assert counts["skipped"] == 3


def test_the_tests_of_a_wheel_read_no_other_files(tmp_path):
    """They are collected where nothing else of the checkout is."""
    listed = 'source "$0"; git ls-files -- "${test_files[@]}"'
    files = subprocess.run(
        ["bash", "-c", listed, PACKAGING / "steps.sh"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.splitlines()
    for file in files:
        copy = tmp_path / file
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, copy)
    collect = "pytest --collect-only -q -m wheel -p no:cacheprovider"
    done = subprocess.run(
        [sys.executable, "-m", *collect.split(), "tests/python"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-3000:]
