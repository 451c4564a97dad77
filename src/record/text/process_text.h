// The events of one process, written as Kineto's JSON.
#pragma once

#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "record/device/text.h"
#include "record/events/forward_links.h"
#include "record/recording.h"
#include "record/text/event_text.h"
#include "record/text/kineto_text.h"
#include "record/text/python_calls.h"

namespace stepscope::record {

/// An end of an arrow between processes.
struct FlowEnd {
  std::uint64_t id;
  bool ends;
  std::int64_t ns;
  std::uint32_t pid, thread;
};

/// The output that all processes of a document share.
struct Document {
  EventText text;
  Written written;
  std::int64_t arrows = 0;  ///< number of the last arrow
  std::int64_t ops = 0;     ///< External id of the last op
  OpNames op_names = OpNames::with_overloads;
  std::vector<FlowEnd> flows;
};

class ProcessText {
 public:
  /// The recording and the document must outlive this object.
  ProcessText(const Recording& recording, Document& document)
      : recording_(recording), document_(document), devices_(recording) {}

  const DeviceText& devices() const { return devices_; }
  /// Leaves out ops that are not entirely between these times.
  void limit(std::int64_t begin_ns, std::int64_t end_ns) {
    first_ns_ = begin_ns;
    last_ns_ = end_ns;
  }
  void events();
  void names(std::string_view process, std::string_view label);

 private:
  void begin_event(std::string_view phase, std::string_view category, std::string_view name,
                   std::uint32_t thread, std::int64_t ns);
  void events(std::size_t segment);
  void ops_by_begin();
  struct WrittenOp;
  void op(std::size_t segment, std::span<const char> bytes);
  void write_op(const WrittenOp& op);
  void call_of(const Segment& segment, const Texts& texts, const Op& op, std::span<const char> bytes);
  void call(std::uint32_t thread, const Op& op, std::string_view name, std::string_view path);
  void write_call(const PythonCall& call);
  void sample(const Texts& texts, std::span<const char> bytes);
  void sequence_of(WrittenOp& told, const Op& op, std::span<const char> bytes);
  void add_up_memory();
  void memory(const Segment& segment, std::span<const char> bytes);
  void add_call(PythonCall call);
  void sampled_call(const SampledCall& call);
  void counter(const Segment& segment, const Texts& texts, std::span<const char> bytes);
  void flow(const Segment& segment, std::span<const char> bytes);
  /// Keeps the flow ends that the op is the innermost around, unless the op itself is left out.
  void flows_in(const WrittenOp& op, bool is_written);
  void links();
  EventArgs about(std::string_view what, std::uint32_t thread);

  struct WrittenOp {
    std::int64_t begin_ns, end_ns;
    std::int64_t number;  ///< among the ops of the recording, from 1
    std::int64_t sequence = -1;
    std::uint64_t forward_thread = 0;
    std::uint32_t segment;  ///< index
    std::uint32_t name, signature;
    std::uint8_t scope;
    bool may_contain_calls;
  };
  /// A backward op.
  struct Backward {
    std::uint64_t begin;  ///< ticks
    std::int64_t sequence;
    std::uint64_t forward_thread;
  };
  struct Other {
    std::uint32_t thread;
    Op op;
    std::string_view name, path;
  };

  const Recording& recording_;
  Document& document_;
  std::string& out_ = document_.text.out;
  Written& written_ = document_.written;
  DeviceText devices_;
  std::int64_t first_ns_ = std::numeric_limits<std::int64_t>::min();
  std::int64_t last_ns_ = std::numeric_limits<std::int64_t>::max();
  std::vector<Texts> texts_;                                  // of the segments so far
  std::vector<WrittenOp> ops_;                                // those still to be written
  std::unordered_map<std::string_view, std::string> inputs_;  // by signature
  std::vector<SequencedEvent> sequenced_;
  std::unordered_map<std::uint32_t, Backward> ran_last_;  // by thread
  std::vector<Other> others_;
  std::unordered_map<std::uint32_t, std::vector<FlowEnd>> open_flows_;  // by thread: no op around them ended
  std::int64_t numbered_ = 0;         // ops of the recording so far, including those left out
  std::vector<std::int64_t> totals_;  // after each record of main memory, in file order
  std::size_t next_total_ = 0;
  PythonIds python_ids_;
  OuterFirst calls_{[this](const PythonCall& call) { write_call(call); }};
  SampledCalls sampled_{[this](const SampledCall& call) { sampled_call(call); }};
  std::set<std::uint32_t> sampled_threads_;
};

}  // namespace stepscope::record
