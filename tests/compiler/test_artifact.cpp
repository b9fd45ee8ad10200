// tests/compiler/test_artifact.cpp - artifacts as bytes, and damaged bytes.

#include "compiler/artifact/artifact.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

namespace tilefold::tests {
namespace {

Artifact example() {
    Artifact artifact;
    artifact.layout.constants = 3;
    artifact.layout.slots = 4;
    artifact.layout.slots_per_width = 1;
    artifact.layout.scratch = 4096;
    artifact.layout.scratch_per_width = 128;
    artifact.layout.row_block = 512;
    artifact.layout.panel = 252;
    artifact.layout.nanoseconds = 0.1875;
    artifact.layout.uses_functions = true;
    artifact.layout.lanes = 8;
    artifact.layout.real = DType::F64;
    artifact.entries.prepare = 0;
    artifact.entries.accumulate = 16;
    artifact.code.resize(64, std::byte{0xc3});
    artifact.compiler = "LLVM 22.1.0";
    artifact.compile_milliseconds = 12.5;
    return artifact;
}

TEST(Artifact, ReadsBack) {
    const auto bytes = serialise(example());
    Artifact read;
    ASSERT_TRUE(deserialise(bytes.data(), bytes.size(), read));
    EXPECT_EQ(read.layout.scratch_per_width, 128);
    EXPECT_EQ(read.layout.nanoseconds, 0.1875);
    EXPECT_TRUE(read.layout.uses_functions);
    EXPECT_EQ(read.layout.real, DType::F64);
    EXPECT_EQ(read.entries.prepare, 0u);
    EXPECT_EQ(read.entries.accumulate, 16u);
    EXPECT_EQ(read.entries.dense, Entries::absent);
    EXPECT_EQ(read.code, example().code);
    EXPECT_EQ(read.compiler, "LLVM 22.1.0");
    EXPECT_EQ(serialise(read), bytes);
}

TEST(Artifact, IsNotReadFromAPart) {
    const auto bytes = serialise(example());
    Artifact read;
    for (std::size_t size = 0; size < bytes.size(); ++size)
        EXPECT_FALSE(deserialise(bytes.data(), size, read)) << size;
}

TEST(Artifact, DamagedBytesDoNoHarm) {
    const auto bytes = serialise(example());
    std::mt19937 random(3);
    for (int k = 0; k < 5000; ++k) {
        auto damaged = bytes;
        for (int n = 0; n < 3; ++n)
            damaged[random() % damaged.size()] = std::byte(random());
        Artifact read;
        deserialise(damaged.data(), damaged.size(), read);
    }
}

TEST(Artifact, EntriesLieInTheCode) {
    Artifact artifact = example();
    artifact.entries.merge = artifact.code.size();
    const auto bytes = serialise(artifact);
    EXPECT_FALSE(deserialise(bytes.data(), bytes.size(), artifact));
}

} // namespace
} // namespace tilefold::tests
