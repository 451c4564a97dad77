// Hostile execution traces with a small recording: the result does not depend on how the text is cut, and the
// Trace that they are linked to keeps its invariants.
#include <cstdint>
#include <string_view>

#include "read/execution_trace/execution_trace.h"
#include "read/execution_trace/link_execution_trace.h"
#include "support/check_trace.h"
#include "support/open_text.h"

namespace {

constexpr std::string_view kRecording = R"({"traceEvents":[
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":7,"tid":1,"ts":1,"dur":9,"args":{"Record function id":1}},
{"ph":"X","cat":"cpu_op","name":"aten::add","pid":7,"tid":1,"ts":20,"dur":9,"args":{"External id":2}},
{"ph":"X","cat":"user_annotation","name":"a","pid":7,"tid":1,"ts":30,"dur":9,"args":{"Record function id":3}}]})";

std::string linked(std::string_view text, const stepscope::read::BlockSizes& blocks) {
  using namespace stepscope;
  const auto source = memory_bytes(text.data(), text.size());
  auto nodes = read::parse_execution_trace("text", *source, blocks);
  if (!nodes) return nodes.error().text();
  const std::string read = test::dump_reading(nodes->reading);
  auto trace = test::open_text(kRecording);
  CHECK(trace.ok());
  read::link_execution_trace(*trace, std::move(*nodes));
  test::check_trace(*trace);
  test::check_analyses(*trace);
  return read + test::dump(*trace);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  CHECK(linked(text, {1 << 14, 1 << 20}) == linked(text, {97, 1 << 20}));
  stepscope::read::is_execution_trace(text);
  return 0;
}
