// PyTorch's execution traces: which op called which, and with what inputs. They have no times, so they are no
// rank's recording; `link_execution_trace` gives what they tell to the ops of one.
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

/// An op or a range; texts are ids of the trace's pool, empty where the file says nothing.
struct ExecutionNode {
  std::int64_t id = 0, parent = 0;
  std::int64_t record_id = 0;  ///< rf_id: the `Record function id` of its event; 0 of what is no op
  trace::StringId name = trace::kEmptyString, schema = trace::kEmptyString;
  trace::StringId dims = trace::kEmptyString, types = trace::kEmptyString, strides = trace::kEmptyString,
                  concrete = trace::kEmptyString;  ///< JSON lists, as in Kineto's files; empty without inputs
  trace::StringId out_dims = trace::kEmptyString, out_types = trace::kEmptyString;
};

struct ExecutionTrace {
  std::string path;
  std::int64_t pid = -1;  ///< -1 when the file does not say
  std::vector<ExecutionNode> nodes;
  std::int64_t without_outputs = 0;  ///< nodes that have no such key
  trace::StringPool strings;
  trace::Reading reading;           ///< its events are the nodes
  std::vector<std::string> faults;  ///< sentences: what nodes contradict
};

/// Whether a file that begins with `head` is one.
bool is_execution_trace(std::string_view head);

/// Why an execution trace cannot be opened alone.
Error execution_trace_alone(const std::string& path);

/// Reads all of it, and says of the nodes what they contradict. An Error when it holds none.
Result<ExecutionTrace> parse_execution_trace(const std::string& path, ByteSource& source,
                                             const BlockSizes& blocks = {});

}  // namespace stepscope::read
