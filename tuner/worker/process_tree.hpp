#pragma once

namespace hone::inline v0_1 {

/// Sends a signal to all processes that a thread of this process has started, and to all that these
/// have started, and so on. Does nothing where the system does not tell
/// (/proc/<id>/task/<id>/children).
void signal_children_of_thread(int thread_id, int signal);

/// Kills all processes that a thread of this process has started, with all that these have started;
/// stopped ones, too. Whoever started them reaps them. Does nothing where the system does not tell.
void kill_children_of_thread(int thread_id);

}  // namespace hone::inline v0_1
