// PyTorch's execution traces: which op called which, and with what inputs. They have no times, so they are no
// rank's recording; `link_execution_trace` adds their data to a rank's ops.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_source.h"
#include "base/result.h"
#include "read/blocks.h"
#include "trace/trace.h"

namespace stepscope::read {

/// An op or a range. Texts are ids of the trace's pool, empty if the file has none.
struct ExecutionNode {
  std::int64_t id = 0, parent = 0;
  std::int64_t record_id = 0;  ///< rf_id: the `Record function id` of its event; 0 if not an op
  trace::StringId name = trace::kEmptyString, schema = trace::kEmptyString;
  trace::StringId dims = trace::kEmptyString, types = trace::kEmptyString, strides = trace::kEmptyString,
                  concrete = trace::kEmptyString;  ///< JSON lists, as in Kineto's files; empty without inputs
  trace::StringId out_dims = trace::kEmptyString, out_types = trace::kEmptyString;
};

struct ExecutionTrace {
  std::string path;
  std::int64_t pid = -1;  ///< -1 if the file has none
  std::vector<ExecutionNode> nodes;
  std::int64_t without_outputs = 0;  ///< nodes without a key for outputs
  trace::StringPool strings;
  trace::Reading reading;           ///< its events are the nodes
  std::vector<std::string> faults;  ///< sentences about inconsistent nodes
};

/// Whether a file that begins with `head` is an execution trace.
bool is_execution_trace(std::string_view head);

/// Why an execution trace cannot be opened alone.
Error execution_trace_alone(const std::string& path);

/// Reads the whole trace and checks its nodes for consistency. An Error when it has no nodes.
Result<ExecutionTrace> parse_execution_trace(const std::string& path, ByteSource& source,
                                             const BlockSizes& blocks = {});

}  // namespace stepscope::read
