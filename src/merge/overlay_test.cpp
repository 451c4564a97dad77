#include "merge/overlay.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "merge/merge.h"
#include "read/open.h"

namespace stepscope::merge {
namespace {

namespace fs = std::filesystem;

constexpr const char* kHead = "{\n\"schemaVersion\":1,\n\"traceName\":\"x\",\n\"traceEvents\":[";
constexpr const char* kA = R"({"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":"t","ts":1,"dur":2})";
constexpr const char* kB =
    R"({"ph":"X","cat":"cpu_op","name":"b","pid":1,"tid":"t","ts":4.5,"dur":2,"args":{ "k":7}})";
constexpr const char* kC =
    R"({"ph":"X","cat":"user_annotation","name":"c","pid":1,"tid":"t","ts":9,"dur":2,"args":{}})";
constexpr const char* kD = R"({"ph":"M","name":"process_name","pid":1,"tid":0,"args":{"name":"p"}})";
constexpr const char* kMark =
    "\n{\"ph\":\"M\",\"name\":\"stepscope.overlay\",\"pid\":1,\"tid\":\"t\",\"args\":{\"by\":\"stepscope\"}}"
    "\n]}\n";

class Overlay : public testing::Test {
 protected:
  fs::path folder = fs::temp_directory_path() / ("stepscope_overlay_" + std::to_string(getpid()));
  void SetUp() override { fs::create_directories(folder); }
  void TearDown() override { fs::remove_all(folder); }

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder / name) << text;
    return (folder / name).string();
  }
  std::string recording() const {
    return write("a.json", std::string(R"({"schemaVersion":1,"traceEvents":[)") + kA + ",\n" + kB + "," + kC +
                               " , " + kD + R"(],"traceName":"x"})");
  }
  /// The written text, or why nothing was written.
  std::string overlaid(const std::string& path, const report::Drawing& drawing, unsigned threads = 1) const {
    std::string text;
    const auto done = write_overlay(path, drawing, {threads, false, {}}, [&](std::string_view piece) {
      text += piece;
      return true;
    });
    return done ? text : done.error().text();
  }
  report::Drawing drawing() const {
    report::Drawing drawing;
    drawing.events = 4;
    drawing.lanes = {{"1", "t"}};
    return drawing;
  }
};

TEST_F(Overlay, MarksEventsAndDrawsBehindTheLast) {
  report::Drawing all = drawing();
  all.critical = {0, 1, 2};
  all.arrows = {{0, 0, 1000, 4500, 3500, "dependency", true}};
  all.counters = {{"Queue Length (stream 7)", "Queue Length", "1"}};
  all.points = {{1000, 2, 0}, {2500, 0.5, 0}};
  const std::string a =
      R"({"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":"t","ts":1,"dur":2,"args":{"critical":1}})";
  const std::string b =
      R"({"ph":"X","cat":"cpu_op","name":"b","pid":1,"tid":"t","ts":4.5,"dur":2,"args":{"critical":1, "k":7}})";
  const std::string c =
      R"({"ph":"X","cat":"user_annotation","name":"c","pid":1,"tid":"t","ts":9,"dur":2,"args":{"critical":1}})";
  const std::string arrow = R"("cat":"critical_path","name":"critical_path",)"
                            R"("args":{"weight":3.500,"critical":1,"type":"critical_path_dependency"}})";
  const std::string counter =
      R"J({"ph":"C","cat":"stepscope.counter","name":"Queue Length (stream 7)","pid":1,"ts":)J";
  EXPECT_EQ(overlaid(recording(), all), kHead + ("\n" + a) + ",\n" + b + ",\n" + c + ",\n" + kD + ",\n" +
                                            R"({"ph":"s","id":1,"pid":1,"tid":"t","ts":1,)" + arrow + ",\n" +
                                            R"({"ph":"f","bp":"e","id":1,"pid":1,"tid":"t","ts":4.500,)" +
                                            arrow + ",\n" + counter + R"(1,"args":{"Queue Length":2}})" +
                                            ",\n" + counter + R"(2.500,"args":{"Queue Length":0.5}})" + "," +
                                            kMark);
}

TEST_F(Overlay, AnArgOfThatNameIsReplaced) {
  const std::string path = write(
      "b.json",
      R"({"traceEvents":[{"ph":"X","name":"a","pid":1,"tid":"t","ts":1,"dur":2,"args":{"k":[1, 2],"critical": 7,"x":"critical"}}]})");
  report::Drawing one = drawing();
  one.events = 1;
  one.critical = {0};
  EXPECT_NE(overlaid(path, one).find(R"("args":{"critical":1,"k":[1, 2],"x":"critical"}})"),
            std::string::npos);
}

