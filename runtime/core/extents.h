// runtime/core/extents.h - a number for each dimension of an array.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <utility>

namespace tilefold {

/// Extents or strides, with the interface of a vector of numbers. Up to four
/// lie in place, so that a call of a few points allocates nothing for them.
class Extents {
public:
    using value_type = std::int64_t;
    using iterator = value_type*;
    using const_iterator = const value_type*;

    Extents() = default;
    explicit Extents(std::size_t size, value_type value = 0) {
        resize(size, value);
    }
    Extents(std::initializer_list<value_type> values)
        : Extents(values.begin(), values.end()) {}
    template <std::input_iterator Iterator>
    Extents(Iterator first, Iterator last) {
        assign(first, last);
    }
    Extents(const Extents& other) : Extents(other.begin(), other.end()) {}
    Extents(Extents&& other) noexcept { swap(other); }
    Extents& operator=(Extents other) noexcept {
        swap(other);
        return *this;
    }

    value_type* data() { return many_ ? many_.get() : few_; }
    const value_type* data() const { return many_ ? many_.get() : few_; }
    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    iterator begin() { return data(); }
    iterator end() { return data() + size_; }
    const_iterator begin() const { return data(); }
    const_iterator end() const { return data() + size_; }
    value_type& operator[](std::size_t k) { return data()[k]; }
    value_type operator[](std::size_t k) const { return data()[k]; }
    value_type front() const { return data()[0]; }
    value_type& back() { return data()[size_ - 1]; }
    value_type back() const { return data()[size_ - 1]; }

    template <std::input_iterator Iterator>
    void assign(Iterator first, Iterator last) {
        clear();
        reserve(std::size_t(std::distance(first, last)));
        size_ = std::size_t(std::copy(first, last, begin()) - begin());
    }
    void clear() { size_ = 0; }
    void resize(std::size_t size, value_type value = 0) {
        reserve(size);
        std::fill(data() + std::min(size_, size), data() + size, value);
        size_ = size;
    }
    void push_back(value_type value) {
        if (size_ == capacity_)
            reserve(2 * capacity_);
        data()[size_++] = value;
    }
    void push_front(value_type value) {
        push_back(value);
        std::rotate(begin(), end() - 1, end());
    }
    void pop_back() { --size_; }

    friend bool operator==(const Extents& a, const Extents& b) {
        return std::equal(a.begin(), a.end(), b.begin(), b.end());
    }

private:
    static constexpr std::size_t in_place = 4;

    void reserve(std::size_t capacity) {
        if (capacity <= capacity_)
            return;
        auto more = std::make_unique<value_type[]>(capacity);
        std::copy(begin(), end(), more.get());
        many_ = std::move(more);
        capacity_ = capacity;
    }
    void swap(Extents& other) noexcept {
        std::swap(size_, other.size_);
        std::swap(capacity_, other.capacity_);
        std::swap(few_, other.few_);
        many_.swap(other.many_);
    }

    std::size_t size_ = 0, capacity_ = in_place;
    value_type few_[in_place] = {};
    std::unique_ptr<value_type[]> many_; ///< null: they are few
};

} // namespace tilefold
