// Snapshots of both writers and of JSON, their older forms, contradictions and cuts.
#include "read/snapshot/snapshot.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/base64.h"
#include "read/foreign.h"
#include "read/open.h"
#include "read/snapshot/pickled_for_test.h"
#include "trace/trace.h"

namespace stepscope::read {
namespace {

namespace fs = std::filesystem;
using namespace std::string_literals;
using test::block;
using test::dict;
using test::event;
using test::integer;
using test::list;
using test::parsed;
using test::pickled;
using test::segment;
using test::text;
using trace::MemoryAction;
using trace::MemoryBlock;

std::string small_snapshot() {
  return pickled(
      dict({{"segments",
             list({segment(4096, 1536,
                           list({block(4096, 1024, "active_allocated"), block(5120, 512, "inactive")}))})},
            {"device_traces", list({list({event("segment_alloc", 4096, 1536), event("alloc", 4096, 924),
                                          event("free_requested", 4096, 924)}),
                                    "]"})}}));
}

TEST(Snapshot, Columns) {
  const auto file = parsed(small_snapshot());
  ASSERT_TRUE(file.ok()) << file.error().text();
  const trace::Snapshot& snapshot = *file->snapshot;
  EXPECT_TRUE(snapshot.faults.empty()) << snapshot.faults[0];
  ASSERT_EQ(snapshot.devices.size(), 1u);
  const trace::MemoryOfDevice& device = snapshot.devices[0];
  ASSERT_EQ(device.segments.size(), 1u);
  EXPECT_EQ(device.segments[0].size, 1536);
  EXPECT_TRUE(device.segments[0].large);
  EXPECT_EQ(snapshot.pools[device.segments[0].pool], trace::PoolKey(1, 2));
  ASSERT_EQ(device.blocks.size(), 2u);
  EXPECT_EQ(device.blocks[0].state, MemoryBlock::State::active);
  EXPECT_EQ(device.blocks[0].requested, 924);
  EXPECT_EQ(device.blocks[1].address, 5120u);
  ASSERT_EQ(device.events.count(), 3u);
  EXPECT_EQ(device.events.action[2], MemoryAction::free_requested);
  EXPECT_EQ(device.events.address[1], 4096u);
  EXPECT_EQ(device.events.size[1], 924);
  EXPECT_EQ(device.events.time[1], trace::kNoTime);
  EXPECT_EQ(snapshot.stacks.size(), 2u);  // all events have one stack, by content
  EXPECT_EQ(snapshot.stacks.frames.size(), 2u);
  const trace::Frame& inner = snapshot.stacks.frames[snapshot.stacks[device.events.stack[0]][0]];
  EXPECT_EQ(file->words[0].strings[inner.name], "step");
  EXPECT_EQ(inner.line, 7);
}

TEST(Snapshot, Json) {
  const std::string json = R"({"segments": [{"device": 0, "address": 18446744073709547520, "total_size": 1536,
    "stream": 94005, "segment_pool_id": [0, 3], "is_expandable": true, "blocks": [
      {"size": 1024, "requested_size": 924, "state": "active_awaiting_free", "frames": []},
      {"size": 512, "state": "inactive", "frames": []}]}],
    "device_traces": [[], [{"action": "oom", "device_free": 7, "size": 512, "stream": 0, "time_us": 3, "new_key": {"a": [1]},
      "user_metadata": "é\"", "compile_context": "N/A", "pool_id": [0, 3],
      "frames": [{"name": "f", "filename": "a.py", "line": 1, "fx_node_op": "call"}]}]],
    "allocator_settings": {"expandable_segments": true, "trace_alloc_overflowed": true, "trace_alloc_max_entries": 5},
    "external_annotations": [{"stage": "START", "name": "ProfilerStep#3", "device": 1, "time_us": 2}], "other": null})";
  ASSERT_TRUE(is_snapshot(json));
  const auto file = parsed(json);
  ASSERT_TRUE(file.ok()) << file.error().text();
  const trace::Snapshot& snapshot = *file->snapshot;
  const trace::StringPool& strings = file->words[0].strings;
  ASSERT_EQ(snapshot.devices.size(), 2u);
  EXPECT_EQ(snapshot.devices[0].blocks[1].address, 18446744073709547520u + 1024);
  EXPECT_EQ(snapshot.devices[0].blocks[0].state, MemoryBlock::State::pending_free);
  EXPECT_EQ(snapshot.devices[0].blocks[1].requested, 512);
  EXPECT_EQ(snapshot.streams[snapshot.devices[0].segments[0].stream], 94005);
  const trace::AllocatorEvents& events = snapshot.devices[1].events;
  ASSERT_EQ(events.count(), 1u);
  EXPECT_EQ(events.action[0], MemoryAction::oom);
  EXPECT_EQ(events.address[0], 7u);
  EXPECT_EQ(events.time[0], 3000);
  EXPECT_EQ(strings[events.metadata[0]], "é\"");
  EXPECT_EQ(events.context[0], trace::kEmptyString);
  EXPECT_EQ(snapshot.pools[events.pool[0]], trace::PoolKey(0, 3));
  ASSERT_EQ(snapshot.devices[1].extras.size(), 1u);
  EXPECT_EQ(strings[snapshot.devices[1].extras[0].value], "{\"a\": [1]}");
  EXPECT_EQ(strings[snapshot.stacks.frames[0].extra], "fx_node_op: call");
  EXPECT_TRUE(snapshot.overflowed);
  EXPECT_EQ(snapshot.max_events, 5);
  EXPECT_EQ(snapshot.settings[0], std::pair("expandable_segments"s, "true"s));
  ASSERT_EQ(snapshot.marks.size(), 1u);
  EXPECT_TRUE(snapshot.marks[0].begin);
  EXPECT_EQ(snapshot.metadata[0], std::pair("other"s, "null"s));
}