TEST_F(Overlay, LeavesOutWhatIsNotCritical) {
  report::Drawing only = drawing();
  only.critical = {1};
  only.only_critical = true;
  const std::string text = overlaid(recording(), only);
  EXPECT_EQ(text.find(R"("name":"a")"), std::string::npos);
  EXPECT_NE(text.find(R"("name":"b")"), std::string::npos);
  EXPECT_NE(text.find(kC), std::string::npos);
  EXPECT_NE(text.find(kD), std::string::npos);
}

TEST_F(Overlay, IsReadAsTheRecording) {
  report::Drawing all = drawing();
  all.critical = {1};
  all.arrows = {{0, 0, 1000, 4500, 3500, "dependency", true}};
  all.counters = {{"n", "v", "1"}};
  all.points = {{1000, 2, 0}};
  const std::string path = recording(), copy = write("copy.json", overlaid(path, all));
  const auto before = read::open({&path, 1}), after = read::open({&copy, 1});
  ASSERT_TRUE(before.ok() && after.ok());
  const trace::Rank &a = before->ranks[0], &b = after->ranks[0];
  EXPECT_EQ(b.events.size(), 3u);
  EXPECT_EQ(std::vector(a.events.source.begin(), a.events.source.end()),
            std::vector(b.events.source.begin(), b.events.source.end()));
  EXPECT_EQ(b.flows.size(), 0u);
  EXPECT_EQ(b.tracks.size(), a.tracks.size());
  EXPECT_EQ(b.reading.losses, 0);
  EXPECT_TRUE(b.reading.complete);
  const std::string merged = write("merged.json", [&] {
    auto sources = survey({copy}, {});
    std::string text;
    EXPECT_FALSE(write_chrome(*sources, {}, false, [&](std::string_view piece) {
      text += piece;
      return true;
    }));
    return text;
  }());
  const auto of_merged = read::open({&merged, 1});
  ASSERT_TRUE(of_merged.ok());
  EXPECT_EQ(of_merged->ranks[0].events.size(), 3u);
  EXPECT_EQ(of_merged->ranks[0].reading.losses, 0);
  EXPECT_EQ(overlaid(merged, all),
            merged + ": holds merged recordings; overlay each rank's own file, then merge the copies");
}

TEST_F(Overlay, IsTheSameWithAnyNumberOfThreads) {
  constexpr int kEvents = 60'000;  // several blocks of text
  std::string text = R"({"traceEvents":[)";
  report::Drawing some = drawing();
  for (int i = 0; i < kEvents; ++i) {
    text += std::string(i == 0 ? "" : ",\n") +
            R"({"ph":"X","cat":"cpu_op","name":"a name","pid":1,"tid":"t","ts":)" + std::to_string(i) +
            R"(,"dur":0.5,"args":{"External id":)" + std::to_string(i) + "}}";
    if (i % 1'000 == 7) some.critical.push_back(static_cast<std::uint32_t>(i));
  }
  some.events = kEvents;
  const std::string path = write("long.json", text + "]}");
  const std::string one = overlaid(path, some, 1);
  EXPECT_EQ(one, overlaid(path, some, 4));
  for (const char* marked :
       {R"("ts":7,"dur":0.5,"args":{"critical":1,)", R"("ts":59007,"dur":0.5,"args":{"critical":1,)"})
    EXPECT_NE(one.find(marked), std::string::npos) << marked;
  std::size_t count = 0;
  for (std::size_t at = 0; (at = one.find("critical", at)) != std::string::npos; ++at) ++count;
  EXPECT_EQ(count, some.critical.size());
}

TEST_F(Overlay, SaysWhyItCannotBe) {
  report::Drawing all = drawing();
  all.arrows = {{0, 0, 1000, 4500, 3500, "dependency", true}};
  const std::string path = recording(), copy = write("copy.json", overlaid(path, all));
  all.events = 7;
  EXPECT_EQ(overlaid(copy, all), copy + ": was overlaid before; give the recording that it was made from");
  EXPECT_EQ(overlaid(path, all), path + ": changed while it was read; overlay it again when the job is done");
}

}  // namespace
}  // namespace stepscope::merge
