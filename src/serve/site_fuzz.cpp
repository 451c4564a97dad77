// Hostile questions of one who may ask: every route below api/, with any words and any query. A line is a
// target below api/. Every one gets an answer with a known status; what is refused is told in one sentence.
#include <cstdint>
#include <set>
#include <string_view>

#include "base/check.h"
#include "base/text.h"
#include "serve/folder_for_test.h"
#include "serve/site.h"

namespace {

using namespace stepscope;

// Two steps with an op, its launch and its kernel; a second rank with one op.
constexpr char kSteps[] =
    R"({"schemaVersion": 1, "distributedInfo": {"rank": 0, "world_size": 2}, "traceEvents": [
{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 5, "tid": 5, "ts": 1, "dur": 50},
{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#2", "pid": 5, "tid": 5, "ts": 51, "dur": 50},
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 5, "tid": 5, "ts": 2, "dur": 20, "args": {"External id": 3}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": 5, "dur": 3, "args": {"correlation": 1, "External id": 3}},
{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 10, "dur": 60, "args": {"device": 0, "stream": 7, "correlation": 1}}]})";
constexpr char kOther[] =
    R"({"schemaVersion": 1, "distributedInfo": {"rank": 1, "world_size": 2}, "traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1, "dur": 2}]})";

constexpr std::string_view kProgram = "one\ntwo\n";

class Served {
 public:
  Served() {
    folder_.write("runs/job/rank0.json", kSteps);
    folder_.write("runs/job/rank1.json", kOther);
    folder_.write("runs/one.json", serve::one_op("aten::mm"));
    folder_.write("program/train.py", std::string(kProgram));
    folder_.write("secret.py", "three\n");
    site_.emplace(serve::Policy{{"here"}, "t", "/"},
                  std::move(*serve::RunFinder::below({folder_.at("runs")})),
                  std::move(*serve::SourceFiles::below(folder_.at("program"))));
  }
  serve::Response ask(std::string_view target) {
    const serve::Request request{
        "GET", "/api/" + std::string(target), {{"host", "here"}, {"authorization", "Bearer t"}}};
    if (auto now = site_->at_once(request)) return *now;
    return site_->answer(request);
  }

 private:
  const serve::FolderForTest folder_{"stepscope-site-fuzz-"};
  std::optional<serve::Site> site_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Served served;
  static const std::set<int> statuses = {200, 400, 404, 409, 413, 414, 422, 503};
  std::string_view text(reinterpret_cast<const char*>(data), size);
  for (int line = 0; line < 4 && !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view target = text.substr(0, end);
    const serve::Response answer = served.ask(target);
    CHECK(statuses.contains(answer.status));
    CHECK(answer.status == 200 || answer.body.starts_with("{\"error\""));
    if (answer.status == 200 && target.starts_with("source")) CHECK(has(kProgram, answer.body));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return 0;
}
