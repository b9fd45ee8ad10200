// python_bindings/array_memory.cpp - see array_memory.h.
//
// A block is a mapping of whole huge pages. A line before the array says how
// large it is, since NumPy does not when it asks for another size.

#include "python_bindings/array_memory.h"

#include "runtime/system/system.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <list>
#include <memory>
#include <mutex>
#include <new>
#include <sys/mman.h>

namespace tilefold::python {

namespace nb = nanobind;

namespace {

constexpr std::size_t huge_page = std::size_t(2) << 20;
constexpr std::size_t line = 64;
/// Below, glibc's malloc() hands memory on by itself.
constexpr double least_bytes = 32 << 20;
/// Bytes that are kept, of all blocks together.
constexpr std::size_t most_kept = std::size_t(256) << 20;

/// A mapping, by where it begins.
struct Block {
    std::byte* begin;
    std::size_t bytes;
};

/// Null where there is no memory.
std::byte* map_huge_pages(std::size_t bytes) {
    void* place = mmap(nullptr, bytes + huge_page, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (place == MAP_FAILED)
        return nullptr;
    const auto address = reinterpret_cast<std::uintptr_t>(place);
    const std::size_t before = (huge_page - address % huge_page) % huge_page;
    auto* begin = static_cast<std::byte*>(place) + before;
    if (before > 0)
        munmap(place, before);
    munmap(begin + bytes, huge_page - before);
    system::ask_for_huge_pages(begin, bytes);
    return begin;
}

/// Blocks that no array has, the last one first.
class KeptBlocks {
public:
    KeptBlocks() = default;
    ~KeptBlocks() {
        for (const Block& block : blocks_)
            munmap(block.begin, block.bytes);
    }
    KeptBlocks(const KeptBlocks&) = delete;
    KeptBlocks& operator=(const KeptBlocks&) = delete;

    std::byte* take(std::size_t bytes) {
        // A thread that forked another process may have held it there.
        std::unique_lock lock(mutex_, std::try_to_lock);
        if (!lock)
            return nullptr;
        const auto block = std::ranges::find(blocks_, bytes, &Block::bytes);
        if (block == blocks_.end())
            return nullptr;
        std::byte* begin = block->begin;
        kept_ -= bytes;
        blocks_.erase(block);
        return begin;
    }

    void give(const Block& block) {
        std::unique_lock lock(mutex_, std::try_to_lock);
        if (!lock || block.bytes > most_kept || !is_kept(block)) {
            munmap(block.begin, block.bytes);
            return;
        }
        for (; kept_ > most_kept; blocks_.pop_back()) {
            munmap(blocks_.back().begin, blocks_.back().bytes);
            kept_ -= blocks_.back().bytes;
        }
    }

private:
    /// Puts a block at the front, unless there is no memory to keep it.
    bool is_kept(const Block& block) {
        try {
            blocks_.push_front(block);
        } catch (const std::bad_alloc&) {
            return false;
        }
        kept_ += block.bytes;
        madvise(block.begin, block.bytes, MADV_FREE);
        return true;
    }

    std::mutex mutex_;
    std::list<Block> blocks_;
    std::size_t kept_ = 0; ///< bytes
};

std::size_t& size_of_block(void* array) {
    return *reinterpret_cast<std::size_t*>(static_cast<std::byte*>(array) -
                                           line);
}

// NumPy calls the functions below with the KeptBlocks as `context`.

void* allocate(void* context, std::size_t bytes) {
    if (bytes > SIZE_MAX / 2)
        return nullptr;
    const std::size_t all =
        (bytes + line + huge_page - 1) / huge_page * huge_page;
    std::byte* begin = static_cast<KeptBlocks*>(context)->take(all);
    if (!begin)
        begin = map_huge_pages(all);
    if (!begin)
        return nullptr;
    void* array = begin + line;
    size_of_block(array) = all;
    return array;
}

void* allocate_zeros(void* context, std::size_t count, std::size_t bytes) {
    if (bytes != 0 && count > SIZE_MAX / bytes)
        return nullptr;
    void* array = allocate(context, count * bytes);
    return array ? std::memset(array, 0, count * bytes) : nullptr;
}

void release(void* context, void* array, std::size_t) {
    if (array)
        static_cast<KeptBlocks*>(context)->give(
            {static_cast<std::byte*>(array) - line, size_of_block(array)});
}

void* reallocate(void* context, void* array, std::size_t bytes) {
    void* other = allocate(context, bytes);
    if (!array || !other)
        return other;
    std::memcpy(other, array, std::min(bytes, size_of_block(array) - line));
    release(context, array, 0);
    return other;
}

/// PyDataMem_Handler of NumPy's C API, version 1.
struct MemoryHandler {
    char name[127];
    std::uint8_t version;
    struct {
        void* context;
        void* (*malloc)(void*, std::size_t);
        void* (*calloc)(void*, std::size_t, std::size_t);
        void* (*realloc)(void*, void*, std::size_t);
        void (*free)(void*, void*, std::size_t);
    } allocator;
};

struct Handler {
    KeptBlocks blocks;
    MemoryHandler handler{
        "tilefold",
        1,
        {&blocks, allocate, allocate_zeros, reallocate, release}};
};

/// Makes the capsule that NumPy wants: arrays hold references to it.
nb::object make_handler() {
    auto handler = std::make_unique<Handler>();
    nb::object capsule = nb::steal(
        PyCapsule_New(&handler->handler, "mem_handler", [](PyObject* object) {
            delete static_cast<Handler*>(PyCapsule_GetContext(object));
        }));
    if (!capsule.is_valid() ||
        PyCapsule_SetContext(capsule.ptr(), handler.get()) != 0)
        throw nb::python_error();
    handler.release();
    return capsule;
}

/// PyDataMem_SetHandler of NumPy's C API: gives the handler before, a new
/// reference.
PyObject* set_handler(PyObject* handler) {
    using SetHandler = PyObject*(PyObject*);
    constexpr std::size_t place = 304;
    static auto* const set = [] {
        nb::object table = nb::module_::import_("numpy._core._multiarray_umath")
                               .attr("_ARRAY_API");
        void* functions = PyCapsule_GetPointer(table.ptr(), nullptr);
        if (!functions)
            throw nb::python_error();
        return reinterpret_cast<SetHandler*>(
            static_cast<void**>(functions)[place]);
    }();
    return set(handler);
}

} // namespace

LargeArrays::LargeArrays(double bytes) {
    if (bytes < least_bytes)
        return;
    static PyObject* const handler = make_handler().release().ptr();
    before_ = set_handler(handler);
    if (!before_)
        throw nb::python_error();
}

LargeArrays::~LargeArrays() {
    if (!before_)
        return;
    const nb::error_scope error;
    const nb::object ours = nb::steal(set_handler(before_));
    Py_DECREF(before_);
}

} // namespace tilefold::python
