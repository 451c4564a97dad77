// Reads a recording: checks its records and converts its ticks to time. The file is not trusted: invalid
// records are left out and counted, see intact.h.
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

/// Converts ticks to ns since 1970 by linear interpolation between clock pairs.
class Times {
 public:
  Times() = default;
  Times(Clock clock, std::vector<ClockPair> pairs);
  std::int64_t ns(std::uint64_t tick) const;
  /// ns since 1970 of a time of the monotonic clock.
  std::int64_t of_monotonic(std::int64_t ns) const;
  /// Uses `other`'s offset from the monotonic clock to 1970; both must use the same monotonic clock.
  void count_from(const Times& other);

 private:
  std::vector<ClockPair> pairs_;  // by tick
  std::vector<double> slopes_;    // ns per tick, from pair i on
};

struct Segment {
  std::uint32_t thread = 0;
  std::uint64_t torch_thread = 0;
  std::string thread_name;
  std::span<const char> records;  ///< all committed records
  std::vector<Stretch> damaged;   ///< parts of `records`, in order
};

class Recording {
 public:
  Recording() = default;
  /// `file` must outlive the result. An error if it is not a recording, or of another version.
  static Result<Recording> open(std::span<const char> file);

  std::uint32_t pid() const { return pid_; }
  std::uint32_t flags() const { return flags_; }
  /// Records for which there was no room.
  std::uint64_t dropped() const { return dropped_; }
  /// Whether that was because the disk was full.
  Limit limit() const { return limit_; }
  /// When an event first found no room: from then on threads may be incomplete. 0: never.
  std::int64_t full_ns() const { return full_; }
  /// Since when all events are kept, if later ones have replaced earlier ones; else 0.
  std::int64_t kept_from_ns() const { return kept_from_; }
  bool stopped() const { return stopped_; }
  /// Of a data loader's worker: its parent's pid (else 0), and its number.
  std::uint32_t parent() const { return parent_; }
  std::uint32_t worker() const { return worker_; }
  const std::string& host() const { return host_; }
  const Times& times() const { return times_; }
  std::int64_t begin_ns() const { return begin_; }
  /// Time of the stop; begin_ns() if it was not stopped.
  std::int64_t end_ns() const { return end_; }
  const std::vector<Segment>& segments() const { return segments_; }
  /// What was lost or could not be read, as sentences.
  const std::vector<std::string>& notes() const { return notes_; }
  /// The same by place in the file, without records of unknown kinds.
  const std::vector<ByteFault>& faults() const { return faults_; }
  /// Puts this recording on its parent's time line: one instant has the same time in both.
  void take_times_of(const Recording& parent);

 private:
  void lose(std::string sentence);
  void settle_times();

  std::uint32_t pid_ = 0, flags_ = 0, parent_ = 0, worker_ = 0;
  std::uint64_t dropped_ = 0;
  std::uint64_t begin_tick_ = 0, end_tick_ = 0;
  std::uint64_t full_tick_ = 0, kept_tick_ = 0;
  bool stopped_ = false;
  Limit limit_ = Limit::recording;
  std::string host_;
  Times times_;
  std::int64_t begin_ = 0, end_ = 0, full_ = 0, kept_from_ = 0;
  std::vector<Segment> segments_;
  std::vector<std::string> notes_;
  std::vector<ByteFault> faults_;
};

/// Names and signatures of a segment by id; "" for an unknown id.
class Texts {
 public:
  explicit Texts(const Segment& segment);
  std::string_view operator[](std::uint32_t id) const {
    return id < by_id_.size() ? by_id_[id] : std::string_view();
  }
  /// Likewise, but "" if it is no signature: a range's args are a text, and so is a module's path.
  std::string_view signature(std::uint32_t id) const {
    return id < is_signature_.size() && is_signature_[id] ? by_id_[id] : std::string_view();
  }
  /// The args of a range whose Op::signature this is: members of a JSON object; "" if there are none.
  std::string_view members(std::uint32_t id) const {
    return id < is_signature_.size() && !is_signature_[id] ? by_id_[id] : std::string_view();
  }
  /// The overload that belongs to an op's name.
  std::string_view overload(std::uint32_t id) const {
    return id < overloads_.size() ? overloads_[id] : std::string_view();
  }

 private:
  std::vector<std::string_view> by_id_, overloads_;
  std::vector<bool> is_signature_;
};

/// Calls `take` with each undamaged record of the segment, and with an op for each short op. False if the
/// segment has damaged records.
bool for_each_record(const Segment& segment,
                     const std::function<void(const Record&, std::span<const char>)>& take);

}  // namespace stepscope::record
