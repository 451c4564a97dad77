#include "write/perfetto.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "report/utf8.h"
#include "write/perfetto_flows.h"
#include "write/perfetto_packets.h"
#include "write/protobuf.h"

namespace stepscope::write {
namespace {

using namespace fields;
using trace::ArgField;
using trace::ArgType;
using trace::Kind;
using trace::Row;
using trace::StringId;
using Texts = PerfettoPackets::Texts;

constexpr std::uint64_t kOfSequence = std::uint64_t{1} << 40;

class RankWriter {
 public:
  RankWriter(const trace::Trace& trace, const trace::Rank& rank, const PerfettoOptions& options,
             const std::function<bool(std::string_view)>& put)
      : trace_(trace),
        rank_(rank),
        options_(options),
        packets_(trace.strings, options.sequence, put),
        next_uuid_(options.sequence * kOfSequence) {}

  PerfettoCount write() {
    if (rank_.events.size() == 0) return count_;
    const auto first = std::min_element(rank_.events.start.begin(), rank_.events.start.end());
    packets_.clocks(options_.time(*first));
    flows_ = flows_of(rank_, options_.sequence * kOfSequence, options_.time);
    count_.flows = std::ssize(flows_.ends);
    count_.loose_flows = flows_.loose;
    for (const trace::Track& track : rank_.tracks)
      if (track.begin != track.end && !packets_.closed()) write_track(track);
    packets_.flush();
    return count_;
  }

 private:
  /// One track of the file, on which slices nest.
  struct Stack {
    std::uint64_t uuid;
    std::vector<std::int64_t> ends;  ///< ends of the open slices, innermost last
  };

  std::uint64_t process_of(const PerfettoLane& lane) {
    const auto [found, added] = processes_.try_emplace(lane.pid, next_uuid_);
    if (!added) return found->second;
    std::string process, descriptor;
    put_integer(Process::pid, lane.pid, process);
    put_integer(Process::sort_index, lane.sort, process);
    put_bytes(Process::name, report::valid_utf8(lane.process), process);
    put_integer(TrackDescriptor::uuid, static_cast<std::int64_t>(next_uuid_++), descriptor);
    put_bytes(TrackDescriptor::process, process, descriptor);
    put_integer(TrackDescriptor::child_order, TrackDescriptor::explicit_order, descriptor);
    packets_.describe(descriptor);
    return found->second;
  }

  static std::string title(const trace::Track& track, const PerfettoLane& lane) {
    if (track.side == trace::Track::Side::host)
      return track.name.empty() ? fmt::format("thread {}", track.tid) : track.name;
    return track.stream >= 0 ? fmt::format("stream {}", track.stream) : fmt::format("stream {}", lane.tid);
  }

  /// Writes the `part`-th track of a thread or stream. Slices that do not nest go to further parts.
  std::uint64_t describe(const trace::Track& track, std::size_t part) {
    const PerfettoLane lane = options_.lane(track);
    const std::uint64_t process = process_of(lane), uuid = next_uuid_++;
    std::string descriptor;
    put_integer(TrackDescriptor::uuid, static_cast<std::int64_t>(uuid), descriptor);
    put_integer(TrackDescriptor::parent, static_cast<std::int64_t>(process), descriptor);
    const std::string name = report::valid_utf8(title(track, lane));
    if (track.side == trace::Track::Side::host && part == 0) {
      std::string thread;
      put_integer(Thread::pid, lane.pid, thread);
      put_integer(Thread::tid, lane.tid, thread);
      put_bytes(Thread::name, name, thread);
      put_bytes(TrackDescriptor::thread, thread, descriptor);
    } else {
      put_bytes(TrackDescriptor::name, part == 0 ? name : fmt::format("{} ({})", name, part + 1), descriptor);
      put_integer(TrackDescriptor::rank_among_siblings, order_++, descriptor);
      put_integer(TrackDescriptor::sibling_merge, TrackDescriptor::merge_none, descriptor);
    }
    packets_.describe(descriptor);
    return uuid;
  }

  std::uint64_t counter_track(const trace::Track& track, StringId name, StringId key) {
    const std::uint64_t process = process_of(options_.lane(track));
    const auto [found, added] = counters_.try_emplace({&track, name, key}, next_uuid_);
    if (!added) return found->second;
    std::string descriptor;
    put_integer(TrackDescriptor::uuid, static_cast<std::int64_t>(next_uuid_++), descriptor);
    put_integer(TrackDescriptor::parent, static_cast<std::int64_t>(process), descriptor);
    put_bytes(TrackDescriptor::name,
              report::valid_utf8(fmt::format("{} {}", trace_.text(name), trace_.text(key))), descriptor);
    put_bytes(TrackDescriptor::counter, "", descriptor);
    packets_.describe(descriptor);
    return found->second;
  }

  void write_track(const trace::Track& track) {
    std::vector<Stack> stacks;
    for (Row row = track.begin; row < track.end && !packets_.closed(); ++row) {
      const Kind kind = rank_.events.kind[row];
      if (kind == Kind::counter) {
        write_counter(track, row);
        continue;
      }
      const std::int64_t start = options_.time(rank_.events.start[row]);
      const bool instant = kind == Kind::instant || kind == Kind::memory;
      const std::int64_t end = instant ? start : options_.time(rank_.events.end[row]);
      Stack& stack = place(track, start, end, stacks);
      write_row(stack.uuid, row, start, instant ? TrackEvent::instant : TrackEvent::begin);
      ++(instant ? count_.instants : count_.slices);
      if (!instant) stack.ends.push_back(end);
    }
    for (Stack& stack : stacks) close(stack, std::numeric_limits<std::int64_t>::max());
  }