// As Python writes frames: the memo's indices, in lists that come again, become longer, or mean another
// frame.
TEST(Snapshot, ListsOfFrames) {
  const std::string frames =
      list({test::frame("a", "a.py", 1) + "\x94", test::frame("b", "b.py", 2) + "\x94"});
  const auto of = [](const std::string& list) { return dict({{"action", text("alloc")}, {"frames", list}}); };
  const std::string shared = "](h\0h\1e\x94"s;  // the memo's 2
  const auto file = parsed(
      pickled(dict({{"segments", "]"},
                    {"device_traces",
                     list({list({of(frames), of(shared), of("](h\0h\1e"s), of("h\2"),
                                 of("](h\0h\1e(h\0eh\1a"s), of("](h\0h\1j\1\0\0\0e"s), of("](h\2h\0e"s),
                                 of(list({test::frame("c", "c.py", 3) + "q\1"})), of("](h\0h\1e"s)})})}})));
  ASSERT_TRUE(file.ok()) << file.error().text();
  const trace::Snapshot& snapshot = *file->snapshot;
  const auto names = [&](std::size_t event) {
    std::string out;
    for (const trace::FrameId frame : snapshot.stacks[snapshot.devices[0].events.stack[event]])
      out += file->words[0].strings[snapshot.stacks.frames[frame].name];
    return out;
  };
  constexpr std::string_view kNames[] = {"ab", "ab", "ab", "ab", "abab", "abb", "a", "c", "ac"};
  for (std::size_t event = 0; event < std::size(kNames); ++event)
    EXPECT_EQ(names(event), kNames[event]) << event;
}

