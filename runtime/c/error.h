// runtime/c/error.h - what is behind a tilefold_error.
#pragma once

#include <tilefold/tilefold.h>

/// Texts end with NUL and live as long as the error.
struct tilefold_error {
    std::int32_t family;
    const char* code;
    const char* message;
    const char* formula;
    std::int64_t begin, end;
};
