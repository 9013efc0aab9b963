#include "runtime/ranks/threads_of_processes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <numeric>
#include <utility>

#include "foundation/error.hpp"
#include "runtime/ranks/processes.hpp"
#include "runtime/ranks/thread_ranks.hpp"

namespace hone::inline v0_1 {
namespace {

// The ranks of all processes, as one of these sees them.
struct Layout {
    Communicator& processes;
    Processes& links;
    std::vector<int> begins;  // [process]: its first rank; at the end how many there are
    int most_threads = 1;     // of a process
    int before_on_host = 0, on_host = 0;

    Layout(Communicator& of, Processes& by, int threads) : processes(of), links(by), begins(1, 0) {
        const std::vector<int> here = by.start_threads(threads);
        before_on_host = std::accumulate(here.begin(), here.begin() + of.local_rank(), 0);
        on_host = std::accumulate(here.begin(), here.end(), 0);
        const double own = threads;
        std::vector<double> all(static_cast<std::size_t>(of.size()));
        of.all_gather({&own, 1}, equal_counts(of, 1), all);
        for (const double count : all) begins.push_back(begins.back() + static_cast<int>(count));
        most_threads = static_cast<int>(*std::max_element(all.begin(), all.end()));
        if (tag(most_threads - 1, most_threads - 1, largest_tag) > by.largest_tag())
            throw Error(fmt::format("{} threads of a process", most_threads), fmt::format("this MPI tells {} messages apart", by.largest_tag()),
                        "start more processes, with fewer devices each");
    }

    int own() const { return processes.rank(); }
    int size() const { return begins.back(); }
    int process_of(int rank) const { return static_cast<int>(std::upper_bound(begins.begin(), begins.end(), rank) - begins.begin()) - 1; }
    int begin(int process) const { return begins[static_cast<std::size_t>(process)]; }
    int thread_of(int rank) const { return rank - begin(process_of(rank)); }
    // Of a message between threads of two processes.
    std::int64_t tag(int from_thread, int to_thread, int own_tag) const {
        return (static_cast<std::int64_t>(from_thread) * most_threads + to_thread) * (largest_tag + 1) + own_tag;
    }
};

class ThreadOfProcess : public Communicator {
  public:
    ThreadOfProcess(const Layout& layout, Communicator& threads) : layout_(layout), threads_(threads), messages_(layout.links.messages()) {}

    int rank() const override { return layout_.begin(layout_.own()) + threads_.rank(); }
    int size() const override { return layout_.size(); }
    int local_rank() const override { return layout_.before_on_host + threads_.rank(); }
    int local_size() const override { return layout_.on_host; }
    std::string transport() const override { return layout_.processes.transport() + " and threads"; }

    void begin_exchange(std::span<const Send> sends, std::span<const Receive> receives) override {
        check_exchange(*this, sends, receives);
        std::vector<Send> here, away;
        std::vector<Receive> from_here, from_away;
        const int own = threads_.rank();
        for (const Send& send : sends) {
            const int process = layout_.process_of(send.to), thread = layout_.thread_of(send.to);
            if (process == layout_.own())
                here.push_back({thread, send.tag, send.bytes});
            else
                away.push_back({process, static_cast<int>(layout_.tag(own, thread, send.tag)), send.bytes});
        }
        std::vector<Receive> awaited;
        for (const Receive& receive : receives) {
            const int process = layout_.process_of(receive.from), thread = layout_.thread_of(receive.from);
            if (process == layout_.own()) {
                from_here.push_back({thread, receive.tag, receive.bytes});
            } else {
                from_away.push_back({process, static_cast<int>(layout_.tag(thread, own, receive.tag)), receive.bytes});
                awaited.push_back(receive);
            }
        }
        threads_.begin_exchange(here, from_here);
        messages_->begin(away, from_away);
        awaited_ = std::move(awaited);
    }

    // MPI moves messages while somebody waits for some, so these are waited for first.
    void end_exchange() override {
        const std::vector<std::size_t> bytes = messages_->end();
        for (std::size_t n = 0; n < bytes.size(); ++n) check_length(*this, awaited_[n], bytes[n]);
        try {
            threads_.end_exchange();
        } catch (const Error& error) {  // it has the threads' numbers
            throw Error(fmt::format("threads of process {}: {}", layout_.own(), error.what()));
        }
    }

    void all_gather(std::span<const double> own, std::span<const int> counts, std::span<double> all) override {
        check_all_gather(*this, own.size(), counts, all.size());
        std::vector<int> of_processes;
        of_processes.reserve(static_cast<std::size_t>(layout_.processes.size()));
        for (int process = 0; process < layout_.processes.size(); ++process)
            of_processes.push_back(std::accumulate(counts.begin() + layout_.begin(process), counts.begin() + layout_.begin(process + 1), 0));
        std::vector<double> here(static_cast<std::size_t>(of_processes[static_cast<std::size_t>(layout_.own())]));
        threads_.all_gather(own, counts.subspan(static_cast<std::size_t>(layout_.begin(layout_.own())), static_cast<std::size_t>(threads_.size())),
                            here);
        if (threads_.rank() == 0) layout_.processes.all_gather(here, of_processes, all);
        threads_.broadcast(std::as_writable_bytes(all), 0);
    }

    void broadcast(std::span<std::byte> bytes, int root) override {
        const int process = layout_.process_of(root);
        if (process == layout_.own()) threads_.broadcast(bytes, layout_.thread_of(root));
        if (threads_.rank() == 0) layout_.processes.broadcast(bytes, process);
        threads_.broadcast(bytes, 0);
    }

    void barrier() override {
        threads_.barrier();
        if (threads_.rank() == 0) layout_.processes.barrier();
        threads_.barrier();
    }

  private:
    const Layout& layout_;
    Communicator& threads_;
    std::unique_ptr<ProcessMessages> messages_;
    std::vector<Receive> awaited_;
};

}  // namespace

void run_threads_of_processes(Communicator& processes, int threads, const std::function<void(Communicator&)>& work) {
    if (processes.size() == 1) return run_thread_ranks(threads, work);
    Processes* const links = processes.processes();
    if (links == nullptr) throw Error("threads of " + processes.transport(), "they have no ranks of their own", "start one, or several processes");
    const Layout layout(processes, *links, threads);
    const auto run = [&](Communicator& own) {
        ThreadOfProcess communicator(layout, own);
        // The other processes' threads wait for this one, and it may be for their devices that this
        // process's wait.
        const auto failed = [&](const std::string& reason) {
            links->abort(fmt::format("rank {} of {}: {}", communicator.rank(), communicator.size(), reason));
        };
        try {
            work(communicator);
        } catch (const std::exception& error) {
            failed(error.what());
        } catch (...) {
            failed("an exception of unknown type");
        }
    };
    run_thread_ranks(threads, run, layout.begin(layout.own()));
}

}  // namespace hone::inline v0_1
