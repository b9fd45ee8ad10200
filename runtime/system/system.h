// runtime/system/system.h - what differs between operating systems: each has a
// folder of its own that defines it all, in files of the same names.
#pragma once

#include <csignal>
#include <cstddef>
#include <ctime>
#include <span>
#include <string>
#include <sys/stat.h>

namespace tilefold::system {

// processors.cpp

/// How many threads run at once: processors that this process may use, 1 at
/// least.
int usable_processors();
/// What the system says of the processor's make; empty where it says nothing.
std::string processor_name();
/// The number of the processor that this thread is on; negative where the
/// system does not tell.
int current_processor();
/// Moves this thread to another processor, if it is on this one.
void leave_processor(int processor);

// pages.cpp

/// Memory that this process has mapped for machine code.
struct CodePages {
    std::byte* pages = nullptr; ///< all of it
    std::size_t mapped = 0;
    std::byte* code = nullptr; ///< whole pages of them
};

/// Brings code into memory that may run, where pages that were written may not
/// become executable: at pages.code, or in other pages, which take their place.
/// False, with errno, where that is refused, too.
bool execute_otherwise(CodePages& pages, std::span<const std::byte> code);
/// Asks for pages of 2 MB for memory that begins and ends with such a page,
/// where there is a choice.
void ask_for_huge_pages(void* memory, std::size_t bytes);

// process.cpp

/// The path of the library or program whose code is at this address.
std::string path_of_code(const void* address);
/// An environment variable; null where it is unset, and in a process with
/// rights that its user has not.
const char* environment_variable(const char* name);
/// Takes signals that wait for this thread, which blocks them.
void discard_pending(const sigset_t& blocked);

// files.cpp

/// When a file's contents were last written.
std::timespec modified(const struct stat& status);

} // namespace tilefold::system
