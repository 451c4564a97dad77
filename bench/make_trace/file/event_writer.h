// Turns the rows of one rank into the text of trace events: common fields, arguments, flows.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "make_trace/file/dialect.h"
#include "make_trace/file/text.h"
#include "make_trace/file/vendor.h"
#include "make_trace/model/program.h"
#include "make_trace/options.h"
#include "make_trace/run/clock.h"
#include "make_trace/run/records.h"

namespace stepscope::make_trace {

/// A rank's identity in its trace.
struct Identity {
  int rank = 0;
  int device = 0;
  int pid = 0;
  int backward_tid = 0;
  std::string host;
};
Identity identity_of(const Options& options, int rank);

class EventWriter {
 public:
  /// Appends to `out`; all references must outlive the writer.
  EventWriter(const Options& options, const Program& program, int rank, Text& out);

  void rows(const StepRows& rows);
  void drain(const HostRow& row);
  void program_frame(std::int64_t start, std::int64_t end);  ///< the Python call around everything
  void metadata(std::int64_t at);
  void recording(std::int64_t start, std::int64_t end);  ///< the span of the window and its two marks

  std::int64_t events() const { return events_; }

 private:
  bool left_out(std::uint32_t correlation, double share, std::uint64_t salt) const;
  void begin_event();
  void head(char phase, std::string_view category, std::string_view name);
  void host_place(std::uint8_t thread);
  void device_place(int stream);
  void when(std::int64_t start, std::int64_t end);
  void stamp(std::int64_t at);

  void span(const HostRow& row, int step);
  void span_args(const HostRow& row, const SpanInfo& info);
  void python_call(const HostRow& row, const SpanInfo& info);
  void call(const HostRow& row);
  void device(const DeviceRow& row);
  void device_args(const DeviceRow& row);
  void memory(const MemoryRow& row);
  void device_annotations(const StepRows& rows);
  void collective_ids(std::int64_t sequence, std::uint64_t salt);
  void process(std::int64_t at, std::string_view pid, std::string_view name, std::string_view label,
               std::int64_t sort_index);
  void thread(std::int64_t at, std::string_view place, std::string_view name, std::int64_t sort_index);

  std::string kernel_args(const WorkInfo& work) const;
  std::string call_args(const WorkInfo& work) const;
  int stream_id(int stream) const;

  const Options& o_;
  const Program& program_;
  const Vendor& v_;
  const Hardware& hw_;
  Dialect d_;
  Identity who_;
  Clock clock_;
  Text& out_;
  std::int64_t events_ = 0;
  std::vector<std::string> kernel_args_;  ///< per work: args that are the same in every launch
  std::vector<std::string> call_args_;    ///< per work: its args on the launching call
  std::vector<bool> flow_source_;         ///< per span: whether it is its node's last forward op
};

}  // namespace stepscope::make_trace
