// runtime/cache/key_file.h - the secret that a cache's entries are signed with.
#pragma once

#include "compiler/artifact/signature.h"

#include <string>

namespace tilefold {

/// Reads a regular file of 32 to 4,096 bytes that only its owner, me or root,
/// may read or write. Throws Error(BadOption), which tells what is wrong with
/// another one, and how to make one.
SigningKey read_key_file(const std::string& path);

} // namespace tilefold
