#pragma once

#include <string>

namespace hone::test {

/// The body of a process that begins the journal `file` anew, putting aside what is there, closes
/// it, goes on with it, and prints the number of every evaluation, from `first` on, once it is said
/// to be on the disk. 0, or 2 with a message where a call failed.
int write_journal(const std::string& file, int first);
/// The evaluations of a journal by their numbers, in their order.
std::string evaluations_in(const std::string& file);

}  // namespace hone::test
