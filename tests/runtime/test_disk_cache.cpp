// tests/runtime/test_disk_cache.cpp - whatever happens to a cache file or its
// folder, the cache answers with the exact bytes or with a miss.

#include "tests/runtime/child.h"
#include "tests/runtime/temporary_folder.h"

#include "formulas/diagnostic.h"
#include "runtime/cache/disk_cache.h"
#include "runtime/cache/key_file.h"

#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <thread>
#include <xxhash.h>

namespace tilefold::test {
namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<std::byte>;

constexpr std::int64_t large = std::int64_t(1) << 30;

Key key_of(std::uint64_t number) {
    return {{number * 0x9e3779b97f4a7c15, number, 0, ~number}};
}

Bytes payload_of(unsigned seed, std::size_t size = 600) {
    Bytes bytes(size);
    for (std::size_t k = 0; k < size; ++k)
        bytes[k] = std::byte((k * 31 + seed * 17) & 255);
    return bytes;
}

Bytes read_bytes(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::vector<char> chars{std::istreambuf_iterator<char>(file), {}};
    auto* begin = reinterpret_cast<const std::byte*>(chars.data());
    return {begin, begin + chars.size()};
}

void write_bytes(const fs::path& path, const Bytes& bytes) {
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char*>(bytes.data()),
               std::streamsize(bytes.size()));
}

class DiskCacheTest : public testing::Test {
protected:
    DiskCacheTest() : cache_(folder(), large) {}

    std::string folder() const { return temporary_.path() / "cache"; }
    fs::path file(const Key& key) const {
        return fs::path(folder()) / (key.hex() + ".tilefold");
    }
    void store(std::uint64_t number) {
        cache_.store(key_of(number), notes_, payload_of(unsigned(number)));
    }
    DiskMiss miss(std::uint64_t number) {
        return cache_.load(key_of(number)).miss;
    }
    void expect_hit(std::uint64_t number) {
        auto found = cache_.load(key_of(number));
        ASSERT_EQ(found.miss, DiskMiss::None);
        EXPECT_EQ(*found.payload, payload_of(unsigned(number)));
    }
    std::size_t files() const {
        return std::size_t(std::distance(fs::directory_iterator(folder()), {}));
    }

    TemporaryFolder temporary_;
    EntryNotes notes_{"LLVM 22.1.0", "x86-64-v4", "graph \"\xff\" of a test"};
    DiskCache cache_;
};

