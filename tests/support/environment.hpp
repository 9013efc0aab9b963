#pragma once

#include <cstdlib>
#include <optional>
#include <string>

#include "foundation/processors.hpp"

namespace hone::test {

/// Sets an environment variable, or removes it, for as long as it lives. What OpenMP's and hone's
/// threads depend on, this process has read before, once: else it would count other processors from
/// then on than the processes that a test starts later, and its results would be another device's.
class EnvironmentVariable {
  public:
    EnvironmentVariable(const char* name, const std::optional<std::string>& value) : name_(name) {
        processors();
        if (const char* old = std::getenv(name)) old_ = old;
        set(value);
    }
    ~EnvironmentVariable() { set(old_); }
    EnvironmentVariable(const EnvironmentVariable&) = delete;
    EnvironmentVariable& operator=(const EnvironmentVariable&) = delete;

  private:
    void set(const std::optional<std::string>& value) { value ? setenv(name_, value->c_str(), 1) : unsetenv(name_); }
    const char* name_;
    std::optional<std::string> old_;
};

}  // namespace hone::test
