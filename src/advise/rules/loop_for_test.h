// For tests of rules: a program on the CPU, step after step.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <string>

#include "make_program.h"

namespace stepscope::advise {

using test::Advice;
using test::EventText;

/// Steps on one thread, one after the other. The body of a step adds ranges at the thread's current time.
class Loop {
 public:
  void step(int number, const std::function<void(Loop&)>& body) {
    const int begin = at_;
    body(*this);
    events_.add("user_annotation", fmt::format("ProfilerStep#{}", number), 5, 5, begin, at_ - begin);
  }
  Loop& range(const std::string& category, const std::string& name, int length,
              const std::string& args = "") {
    events_.add(category, name, 5, 5, at_, length, args);
    at_ += length;
    return *this;
  }
  Loop& op(const std::string& name, int length, const std::string& args = "") {
    return range("cpu_op", name, length, args);
  }
  /// A call that begins now; time does not pass.
  Loop& frame(const std::string& name, int length) {
    events_.add("python_function", name, 5, 5, at_, length);
    return *this;
  }
  Loop& pass(int length) {
    at_ += length;
    return *this;
  }
  /// `count` operators of `length` in a range of that name.
  Loop& ops_in(const std::string& name, int count, int length) {
    events_.add("user_annotation", name, 5, 5, at_, count * length);
    for (int i = 0; i < count; ++i) op("aten::add_", length);
    return *this;
  }
  /// An operator that begins now; time does not pass.
  Loop& around(const std::string& name, int length, const std::string& args = "") {
    events_.add("cpu_op", name, 5, 5, at_, length, args);
    return *this;
  }
  /// A range of the program that begins now; time does not pass.
  Loop& within(const std::string& name, int length) {
    events_.add("user_annotation", name, 5, 5, at_, length);
    return *this;
  }
  Loop& beside(const std::string& name, int from, int length) {
    events_.add("user_annotation", name, 5, 9, at_ + from, length);
    return *this;
  }
  /// A call on a file by another thread; time does not pass.
  Loop& call_beside(const std::string& name, int from, int length, const std::string& args) {
    events_.add("posix_call", name, 5, 9, at_ + from, length, args);
    return *this;
  }
  /// Another thread is sampled in `frame` from now on; time does not pass.
  Loop& sampled(const std::string& frame, int length) {
    events_.add("python_function", frame, 5, 1073741833, at_, length, R"("sampled": 9, "samples": 1)");
    return *this;
  }
  /// A loader's worker fetches a batch, `cpu` of `length` µs of it on a core; time does not pass.
  Loop& fetch(int process, int length, int cpu) {
    events_.add("user_annotation", "DataLoader.fetch", process, process, at_, length);
    events_.counter("DataLoader.fetch CPU ns", process, at_ + length, cpu * 1000);
    return *this;
  }
  const std::string& text() const { return events_.text(); }

 private:
  EventText events_;
  int at_ = 0;
};

/// `head`: members of the file before its events.
inline Advice advice_of(const std::function<void(Loop&)>& body, const std::string& head = "") {
  Loop loop;
  for (int number = 1; number <= 10; ++number) loop.step(number, body);
  return Advice(head, loop.text());
}

}  // namespace stepscope::advise
