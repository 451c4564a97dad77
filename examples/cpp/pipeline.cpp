// Two threads and a queue: what the consumer waits for shows in the recording.
//
//   pipeline run.stepscope && stepscope report run.stepscope
#include <stepscope/collect.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

namespace {

constexpr int kBatches = 5;

using Batch = std::vector<char>;

class Queue {
 public:
  void put(Batch batch) {
    const std::scoped_lock lock(mutex_);
    waiting_.push_back(std::move(batch));
    stepscope::counter("queue", static_cast<double>(waiting_.size()));
    changed_.notify_one();
  }
  Batch take() {
    const stepscope::Scope scope("wait for a batch");
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !waiting_.empty(); });
    Batch batch = std::move(waiting_.front());
    waiting_.pop_front();
    stepscope::counter("queue", static_cast<double>(waiting_.size()));
    return batch;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Batch> waiting_;
};

void load(Queue& queue) {
  for (int i = 0; i < kBatches; ++i) {
    const stepscope::Scope scope("load");
    std::this_thread::sleep_for(std::chrono::milliseconds(8));
    Batch batch(1 << 20);
    stepscope::allocated(batch.data(), static_cast<std::int64_t>(batch.size()));
    queue.put(std::move(batch));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: pipeline FILE.stepscope\n", stderr);
    return 2;
  }
  const stepscope::Recording recording(argv[1]);
  Queue queue;
  std::thread loader(load, std::ref(queue));
  for (int i = 0; i < kBatches; ++i) {
    const stepscope::Step step;
    const Batch batch = queue.take();
    const stepscope::Scope scope("compute");
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    stepscope::freed(batch.data(), static_cast<std::int64_t>(batch.size()));
  }
  loader.join();
}