// A list's only item, or its last, is appended after it: a cut must not lose the events of the only device.
TEST(Snapshot, CutBeforeTheListIsAppended) {
  const std::string events = "](" + event("alloc", 4096, 512) + event("alloc", 8192, 512);
  const std::string begin = "\x80\4}(" + text("segments") + "]" + text("device_traces") + "]";
  for (const std::string& cut : {begin + events, begin + events + "e", begin + events + "}(" + text("action"),
                                 begin + events + "e" + "a", begin + events + "ea" + text("extra")}) {
    const auto file = parsed(cut);
    ASSERT_TRUE(file.ok()) << file.error().text();
    ASSERT_EQ(file->snapshot->devices.size(), 1u);
    EXPECT_EQ(file->snapshot->devices[0].events.count(), 2u);
    EXPECT_TRUE(file->snapshot->cut);
  }
}

// PyTorch 1.13: segments alone, blocks with a history and without addresses.
TEST(Snapshot, OldForm) {
  const std::string history = list({dict({{"addr", integer(4096)},
                                          {"real_size", integer(900)},
                                          {"frames", list({test::frame("f", "a.py", 1)})}})});
  const std::string old =
      dict({{"size", integer(1024)}, {"state", text("active_allocated")}, {"history", history}});
  const std::string free =
      dict({{"size", integer(512)}, {"requested_size", integer(5)}, {"state", text("inactive")}});
  const auto file = parsed(pickled(list({segment(4096, 1536, list({old, free}))})));
  ASSERT_TRUE(file.ok()) << file.error().text();
  const trace::MemoryOfDevice& device = file->snapshot->devices.at(0);
  EXPECT_EQ(device.blocks[0].requested, 900);
  EXPECT_EQ(file->snapshot->stacks[device.blocks[0].stack].size(), 1u);
  EXPECT_EQ(device.blocks[1].address, 5120u);
}

TEST(Snapshot, KeysOneByOne) {  // as other writers do, and in another order
  std::string one = "}";
  for (const auto& [key, value] : std::initializer_list<std::pair<std::string_view, std::string>>{
           {"frames", list({"}" + text("name") + text("f") + "s" + text("filename") + text("a.py") + "s"})},
           {"size", integer(5)},
           {"action", text("alloc")}})
    one += text(key) + value + "s";
  const auto file = parsed(pickled(dict({{"segments", "]"}, {"device_traces", list({list({one, one})})}})));
  ASSERT_TRUE(file.ok()) << file.error().text();
  const trace::AllocatorEvents& events = file->snapshot->devices.at(0).events;
  ASSERT_EQ(events.count(), 2u);
  EXPECT_EQ(events.size[1], 5);
  EXPECT_EQ(events.stack[0], events.stack[1]);
  EXPECT_NE(events.stack[0], trace::kNoStack);
}

TEST(Snapshot, Contradictions) {
  const std::string same =
      "](" + segment(4096, 999, list({block(4096, 1024, "active_allocated")})) + "\x94h\0e"s;
  const auto file =
      parsed(pickled(dict({{"segments", same},
                           {"device_traces", list({list({event("alloc", 1, -5), event("alloc", 1, 1LL << 60),
                                                         event("brand_new", 1, 5), "K\5"})})}})));
  ASSERT_TRUE(file.ok()) << file.error().text();
  EXPECT_EQ(file->snapshot->faults,
            (std::vector<std::string>{
                "1 segment has another size than its blocks together.",
                "1 segment or event is listed twice and counts once.",
                "1 item of the lists is no segment or event, or of an impossible device, and was left out.",
                "2 sizes are negative or beyond 1 PiB and count as 0."}));
  const trace::MemoryOfDevice& device = file->snapshot->devices.at(0);
  EXPECT_EQ(device.segments.size(), 1u);
  EXPECT_EQ(device.events.action[2], MemoryAction::other);
  EXPECT_EQ(file->words[0].strings[device.extras.at(0).value], "brand_new");
}

