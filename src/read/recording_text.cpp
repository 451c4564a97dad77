#include "read/recording_text.h"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "read/darshan/darshan_text.h"
#include "read/strace/strace_text.h"
#include "record/text/kineto_text.h"
#include "record/text/worker_files.h"

namespace stepscope::read {
namespace {

/// Hands pieces from the writing thread to the reading thread, one at a time.
class Handover {
 public:
  /// False when the reader has closed.
  bool give(std::string_view piece) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return piece_.empty() || closed_; });
    if (closed_) return false;
    piece_ = piece;
    changed_.notify_all();
    return true;
  }
  void end() {
    const std::scoped_lock lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }
  /// "" at the end.
  std::string take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !piece_.empty() || ended_; });
    std::string piece = std::exchange(piece_, "");
    changed_.notify_all();
    return piece;
  }
  void close() {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string piece_;
  bool ended_ = false, closed_ = false;
};

class RecordingText : public ByteSource {
 public:
  RecordingText(std::vector<char> bytes, record::Recording recording, record::Workers workers, bool again)
      : bytes_(std::move(bytes)), recording_(std::move(recording)), workers_(std::move(workers)) {
    stored_size = static_cast<std::int64_t>(bytes_.size());
    reopens = again;
    for (const ByteFault& fault : recording_.faults()) add_fault(fault.offset, fault.reason, fault.bytes);
    for (const std::string& note : workers_.notes()) add_fault(0, note);
    writer_ = std::thread([this] {
      record::write_kineto(
          recording_, [this](std::string_view piece) { return handover_.give(piece); }, {},
          workers_.recordings(), record::OpNames::plain);
      handover_.end();
    });
  }
  RecordingText(const RecordingText&) = delete;
  RecordingText& operator=(const RecordingText&) = delete;
  ~RecordingText() override {
    handover_.close();
    writer_.join();
  }

  std::size_t read(char* out, std::size_t size) override {
    if (at_ == piece_.size()) {
      piece_ = handover_.take();
      at_ = 0;
    }
    const std::size_t taken = std::min(size, piece_.size() - at_);
    std::memcpy(out, piece_.data() + at_, taken);
    at_ += taken;
    return taken;
  }
  std::int64_t position() const override { return stored_size; }

 private:
  std::vector<char> bytes_;  // the recording points into it
  record::Recording recording_;
  record::Workers workers_;
  Handover handover_;
  std::thread writer_;
  std::string piece_;
  std::size_t at_ = 0;
};

}  // namespace

Result<std::unique_ptr<ByteSource>> recording_text(std::unique_ptr<ByteSource> recording,
                                                   const std::string& path) {
  constexpr std::size_t kPiece = std::size_t{4} << 20, kMax = std::size_t{8} << 30;
  std::vector<char> bytes;
  for (std::size_t end = 0; end < kMax;) {
    bytes.resize(end + kPiece);
    const std::size_t read = recording->read(bytes.data() + end, kPiece);
    end += read;
    bytes.resize(end);
    if (read == 0) break;
  }
  auto opened = record::Recording::open(bytes);
  if (!opened) return Error{opened.error().message, path, opened.error().byte};
  record::Workers workers = path == "-" ? record::Workers{} : record::workers_of(path, *opened);
  return std::unique_ptr<ByteSource>(std::make_unique<RecordingText>(std::move(bytes), std::move(*opened),
                                                                     std::move(workers), recording->reopens));
}

bool lists_calls(std::string_view head) { return is_strace(head) || is_darshan(head); }

Result<std::unique_ptr<ByteSource>> as_text(std::unique_ptr<ByteSource> file, std::string_view head,
                                            const std::string& path) {
  if (record::is_recording(head)) return recording_text(std::move(file), path);
  if (is_strace(head)) return strace_text(std::move(file));
  if (is_darshan(head)) return darshan_text(std::move(file), path);
  return file;
}

Result<std::unique_ptr<ByteSource>> open_as_text(const std::string& path) {
  constexpr std::size_t kPeeked = std::size_t{1} << 16;
  auto bytes = open_bytes(path);
  if (!bytes) return bytes;
  const std::string head = peek(*bytes, kPeeked);
  return as_text(std::move(*bytes), head, path);
}

}  // namespace stepscope::read
