// How the profiler of a given year writes the same events.
#pragma once

#include <cstdint>

#include "make_trace/options.h"

namespace stepscope::make_trace {

struct Dialect {
  std::int64_t epoch_ns = 0;  ///< Unix time of true time 0
  std::int64_t base_ns = 0;   ///< baseTimeNanoseconds; 0: time stamps are absolute
  bool whole_us = false;
  bool string_tids = false;  ///< host tids "123", device tids "stream 7"
  bool old_args = false;     ///< lower-case `external id` on runtime and device records, no Ev Idx
  bool device_annotations = false;
  bool forward_backward = false;  ///< fwdbwd flows
  bool record_function = false;   ///< Record function id
  bool comm_metadata = false;     ///< collective arguments, on ops and copied to kernels
  const char* op = "cpu_op";
  const char* annotation = "user_annotation";
  const char* kernel = "kernel";
  const char* copy = "gpu_memcpy";
  const char* fill = "gpu_memset";
  const char* runtime = nullptr;  ///< null: the vendor's spelling
  const char* flow_category = "ac2g";
  const char* flow_name = "ac2g";
};

inline Dialect dialect_of(DialectKind kind) {
  Dialect d;
  switch (kind) {
    case DialectKind::ns:
      d.base_ns = 1'767'189'312'000'000'000;
      d.epoch_ns = d.base_ns + 3'000'000'000'000'000;
      d.device_annotations = d.forward_backward = d.record_function = d.comm_metadata = true;
      break;
    case DialectKind::us:
      d.epoch_ns = 1'669'783'687'000'000'000;
      d.whole_us = d.forward_backward = true;
      break;
    case DialectKind::y2021:
      d.epoch_ns = 1'623'142'623'000'000'000;
      d.whole_us = d.string_tids = d.old_args = true;
      d.op = d.annotation = "Operator";
      d.kernel = "Kernel";
      d.copy = "Memcpy";
      d.fill = "Memset";
      d.runtime = "Runtime";
      d.flow_category = "async";
      d.flow_name = "launch";
      break;
  }
  return d;
}

}  // namespace stepscope::make_trace
