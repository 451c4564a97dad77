// A recording, read: its records checked, its ticks turned into time. The file is not believed: what does not
// fit is left out and counted, see intact.h.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_source.h"
#include "base/result.h"
#include "record/format.h"
#include "record/intact.h"

namespace stepscope::record {

bool is_recording(std::span<const char> first_bytes);

/// Ticks to ns since 1970, by lines between instants that were read on both clocks.
class Times {
 public:
  Times() = default;
  Times(Clock clock, std::vector<ClockPair> pairs);
  std::int64_t ns(std::uint64_t tick) const;
  /// Of an instant of the monotonic clock.
  std::int64_t of_monotonic(std::int64_t ns) const;
  /// The monotonic clock is the same, and is since 1970 what it is to `other`.
  void count_from(const Times& other);

 private:
  std::vector<ClockPair> pairs_;  // by tick
  std::vector<double> slopes_;    // from pair i on, ns per tick
};

struct Segment {
  std::uint32_t thread = 0;
  std::uint64_t torch_thread = 0;
  std::string thread_name;
  std::span<const char> records;  ///< all that were committed
  std::vector<Stretch> damaged;   ///< of them, in order
};

class Recording {
 public:
  Recording() = default;
  /// `file` outlives it. An error where it is no recording, or of another version.
  static Result<Recording> open(std::span<const char> file);

  std::uint32_t pid() const { return pid_; }
  std::uint32_t flags() const { return flags_; }
  std::uint64_t dropped() const { return dropped_; }
  bool stopped() const { return stopped_; }
  /// Of a data loader's worker: the process that it works for, else 0; and its number.
  std::uint32_t parent() const { return parent_; }
  std::uint32_t worker() const { return worker_; }
  const std::string& host() const { return host_; }
  const Times& times() const { return times_; }
  std::int64_t begin_ns() const { return begin_; }
  /// Of the stop, or of the last record.
  std::int64_t end_ns() const { return end_; }
  const std::vector<Segment>& segments() const { return segments_; }
  /// What was lost or could not be read, as sentences.
  const std::vector<std::string>& notes() const { return notes_; }
  /// The same by the places in the file; what is only not known to this program is no fault.
  const std::vector<ByteFault>& faults() const { return faults_; }
  /// An instant of this recording and of its parent's gets the same time.
  void take_times_of(const Recording& parent);

 private:
  void lose(std::string sentence);
  void settle_times();

  std::uint32_t pid_ = 0, flags_ = 0, parent_ = 0, worker_ = 0;
  std::uint64_t dropped_ = 0;
  std::uint64_t begin_tick_ = 0, end_tick_ = 0;
  bool stopped_ = false;
  std::string host_;
  Times times_;
  std::int64_t begin_ = 0, end_ = 0;
  std::vector<Segment> segments_;
  std::vector<std::string> notes_;
  std::vector<ByteFault> faults_;
};

/// Names and signatures of a segment by id; what is not there is "".
class Texts {
 public:
  explicit Texts(const Segment& segment);
  std::string_view operator[](std::uint32_t id) const {
    return id < by_id_.size() ? by_id_[id] : std::string_view();
  }
  /// Of an op's name: which overload it is of.
  std::string_view overload(std::uint32_t id) const {
    return id < overloads_.size() ? overloads_[id] : std::string_view();
  }

 private:
  std::vector<std::string_view> by_id_, overloads_;
};

/// Calls `take` with each whole record of the segment; true unless there are others.
bool for_each_record(const Segment& segment,
                     const std::function<void(const Record&, std::span<const char>)>& take);

}  // namespace stepscope::record