TEST_F(DiskCacheTest, ReturnsWhatWasStored) {
    EXPECT_EQ(miss(1), DiskMiss::Absent);
    store(1);
    expect_hit(1);
    EXPECT_EQ(miss(2), DiskMiss::Absent);
    struct stat status{};
    ASSERT_EQ(stat(folder().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0700u);
    ASSERT_EQ(stat(file(key_of(1)).c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST_F(DiskCacheTest, AnyFlippedBitIsAMissAndIsReplaced) {
    store(1);
    Bytes good = read_bytes(file(key_of(1)));
    for (std::size_t at = 0; at < good.size(); ++at) {
        Bytes bad = good;
        bad[at] ^= std::byte(1 << (at % 8));
        write_bytes(file(key_of(1)), bad);
        ASSERT_EQ(miss(1), DiskMiss::Damaged) << "byte " << at;
    }
    store(1);
    expect_hit(1);
}

TEST_F(DiskCacheTest, AnyTruncationIsAMiss) {
    store(1);
    Bytes good = read_bytes(file(key_of(1)));
    for (std::size_t size = 0; size < good.size(); ++size) {
        write_bytes(file(key_of(1)),
                    Bytes(good.begin(), good.begin() + std::ptrdiff_t(size)));
        ASSERT_EQ(miss(1), DiskMiss::Damaged) << size << " bytes";
    }
    good.push_back(std::byte(0));
    write_bytes(file(key_of(1)), good);
    EXPECT_EQ(miss(1), DiskMiss::Damaged);
    write_bytes(file(key_of(1)), Bytes(1 << 20, std::byte(0xff)));
    EXPECT_EQ(miss(1), DiskMiss::Damaged);
}

/// The checksum that entries end with, of what precedes it.
void sign(Bytes& entry) {
    const std::size_t size = entry.size() - sizeof(XXH128_canonical_t);
    XXH128_canonical_t checksum;
    XXH128_canonicalFromHash(&checksum, XXH3_128bits(entry.data(), size));
    std::memcpy(entry.data() + size, &checksum, sizeof checksum);
}

TEST_F(DiskCacheTest, WhatARightChecksumIsOfMayBeWrong) {
    store(1);
    const Bytes good = read_bytes(file(key_of(1)));
    const std::size_t payload = payload_of(1).size();
    const std::size_t header =
        good.size() - sizeof(XXH128_canonical_t) - payload;
    int missed = 0;
    for (std::size_t k = 0; k < header; ++k)
        for (const int flipped : {1, 0x10, 0xff}) {
            Bytes forged = good;
            forged[k] ^= std::byte(flipped);
            sign(forged);
            write_bytes(file(key_of(1)), forged);
            // Notes are for people: what they say is believed.
            const DiskCache::Found found = cache_.load(key_of(1));
            missed += !found.payload;
            if (found.payload) {
                ASSERT_EQ(*found.payload, payload_of(1)) << k;
            }
        }
    EXPECT_GT(missed, int(header));
}

TEST_F(DiskCacheTest, AnEntryUnderAnotherKeyIsAMiss) {
    store(1);
    fs::rename(file(key_of(1)), file(key_of(2)));
    EXPECT_EQ(miss(2), DiskMiss::Damaged);
    store(2);
    expect_hit(2);
}

TEST_F(DiskCacheTest, FilesThatOthersMayWriteAreMisses) {
    for (unsigned mode : {0620u, 0602u, 0666u}) {
        store(1);
        ASSERT_EQ(chmod(file(key_of(1)).c_str(), mode), 0);
        EXPECT_EQ(miss(1), DiskMiss::Damaged);
    }
    store(1);
    expect_hit(1);
}

TEST_F(DiskCacheTest, FilesOfOtherUsersAreMisses) {
    if (geteuid() != 0)
        GTEST_SKIP() << "needs root";
    store(1);
    ASSERT_EQ(chown(file(key_of(1)).c_str(), 12345, 12345), 0);
    EXPECT_EQ(miss(1), DiskMiss::Damaged);
    store(1);
    expect_hit(1);
    ASSERT_EQ(chown(folder().c_str(), 12345, 12345), 0);
    EXPECT_EQ(miss(1), DiskMiss::Unusable);
}

TEST_F(DiskCacheTest, OtherUsersReadACacheOfRoot) {
    if (geteuid() != 0)
        GTEST_SKIP() << "needs root";
    store(1);
    chmod(temporary_.path().c_str(), 0755);
    chmod(folder().c_str(), 0755);
    chmod(file(key_of(1)).c_str(), 0644);
    EXPECT_EQ(in_child([&] {
                  if (setgid(12345) != 0 || setuid(12345) != 0)
                      return 1;
                  cache_.store(key_of(2), notes_, payload_of(2)); // cannot
                  return miss(1) == DiskMiss::None &&
                                 miss(2) == DiskMiss::Absent
                             ? 7
                             : 2;
              }),
              7);
    EXPECT_EQ(files(), 1u);
}

TEST_F(DiskCacheTest, LinksPipesAndFoldersAreMisses) {
    store(1);
    fs::rename(file(key_of(1)), temporary_.path() / "elsewhere");
    fs::create_symlink(temporary_.path() / "elsewhere", file(key_of(1)));
    EXPECT_EQ(miss(1), DiskMiss::Damaged);
    store(1);
    expect_hit(1);
    EXPECT_FALSE(fs::is_symlink(file(key_of(1))));
    ASSERT_EQ(mkfifo(file(key_of(2)).c_str(), 0600), 0);
    EXPECT_EQ(miss(2), DiskMiss::Damaged);
    fs::create_directory(file(key_of(3)));
    EXPECT_EQ(miss(3), DiskMiss::Damaged);
    store(3); // cannot replace a folder, and says nothing
    EXPECT_EQ(miss(3), DiskMiss::Damaged);
}

TEST_F(DiskCacheTest, UnusableFoldersAreMisses) {
    store(1);
    ASSERT_EQ(chmod(folder().c_str(), 0777), 0);
    EXPECT_EQ(miss(1), DiskMiss::Unusable);
    chmod(folder().c_str(), 0700);
    fs::create_directory_symlink(folder(), temporary_.path() / "link");
    DiskCache linked(temporary_.path() / "link", large);
    EXPECT_EQ(linked.load(key_of(1)).miss, DiskMiss::Unusable);
    DiskCache under_a_file(file(key_of(1)) / "cache", large);
    EXPECT_EQ(under_a_file.load(key_of(1)).miss, DiskMiss::Unusable);
    under_a_file.store(key_of(1), notes_, payload_of(1));
    DiskCache off("", large);
    EXPECT_EQ(off.load(key_of(1)).miss, DiskMiss::Off);
    off.store(key_of(1), notes_, payload_of(1));
}

TEST_F(DiskCacheTest, FoldersBelowWhatOthersMayWriteAreMisses) {
    store(1);
    expect_hit(1);
    fs::permissions(temporary_.path(), fs::perms(0770));
    EXPECT_EQ(miss(1), DiskMiss::Unusable);
    // There nobody can rename what is another one's.
    fs::permissions(temporary_.path(), fs::perms(01777));
    expect_hit(1);
    fs::permissions(temporary_.path(), fs::perms(0755));
    expect_hit(1);
    if (geteuid() != 0)
        return; // only root gives folders away
    ASSERT_EQ(chown(temporary_.path().c_str(), 65534, 65534), 0);
    EXPECT_EQ(miss(1), DiskMiss::Unusable);
    ASSERT_EQ(chown(temporary_.path().c_str(), 0, 0), 0);
    expect_hit(1);
}

TEST_F(DiskCacheTest, AReadOnlyFolderStillServes) {
    store(1);
    chmod(folder().c_str(), 0500);
    auto work = [&] {
        if (geteuid() == 0 && (chown(folder().c_str(), 12345, 12345) != 0 ||
                               chown(file(key_of(1)).c_str(), 12345, 12345) ||
                               chmod(temporary_.path().c_str(), 0755) ||
                               setgid(12345) != 0 || setuid(12345) != 0))
            return 1;
        store(2);
        return miss(1) == DiskMiss::None && miss(2) == DiskMiss::Absent ? 7 : 2;
    };
    EXPECT_EQ(in_child(work), 7);
}

TEST_F(DiskCacheTest, AFullDiskLeavesNothingBehind) {
    fs::create_directory(folder());
    chmod(folder().c_str(), 0700);
    if (mount("none", folder().c_str(), "tmpfs", 0, "size=64k,mode=0700") != 0)
        GTEST_SKIP() << "needs the right to mount";
    store(1);
    cache_.store(key_of(2), notes_, payload_of(2, 1 << 20));
    DiskMiss kept = miss(1), lost = miss(2);
    std::size_t left = files();
    umount(folder().c_str());
    EXPECT_EQ(kept, DiskMiss::None);
    EXPECT_EQ(lost, DiskMiss::Absent);
    EXPECT_EQ(left, 1u);
}

TEST_F(DiskCacheTest, AFileSizeLimitDoesNotKill) {
    store(1);
    EXPECT_EQ(in_child([&] {
                  rlimit limit{4096, 4096};
                  setrlimit(RLIMIT_FSIZE, &limit);
                  cache_.store(key_of(2), notes_, payload_of(2, 100000));
                  cache_.store(key_of(3), notes_, payload_of(3));
                  return 7;
              }),
              7);
    EXPECT_EQ(miss(2), DiskMiss::Absent);
    expect_hit(3);
    EXPECT_EQ(files(), 2u);
}

TEST_F(DiskCacheTest, SixtyFourProcessesWriteOneKey) {
    std::vector<pid_t> children;
    for (int k = 0; k < 64; ++k) {
        pid_t child = fork();
        if (child == 0) {
            int bad = 0;
            for (int round = 0; round < 20; ++round) {
                auto found = cache_.load(key_of(1));
                bad += found.miss == DiskMiss::Damaged ||
                       (found.payload && *found.payload != payload_of(1));
                store(1);
            }
            _exit(bad);
        }
        children.push_back(child);
    }
    for (pid_t child : children)
        EXPECT_EQ(wait_for(child), 0);
    expect_hit(1);
    EXPECT_EQ(files(), 1u);
}

TEST_F(DiskCacheTest, AWriterKilledHalfwayLeavesNoEntry) {
    store(0);
    for (int round = 0; round < 30; ++round) {
        pid_t child = fork();
        if (child == 0)
            for (;;)
                cache_.store(key_of(1), notes_, payload_of(1, 1 << 20));
        std::this_thread::sleep_for(std::chrono::microseconds(500 * round));
        kill(child, SIGKILL);
        EXPECT_EQ(wait_for(child), -SIGKILL);
        auto found = cache_.load(key_of(1));
        ASSERT_NE(found.miss, DiskMiss::Damaged);
        if (found.payload) {
            ASSERT_EQ(*found.payload, payload_of(1, 1 << 20));
        }
    }
    expect_hit(0);
}

TEST_F(DiskCacheTest, StaleTemporariesAreSweptAndFreshOnesStay) {
    store(0);
    auto old = std::chrono::file_clock::now() - std::chrono::hours(1);
    write_bytes(fs::path(folder()) / ".tmp-1-stale", payload_of(1));
    fs::last_write_time(fs::path(folder()) / ".tmp-1-stale", old);
    write_bytes(fs::path(folder()) / ".tmp-2-fresh", payload_of(1));
    write_bytes(fs::path(folder()) / "not ours", payload_of(1));
    fs::last_write_time(fs::path(folder()) / "not ours", old);
    store(1);
    EXPECT_FALSE(fs::exists(fs::path(folder()) / ".tmp-1-stale"));
    EXPECT_TRUE(fs::exists(fs::path(folder()) / ".tmp-2-fresh"));
    EXPECT_TRUE(fs::exists(fs::path(folder()) / "not ours"));
    EXPECT_EQ(cache_.clear(), 3);
    EXPECT_EQ(files(), 1u);
}

TEST_F(DiskCacheTest, TheLeastRecentlyUsedEntriesGoFirst) {
    auto now = std::chrono::file_clock::now();
    store(0);
    std::int64_t entry = std::int64_t(fs::file_size(file(key_of(0))));
    DiskCache small(folder(), 4 * entry);
    for (std::uint64_t k = 1; k < 4; ++k)
        store(k);
    for (std::uint64_t k = 0; k < 4; ++k)
        fs::last_write_time(file(key_of(k)),
                            now - std::chrono::hours(10 - int(k)));
    expect_hit(0); // a use: now the youngest
    small.store(key_of(4), notes_, payload_of(4));
    small.store(key_of(5), notes_, payload_of(5));
    EXPECT_EQ(miss(1), DiskMiss::Absent);
    EXPECT_EQ(miss(2), DiskMiss::Absent);
    for (std::uint64_t k : {0, 3, 4, 5})
        expect_hit(k);
    DiskCache tiny(folder(), 1);
    tiny.store(key_of(6), notes_, payload_of(6));
    expect_hit(6);
    EXPECT_EQ(files(), 1u);
}

TEST_F(DiskCacheTest, ListsWhatIsThere) {
    EXPECT_TRUE(cache_.list(true).empty());
    store(1);
    store(2);
    Bytes bad = read_bytes(file(key_of(2)));
    bad[bad.size() - 100] ^= std::byte(1);
    write_bytes(file(key_of(2)), bad);
    for (bool verify : {false, true}) {
        auto entries = cache_.list(verify);
        ASSERT_EQ(entries.size(), 2u);
        for (const CacheEntry& entry : entries) {
            bool damaged = entry.key == key_of(2).hex();
            EXPECT_EQ(entry.miss,
                      damaged && verify ? DiskMiss::Damaged : DiskMiss::None);
            EXPECT_EQ(entry.bytes,
                      std::int64_t(fs::file_size(file(key_of(1)))));
            if (!damaged) {
                EXPECT_EQ(entry.compiler, "LLVM 22.1.0");
                EXPECT_EQ(entry.isa, "x86-64-v4");
                EXPECT_EQ(entry.summary, "graph \"\ufffd\" of a test");
            }
        }
    }
    EXPECT_EQ(cache_.clear(), 2);
    EXPECT_TRUE(cache_.list(false).empty());
}

SigningKey key_from(const std::string& secret) {
    return SigningKey(std::as_bytes(std::span(secret)));
}

TEST_F(DiskCacheTest, SignedEntriesAreTakenByTheirKeyAlone) {
    const DiskCache ours(folder(), large, key_from("ours"));
    const DiskCache theirs(folder(), large, key_from("theirs"));
    store(1);
    EXPECT_EQ(ours.load(key_of(1)).miss, DiskMiss::Unsigned);
    theirs.store(key_of(1), notes_, payload_of(1));
    EXPECT_EQ(ours.load(key_of(1)).miss, DiskMiss::Unsigned);
    ours.store(key_of(1), notes_, payload_of(1));
    const auto found = ours.load(key_of(1));
    ASSERT_EQ(found.miss, DiskMiss::None);
    EXPECT_EQ(*found.payload, payload_of(1));
    expect_hit(1); // who asks for no signature trusts the folder
    EXPECT_EQ(ours.list(true).at(0).miss, DiskMiss::None);
    EXPECT_EQ(theirs.list(true).at(0).miss, DiskMiss::Unsigned);
    EXPECT_EQ(theirs.list(false).at(0).miss, DiskMiss::None);
    // Under the name of another kernel it is none of its own.
    fs::copy_file(file(key_of(1)), file(key_of(2)));
    EXPECT_EQ(ours.load(key_of(2)).miss, DiskMiss::Damaged);
}

TEST_F(DiskCacheTest, NoByteOfASignedEntryMayBeAnother) {
    const DiskCache ours(folder(), large, key_from("ours"));
    ours.store(key_of(1), notes_, payload_of(1));
    const Bytes good = read_bytes(file(key_of(1)));
    for (std::size_t at = 0; at < good.size(); ++at) {
        Bytes forged = good;
        forged[at] ^= std::byte(1);
        if (at < good.size() - sizeof(XXH128_canonical_t))
            sign(forged);
        write_bytes(file(key_of(1)), forged);
        ASSERT_NE(ours.load(key_of(1)).miss, DiskMiss::None) << "byte " << at;
    }
}

TEST_F(DiskCacheTest, ASignedFolderMayBeAnybodys) {
    if (geteuid() != 0)
        GTEST_SKIP() << "needs root";
    const DiskCache ours(folder(), large, key_from("ours"));
    ours.store(key_of(1), notes_, payload_of(1));
    ASSERT_EQ(chown(file(key_of(1)).c_str(), 65534, 65534), 0);
    ASSERT_EQ(chown(folder().c_str(), 65534, 65534), 0);
    ASSERT_EQ(chmod(folder().c_str(), 0777), 0);
    EXPECT_EQ(miss(1), DiskMiss::Unusable);
    EXPECT_EQ(ours.load(key_of(1)).miss, DiskMiss::None);
    EXPECT_EQ(ours.list(true).size(), 1u);
    ours.store(key_of(2), notes_, payload_of(2));
    EXPECT_EQ(ours.load(key_of(2)).miss, DiskMiss::None);
    EXPECT_EQ(ours.clear(), 2);
}

class KeyFileTest : public testing::Test {
protected:
    std::string path() const { return temporary_.path() / "key"; }
    void write(std::size_t bytes, mode_t mode = 0600) const {
        fs::remove_all(path());
        write_bytes(path(), payload_of(1, bytes));
        ASSERT_EQ(chmod(path().c_str(), mode), 0);
    }
    std::string message() const {
        try {
            read_key_file(path());
            return "";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), Code::BadOption);
            return error.what();
        }
    }
    void expect_refused(const std::string& why) const {
        EXPECT_NE(message().find("'" + path() + "': " + why), std::string::npos)
            << message();
    }

    TemporaryFolder temporary_;
};

TEST_F(KeyFileTest, IsReadByItsOwnerAlone) {
    expect_refused("No such file or directory");
    for (const mode_t mode : {0600, 0400}) {
        write(32, mode);
        EXPECT_EQ(message(), "");
    }
    for (const mode_t mode : {0640, 0620, 0604, 0666}) {
        write(32, mode);
        expect_refused("others may read or write it");
    }
    if (geteuid() == 0) {
        write(32);
        ASSERT_EQ(chown(path().c_str(), 65534, 65534), 0);
        expect_refused("it belongs to another user");
    }
}

TEST_F(KeyFileTest, IsARegularFileOfSomeLength) {
    for (const std::size_t bytes : {0, 31, 4097}) {
        write(bytes);
        expect_refused("it has " + std::to_string(bytes) + " bytes");
    }
    write(4096);
    EXPECT_EQ(message(), "");
    fs::remove(path());
    fs::create_directory(path(), temporary_.path());
    expect_refused("it is no regular file");
    fs::remove(path());
    ASSERT_EQ(mkfifo(path().c_str(), 0600), 0);
    expect_refused("it is no regular file");
}

TEST_F(KeyFileTest, EveryByteOfTheSecretCounts) {
    write(64);
    const Bytes entry = payload_of(3);
    const KeyedHash signature = read_key_file(path()).sign(entry);
    EXPECT_TRUE(read_key_file(path()).accepts(entry, signature));
    Bytes secret = read_bytes(path());
    for (std::byte& byte : secret) {
        byte ^= std::byte(1);
        write_bytes(path(), secret);
        EXPECT_FALSE(read_key_file(path()).accepts(entry, signature));
        byte ^= std::byte(1);
    }
}

/// As another implementation of BLAKE3 has it, the package blake3 of PyPI:
///     key = blake3(b"ours", derive_key_context=…).digest()
///     blake3(b"the bytes of an entry", key=key).hexdigest()
TEST(SigningKey, SignsAsBlake3Does) {
    const std::string bytes = "the bytes of an entry";
    const KeyedHash signature =
        key_from("ours").sign(std::as_bytes(std::span(bytes)));
    std::string text;
    for (const std::byte byte : signature) {
        char digits[3];
        std::snprintf(digits, sizeof digits, "%02x", unsigned(byte));
        text += digits;
    }
    EXPECT_EQ(text, "368d4e76cec595008617364b9302d4ab"
                    "b2fcecfe147a69e755119532db366a70");
}

} // namespace
} // namespace tilefold::test
