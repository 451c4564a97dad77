// Events of Kineto's JSON, appended to a text that is passed on in pieces.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>

#include "base/text.h"
#include "record/text/json_text.h"

namespace stepscope::record {

class EventText {
 public:
  /// `take`: returns false to stop. `base`: the time 0, in ns since 1970.
  EventText(const std::function<bool(std::string_view)>& take, std::int64_t base)
      : take_(take), base_(base) {}

  std::string out;

  /// Begins an event: everything up to its time. The next member must begin with a comma.
  void begin(std::string_view phase, std::string_view category, std::string_view name, std::int64_t pid,
             std::int64_t tid, std::int64_t ns) {
    name_event(phase, category, name);
    out += R"(, "pid": )";
    put(out, pid);
    out += R"(, "tid": )";
    put(out, tid);
    at(ns);
  }
  /// The same, on a track that has names instead of numbers.
  void begin(std::string_view phase, std::string_view category, std::string_view name, std::string_view pid,
             std::string_view tid, std::int64_t ns) {
    name_event(phase, category, name);
    out += R"(, "pid": )";
    append_json(out, pid);
    out += R"(, "tid": )";
    append_json(out, tid);
    at(ns);
  }
  void duration(std::int64_t ns) {
    out += R"(, "dur": )";
    put_us(out, std::max<std::int64_t>(0, ns));
  }

  /// Closes an event that is one end of arrow `id`.
  void arrow(std::int64_t id, bool starts) {
    out += R"(, "id": )";
    put(out, id);
    out += starts ? "}" : R"(, "bp": "e"})";
  }

  void pass_on_if_long() {
    constexpr std::size_t kPiece = std::size_t{256} * 1024;
    if (out.size() >= kPiece) pass_on();
  }
  void pass_on() {
    if (whole_ && !out.empty()) whole_ = take_(out);
    out.clear();
  }
  /// False: `take` has returned false.
  bool whole() const { return whole_; }

 private:
  void name_event(std::string_view phase, std::string_view category, std::string_view name) {
    out += first_ ? "\n{\"ph\": \"" : ",\n{\"ph\": \"";
    first_ = false;
    out += phase;
    if (!category.empty()) (out += R"(", "cat": ")") += category;
    out += R"(", "name": )";
    append_json(out, name);
  }
  void at(std::int64_t ns) {
    out += R"(, "ts": )";
    put_us(out, std::max<std::int64_t>(0, ns - base_));
  }

  const std::function<bool(std::string_view)>& take_;
  const std::int64_t base_;
  bool first_ = true, whole_ = true;
};

/// Writes an event's args and closes the event.
class EventArgs {
 public:
  explicit EventArgs(std::string& out) : out_(out) { out_ += R"(, "args": {)"; }
  std::string& key(std::string_view key) {
    out_ += first_ ? "\"" : ", \"";
    first_ = false;
    out_ += key;
    out_ += "\": ";
    return out_;
  }
  EventArgs& add(std::string_view name, std::int64_t value) {
    put(key(name), value);
    return *this;
  }
  EventArgs& add(std::string_view name, std::string_view value) {
    append_json(key(name), value);
    return *this;
  }
  void end() { out_ += "}}"; }

 private:
  std::string& out_;
  bool first_ = true;
};

}  // namespace stepscope::record