TEST(Snapshot, CutAnywhere) {
  const std::string whole = small_snapshot();
  std::size_t refused = 0, kept = 0;
  for (std::size_t size = 2; size < whole.size(); ++size) {
    const auto file = parsed(std::string_view(whole).substr(0, size));
    if (!file) {
      ++refused;
      EXPECT_NE(file.error().message.find("ends before its first"), std::string::npos)
          << file.error().message;
      EXPECT_EQ(file.error().byte, static_cast<std::int64_t>(size));
      continue;
    }
    EXPECT_FALSE(file->rank.reading.complete);
    EXPECT_EQ(file->rank.reading.first_losses.at(0).byte, static_cast<std::int64_t>(size));
    EXPECT_GE(file->rank.reading.events, static_cast<std::int64_t>(kept));
    kept = static_cast<std::size_t>(file->rank.reading.events);
  }
  EXPECT_GT(refused, 0u);
  EXPECT_EQ(kept, 3u);
}

TEST(Snapshot, Recognised) {
  EXPECT_TRUE(is_snapshot(small_snapshot()));
  EXPECT_FALSE(is_snapshot(pickled(list({text("a")}))));
  EXPECT_FALSE(is_snapshot(R"({"traceEvents": [], "segments": 1)"s.substr(0, 20)));
  EXPECT_FALSE(is_snapshot(R"([{"ph": "X"}])"));
  EXPECT_TRUE(is_snapshot(R"([{"device": 0, "blocks": []}])"));
  const auto other = parsed(pickled(dict({{"weights", "]"}})));
  ASSERT_FALSE(other.ok());
  EXPECT_NE(other.error().message.find("is no memory snapshot of PyTorch"), std::string::npos);
  const auto pointer = foreign_error("version https://git-lfs.github.com/spec/v1\n", "file");
  ASSERT_TRUE(pointer);
  EXPECT_NE(pointer->message.find("Git LFS pointer"), std::string::npos) << pointer->message;
}

/// A folder with these files, removed at the end.
class Folder {
 public:
  Folder(std::initializer_list<std::pair<std::string_view, std::string>> files)
      : path_(fs::temp_directory_path() / fmt::format("stepscope_snapshot_{}", getpid())) {
    fs::create_directory(path_);
    for (const auto& [name, content] : files) std::ofstream(path_ / name, std::ios::binary) << content;
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string path() const { return path_.string(); }

 private:
  fs::path path_;
};

constexpr const char* kRecording =
    R"({"schemaVersion": 1, "traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 1}]})";

/// As torch.cuda._memory_viz writes them: the pickle is padded with zeros to a multiple of three.
std::string page_of(std::string snapshot) {
  snapshot.append(3 - snapshot.size() % 3, '\0');
  return "\n<!DOCTYPE html>\n<html>\n<body>\n<script type=\"module\">\nimport {add_local_files} from "
         "\"https://example.org/MemoryViz.js\"\nconst local_files = [{\"name\": \"snapshot.pickle\", "
         "\"base64\": \"" +
         base64(snapshot) + "\"}]\nadd_local_files(local_files, 'Active Memory Timeline')\n</script>\n";
}

TEST(Snapshot, InAPageOfMemoryViz) {
  const std::string page = page_of(small_snapshot());
  const Folder folder({{"whole.html", page},
                       {"cut.html", page.substr(0, page.size() - 250)},
                       {"other.html", "<html>MemoryViz.js</html>"}});
  const std::string whole[] = {folder.path() + "/whole.html"};
  const auto trace = open(whole);
  ASSERT_TRUE(trace.ok()) << trace.error().text();
  EXPECT_EQ(trace->ranks[0].snapshot->devices[0].events.count(), 3u);
  EXPECT_TRUE(trace->ranks[0].snapshot->faults.empty());
  EXPECT_TRUE(trace->ranks[0].reading.complete);
  const std::string cut[] = {folder.path() + "/cut.html"};
  const auto part = open(cut);
  ASSERT_TRUE(part.ok()) << part.error().text();
  EXPECT_FALSE(part->ranks[0].reading.complete);
  EXPECT_NE(part->ranks[0].reading.first_losses.at(0).reason.find("the page ends within its snapshot"),
            std::string::npos);
  const std::string other[] = {folder.path() + "/other.html"};
  EXPECT_NE(open(other).error().message.find("with no snapshot in it"), std::string::npos);
}

