// Shared by tests of the Kineto reader: documents, events, and the rows they become.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "support/dump.h"
#include "support/open_text.h"

namespace stepscope::test {

using Rows = std::vector<std::string>;

/// The trace of a text that must be readable.
inline trace::Trace opened(std::string_view text) {
  auto trace = open_text(text);
  EXPECT_TRUE(trace.ok()) << (trace.ok() ? "" : trace.error().text());
  return trace.ok() ? std::move(*trace) : trace::Trace{};
}

/// A complete document around a list of events.
inline std::string document(std::string_view events) {
  return "{\"schemaVersion\": 1, \"traceEvents\": [" + std::string(events) + "]}";
}

/// The beginning of a document, up to its first event.
inline const std::string kHead = "{\"traceEvents\":[";

/// An op of 1 µs at `ts` µs, with `more` members.
inline std::string event(std::string_view name, int ts, std::string_view more = "") {
  return "{\"ph\":\"X\",\"name\":\"" + std::string(name) +
         "\",\"pid\":1,\"tid\":1,\"ts\":" + std::to_string(ts) + ",\"dur\":1" + std::string(more) + "}";
}

/// The row that event() becomes.
inline std::string row(std::string_view name, int ts) {
  return "1/1 op " + std::string(name) + " [" + std::to_string(ts) + "000, " + std::to_string(ts + 1) +
         "000) {}";
}

}  // namespace stepscope::test