  /// The first of the track's parts in which a slice from `start` to `end` nests.
  Stack& place(const trace::Track& track, std::int64_t start, std::int64_t end, std::vector<Stack>& stacks) {
    for (Stack& stack : stacks) {
      close(stack, start);
      if (stack.ends.empty() || end <= stack.ends.back()) return stack;
    }
    stacks.push_back({describe(track, stacks.size()), {}});
    return stacks.back();
  }

  /// Closes the slices that end at or before `time`.
  void close(Stack& stack, std::int64_t time) {
    while (!stack.ends.empty() && stack.ends.back() <= time) {
      message_.clear();
      put_integer(TrackEvent::type, TrackEvent::end, message_);
      put_integer(TrackEvent::track, static_cast<std::int64_t>(stack.uuid), message_);
      packets_.event(stack.ends.back(), message_);
      stack.ends.pop_back();
    }
  }

  void write_row(std::uint64_t uuid, Row row, std::int64_t at, int type) {
    const trace::EventTable& e = rank_.events;
    message_.clear();
    packets_.begin_event();
    const std::uint64_t name = packets_.number_of(Texts::event_name, e.name[row]);
    if (e.category[row] != trace::kEmptyString)
      put_integer(TrackEvent::category,
                  static_cast<std::int64_t>(packets_.number_of(Texts::category, e.category[row])), message_);
    put_args(row);
    put_integer(TrackEvent::type, type, message_);
    put_integer(TrackEvent::name, static_cast<std::int64_t>(name), message_);
    put_integer(TrackEvent::track, static_cast<std::int64_t>(uuid), message_);
    if (type == TrackEvent::begin) put_flows(row);
    packets_.event(at, message_);
  }

  void put_args(Row row) {
    trace::for_each_arg(trace_, rank_, row, [&](const ArgField& field, std::int64_t value) {
      annotation_.clear();
      put_integer(Annotation::name,
                  static_cast<std::int64_t>(packets_.number_of(Texts::annotation_name, field.key)),
                  annotation_);
      switch (field.type) {
        case ArgType::integer:
          put_integer(Annotation::integer, value + shift_of(field.key, value), annotation_);
          break;
        case ArgType::real:
          put_double(Annotation::real, trace::as_real(value), annotation_);
          break;
        case ArgType::text:
        case ArgType::raw:
          put_integer(Annotation::text,
                      static_cast<std::int64_t>(
                          packets_.number_of(Texts::annotation_text, static_cast<StringId>(value))),
                      annotation_);
      }
      put_bytes(TrackEvent::annotation, annotation_, message_);
    });
  }

  std::int64_t shift_of(StringId key, std::int64_t value) {
    if (value == 0 || value == -1 || value == 0xFFFFFFFF) return 0;
    const auto [found, added] = shifts_.try_emplace(key, 0);
    if (added) found->second = options_.id_shift(trace_.text(key));
    return found->second;
  }

  void write_counter(const trace::Track& track, Row row) {
    trace::for_each_arg(trace_, rank_, row, [&](const ArgField& field, std::int64_t value) {
      if (field.type != ArgType::integer && field.type != ArgType::real) {
        ++count_.not_numbers;
        return;
      }
      const std::uint64_t uuid = counter_track(track, rank_.events.name[row], field.key);
      message_.clear();
      put_integer(TrackEvent::type, TrackEvent::counter, message_);
      put_integer(TrackEvent::track, static_cast<std::int64_t>(uuid), message_);
      if (field.type == ArgType::integer)
        put_integer(TrackEvent::counter_integer, value, message_);
      else
        put_double(TrackEvent::counter_double, trace::as_real(value), message_);
      packets_.event(options_.time(rank_.events.start[row]), message_);
      ++count_.counters;
    });
  }

  void put_flows(Row row) {
    auto at = std::lower_bound(flows_.ends.begin(), flows_.ends.end(), row,
                               [](const FlowEnd& flow, Row r) { return flow.row < r; });
    for (; at != flows_.ends.end() && at->row == row; ++at)
      put_fixed(at->last ? TrackEvent::flow_end : TrackEvent::flow, at->id, message_);
  }

  const trace::Trace& trace_;
  const trace::Rank& rank_;
  const PerfettoOptions& options_;
  PerfettoPackets packets_;
  std::uint64_t next_uuid_;
  std::int64_t order_ = 0;
  std::map<std::int64_t, std::uint64_t> processes_;  // by pid
  std::map<std::tuple<const trace::Track*, StringId, StringId>, std::uint64_t> counters_;
  std::map<StringId, std::int64_t> shifts_;
  Flows flows_;
  std::string message_, annotation_;
  PerfettoCount count_;
};

}  // namespace

PerfettoCount perfetto(const trace::Trace& trace, const trace::Rank& rank, const PerfettoOptions& options,
                       const std::function<bool(std::string_view)>& put) {
  return RankWriter(trace, rank, options, put).write();
}

}  // namespace stepscope::write