TEST(Snapshot, InFolders) {
  const Folder folder(
      {{"mem.pickle", small_snapshot()}, {"weights.pickle", pickled(list({text("a")}))}, {"more.pkl", "x"}});
  const std::string paths[] = {folder.path()};
  const auto trace = open(paths);
  ASSERT_TRUE(trace.ok()) << trace.error().text();
  ASSERT_EQ(trace->ranks.size(), 1u);
  EXPECT_NE(trace->ranks[0].snapshot, nullptr);
  EXPECT_EQ(trace->ranks[0].reading.events, 3);
  EXPECT_TRUE(trace->unread.empty());
  const bool is_said = std::ranges::any_of(trace->notes, [](const std::string& note) {
    return note.find("the analyses of memory answer from it") != note.npos;
  });
  EXPECT_TRUE(is_said);
  const std::string named[] = {folder.path() + "/weights.pickle"};
  EXPECT_NE(open(named).error().message.find("no memory snapshot"), std::string::npos);
}

TEST(Snapshot, BelongsToTheRankThatItsNameSays) {
  const Folder folder(
      {{"rank0.json", kRecording}, {"rank1.json", kRecording}, {"rank1_mem.pickle", small_snapshot()}});
  const std::string paths[] = {folder.path()};
  const auto trace = open(paths);
  ASSERT_TRUE(trace.ok()) << trace.error().text();
  ASSERT_EQ(trace->ranks.size(), 2u);
  EXPECT_EQ(trace->ranks[0].snapshot, nullptr);
  ASSERT_NE(trace->ranks[1].snapshot, nullptr);
  EXPECT_EQ(trace->text(trace->ranks[1].snapshot->stacks.frames[0].name), "step");
  EXPECT_EQ(trace->companions.at(0).rank, 1);
}

TEST(Snapshot, BelongsToTheOnlyRank) {
  const Folder folder({{"trace.json", kRecording}, {"mem.pickle", small_snapshot()}});
  const std::string paths[] = {folder.path()};
  const auto trace = open(paths);
  ASSERT_TRUE(trace.ok()) << trace.error().text();
  ASSERT_EQ(trace->ranks.size(), 1u);
  EXPECT_NE(trace->ranks[0].snapshot, nullptr);
  EXPECT_EQ(trace->ranks[0].events.size(), 1u);
  EXPECT_EQ(trace->notes.front(), folder.path() + "/mem.pickle is taken for the memory snapshot of " +
                                      folder.path() + "/trace.json.");
}

// Of the three snapshots that a memory history writes, the one of the failure is read.
TEST(Snapshot, OfSeveralTheOneOfTheFailure) {
  const auto with = [](const std::string& events) {
    return pickled(dict({{"segments", "]"}, {"device_traces", list({list({events})})}}));
  };
  const Folder folder({{"trace.json", kRecording},
                       {"trace.end.pickle", with(event("alloc", 1, 2))},
                       {"trace.oom.pickle", with(event("oom", 1, 2))},
                       {"trace.peak.pickle", small_snapshot()}});
  const std::string paths[] = {folder.path()};
  const auto trace = open(paths);
  ASSERT_TRUE(trace.ok()) << trace.error().text();
  ASSERT_EQ(trace->ranks.size(), 1u);
  EXPECT_EQ(trace->ranks[0].snapshot->devices[0].events.action[0], trace::MemoryAction::oom);
  EXPECT_EQ(trace->notes.front(), folder.path() + "/trace.oom.pickle is taken for the memory snapshot of " +
                                      folder.path() +
                                      "/trace.json. 2 more beside it are left out: open each alone.");
}

}  // namespace
}  // namespace stepscope::read
