// runtime/c/calls.h - options of C's calls as the session has them.
#pragma once

#include "runtime/bind/call_options.h"

#include <tilefold/tilefold.h>

namespace tilefold::c {

/// Returns the options of a call, which may be given none. Throws Error.
BindOptions bind_options_of(const tilefold_bind_options* given);
RunOptions run_options_of(const tilefold_run_options* given);

} // namespace tilefold::c
