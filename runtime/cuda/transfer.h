// runtime/cuda/transfer.h - arrays of the host to a device and back, through
// pinned memory, while the device works.
#pragma once

#include "runtime/core/dense_copy.h"
#include "runtime/cuda/device.h"

#include <array>
#include <cstddef>
#include <optional>

namespace tilefold::cuda {

/// Everything here belongs to one device, whose context is current whenever it
/// is used, made or destroyed.
class OwnStream {
public:
    explicit OwnStream(const Device& device);
    ~OwnStream();
    OwnStream(const OwnStream&) = delete;
    OwnStream& operator=(const OwnStream&) = delete;

    CUstream handle() const { return handle_; }
    /// Waits for all that is queued.
    void finish() const;

private:
    const Device& device_;
    CUstream handle_ = nullptr;
};

/// A place in a stream. Before it is recorded nobody waits for it.
class Event {
public:
    explicit Event(const Device& device);
    ~Event();
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;

    void record(const OwnStream& stream);
    /// What is queued on `stream` from now on waits for it.
    void stream_wait(const OwnStream& stream) const;
    void wait() const;

private:
    const Device& device_;
    CUevent handle_ = nullptr;
};

class Transfer {
public:
    explicit Transfer(const Device& device);

    /// Queues a dense copy of `array` to the device's `to`. The array is read
    /// before it returns.
    void upload(const DenseCopy& copy, const char* array, char* to,
                const OwnStream& stream);
    /// Writes `array` from a dense copy of it on the device, after what is
    /// queued on the stream.
    void download(const DenseCopy& copy, const char* from, char* array,
                  const OwnStream& stream);

private:
    /// Bytes that are on their way at a time: packing them takes about as long
    /// as sending them.
    static constexpr std::size_t slot_bytes = 8 << 20;

    /// Pinned memory, allocated when it is first used.
    class Slot {
    public:
        explicit Slot(const Device& device) : device_(device), sent_(device) {}
        ~Slot();
        Slot(const Slot&) = delete;
        Slot& operator=(const Slot&) = delete;

        void pack(const DenseCopy::Slice& slice, const char* array, char* to,
                  const OwnStream& stream);
        void fetch(const DenseCopy::Slice& slice, const char* from, char* array,
                   const OwnStream& stream);
        /// Waits until its memory can be used again.
        void free();
        /// Whether something in it has not been unpacked.
        bool is_fetched() const { return fetched_.has_value(); }

    private:
        char* memory();

        const Device& device_;
        Event sent_;
        char* memory_ = nullptr;
        std::optional<DenseCopy::Slice> fetched_; ///< to be unpacked
        char* array_ = nullptr;
    };
    Slot& next();

    std::array<Slot, 4> slots_;
    std::size_t next_ = 0;
};

} // namespace tilefold::cuda
