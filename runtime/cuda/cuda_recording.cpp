#include "runtime/cuda/cuda_recording.hpp"

#include <utility>

namespace hone::inline v0_1::cuda {
namespace {

class CudaRecording : public Recording {
  public:
    // Of a graph, which stays the caller's.
    CudaRecording(std::shared_ptr<const Session> session, GraphHandle* graph) : session_(std::move(session)) {
        const Current current(*session_);
        current.check();
        session_->check(session_->driver().graph_instantiate(&executable_, graph, 0), "making recorded launches ready");
    }
    ~CudaRecording() override {
        const Current current(*session_);
        if (current.ok()) session_->driver().graph_executable_destroy(executable_);
    }
    CudaRecording(const CudaRecording&) = delete;
    CudaRecording& operator=(const CudaRecording&) = delete;

    void launch(Stream stream) const override {
        const Current current(*session_);
        current.check();
        session_->check(session_->driver().graph_launch(executable_, handle_of(stream)), "queuing recorded launches");
    }

  private:
    std::shared_ptr<const Session> session_;
    GraphExecutable* executable_ = nullptr;
};

// A stream of its own: the default one cannot be recorded.
class StreamCapture {
  public:
    explicit StreamCapture(const Session& session) : session_(session) {
        const Current current(session_);
        current.check();
        session_.check(driver().stream_create(&stream_, stream_non_blocking, highest_priority), "making a stream");
        if (const Result result = driver().stream_begin_capture(stream_, capture_relaxed); result != success) {
            driver().stream_destroy(stream_);
            session_.fail(result, "recording launches");
        }
    }
    ~StreamCapture() {
        const Current current(session_);
        if (!current.ok()) return;
        if (graph_ == nullptr) driver().stream_end_capture(stream_, &graph_);  // `work` threw
        if (graph_ != nullptr) driver().graph_destroy(graph_);
        driver().stream_destroy(stream_);
    }
    StreamCapture(const StreamCapture&) = delete;
    StreamCapture& operator=(const StreamCapture&) = delete;

    Stream stream() const { return {stream_}; }
    GraphHandle* end() {
        const Current current(session_);
        current.check();
        session_.check(driver().stream_end_capture(stream_, &graph_), "ending a record of launches");
        return graph_;
    }

  private:
    const Driver& driver() const { return session_.driver(); }

    const Session& session_;
    StreamHandle* stream_ = nullptr;
    GraphHandle* graph_ = nullptr;
};

}  // namespace

std::unique_ptr<Recording> record(std::shared_ptr<const Session> session, const std::function<void(Stream)>& work) {
    StreamCapture capture(*session);
    work(capture.stream());
    GraphHandle* const graph = capture.end();
    return std::make_unique<CudaRecording>(std::move(session), graph);
}

}  // namespace hone::inline v0_1::cuda
