// runtime/cuda/transfer.cpp - a ring of pinned memory: while one slot is on its
// way, the next one is packed.

#include "runtime/cuda/transfer.h"

#include "formulas/diagnostic.h"
#include "runtime/cuda/capture.h"

#include <algorithm>
#include <string>

namespace tilefold::cuda {
namespace {

CUdeviceptr address(const char* on_device) {
    return CUdeviceptr(reinterpret_cast<std::uintptr_t>(on_device));
}

} // namespace

OwnStream::OwnStream(const Device& device) : device_(device) {
    constexpr unsigned beside_the_default_one = 1;
    device.driver().check(
        device.driver().cuStreamCreate(&handle_, beside_the_default_one),
        "a stream");
}

OwnStream::~OwnStream() {
    device_.driver().cuStreamDestroy(handle_);
}

void OwnStream::finish() const {
    device_.driver().check(device_.driver().cuStreamSynchronize(handle_),
                           "to finish");
}

Event::Event(const Device& device) : device_(device) {
    constexpr unsigned without_timing = 2;
    device.driver().check(
        device.driver().cuEventCreate(&handle_, without_timing), "an event");
}

Event::~Event() {
    device_.driver().cuEventDestroy(handle_);
}

void Event::record(const OwnStream& stream) {
    device_.driver().check(
        device_.driver().cuEventRecord(handle_, stream.handle()), "an event");
}

void Event::stream_wait(const OwnStream& stream) const {
    device_.driver().check(
        device_.driver().cuStreamWaitEvent(stream.handle(), handle_, 0),
        "to let a stream wait");
}

void Event::wait() const {
    device_.driver().check(device_.driver().cuEventSynchronize(handle_),
                           "to finish a copy");
}

Transfer::Transfer(const Device& device)
    : slots_{Slot(device), Slot(device), Slot(device), Slot(device)} {}

Transfer::Slot::~Slot() {
    if (memory_)
        device_.driver().cuMemFreeHost(memory_);
}

char* Transfer::Slot::memory() {
    if (memory_)
        return memory_;
    const BesideCaptures beside(device_.driver());
    void* memory = nullptr;
    const CUresult status =
        device_.driver().cuMemHostAlloc(&memory, slot_bytes, 0);
    if (status == CUDA_ERROR_OUT_OF_MEMORY)
        fail(tilefold::Code::OutOfMemory,
             {"copies to the GPU",
              std::to_string(slot_bytes >> 20) + " MiB of pinned memory",
              "free memory of the host"});
    device_.driver().check(status, "pinned memory");
    return memory_ = static_cast<char*>(memory);
}

void Transfer::Slot::pack(const DenseCopy::Slice& slice, const char* array,
                          char* to, const OwnStream& stream) {
    slice.pack(array, memory());
    device_.driver().check(
        device_.driver().cuMemcpyHtoDAsync(address(to + slice.in_copy), memory_,
                                           slice.bytes, stream.handle()),
        "a copy");
    sent_.record(stream);
}

void Transfer::Slot::fetch(const DenseCopy::Slice& slice, const char* from,
                           char* array, const OwnStream& stream) {
    device_.driver().check(device_.driver().cuMemcpyDtoHAsync(
                               memory(), address(from + slice.in_copy),
                               slice.bytes, stream.handle()),
                           "a copy");
    sent_.record(stream);
    fetched_.emplace(slice);
    array_ = array;
}

void Transfer::Slot::free() {
    sent_.wait();
    if (fetched_)
        fetched_->unpack(memory_, array_);
    fetched_.reset();
}

Transfer::Slot& Transfer::next() {
    Slot& slot = slots_[next_];
    next_ = (next_ + 1) % slots_.size();
    slot.free();
    return slot;
}

void Transfer::upload(const DenseCopy& copy, const char* array, char* to,
                      const OwnStream& stream) {
    copy.each_slice(slot_bytes, [&](const DenseCopy::Slice& slice) {
        next().pack(slice, array, to, stream);
    });
}

void Transfer::download(const DenseCopy& copy, const char* from, char* array,
                        const OwnStream& stream) {
    copy.each_slice(slot_bytes, [&](const DenseCopy::Slice& slice) {
        next().fetch(slice, from, array, stream);
    });
    for (Slot& slot : slots_)
        if (slot.is_fetched())
            slot.free();
}

} // namespace tilefold::cuda
