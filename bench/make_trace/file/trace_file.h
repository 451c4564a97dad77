// One rank's file: the text before the events, the events as they come, the text after them.
#pragma once

#include <cstdint>
#include <string>

#include "make_trace/file/event_writer.h"
#include "make_trace/file/sink.h"
#include "make_trace/file/text.h"
#include "make_trace/model/program.h"
#include "make_trace/options.h"
#include "make_trace/run/records.h"

namespace stepscope::make_trace {

/// The path of rank `rank`'s file: `options.out` itself, or a file in that directory.
std::string trace_path(const Options& options, int rank);

/// True when `options.out` names one file.
bool writes_one_file(const Options& options);

class TraceFile {
 public:
  TraceFile(const Options& options, const Program& program, int rank);

  void begin(std::int64_t at);
  void step(const StepRows& rows);
  void end(const HostRow& drain);

  std::int64_t events() const { return writer_.events(); }
  std::int64_t bytes() const { return sink_.written(); }

 private:
  void header();
  void device_properties();
  void distributed_info();
  void flush(std::size_t above);

  const Options& o_;
  Identity who_;
  Text text_;
  Sink sink_;
  EventWriter writer_;
  std::int64_t window_start_ = 0;
};

}  // namespace stepscope::make_trace
