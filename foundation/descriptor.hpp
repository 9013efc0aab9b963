#pragma once

#include <unistd.h>

#include <utility>

namespace hone::inline v0_1 {

/// A file descriptor that closes itself. It may hold none (a negative number): what `open` gives
/// when it fails.
class Descriptor {
  public:
    explicit Descriptor(int number = -1) : number_(number) {}
    Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(number_, other.number_);
        return *this;
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() {
        if (number_ >= 0) ::close(number_);
    }

    int get() const { return number_; }
    bool valid() const { return number_ >= 0; }

  private:
    int number_;
};

}  // namespace hone::inline v0_1
