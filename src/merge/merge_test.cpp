#include "merge/merge.h"

#include <gtest/gtest.h>
#include <simdjson.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "merge/rewrite.h"
#include "read/open.h"

namespace stepscope::merge {
namespace {

namespace fs = std::filesystem;

/// Rewrites `text` as the only event of a source.
std::string rewritten(Source source, const std::string& text, std::int64_t base_ns = 0) {
  read::Block block;
  block.buffer.assign(text.begin(), text.end());
  block.buffer.resize(text.size() + read::kPadding);
  block.size = text.size();
  EventScanner scanner;
  EventText event;
  const char* p = block.begin();
  EXPECT_EQ(scanner.scan(p, block.end(), event), EventScanner::Outcome::read);
  EXPECT_EQ(p, block.end());
  source.found.take(event, 0);
  source.processes.push_back({"4711", 9, "rank 3", "", 300});
  source.lanes[lane_text(event)] = {"9", "8"};
  std::string out;
  Rewriter(source, base_ns).append(event, out);
  return out.substr(2);
}

TEST(Rewrite, ExchangesIdsAndCopiesTheRest) {
  Source source;
  source.id_shift = {100, 0, 7, 0};
  EXPECT_EQ(rewritten(source, R"({ "ph":"X","odd":[{"pid":1}],"pid":4711,"tid":"t","ts":1.5,"dur":2,)"
                              R"("args":{"correlation":5,"Python id":2,"name":"pid"}})"),
            R"({ "ph":"X","odd":[{"pid":1}],"pid":9,"tid":8,"ts":1.500,"dur":2,)"
            R"("args":{"correlation":105,"Python id":9,"name":"pid"}})");
}

TEST(Rewrite, WhatHasNoProcessGetsOne) {
  EXPECT_EQ(rewritten({}, R"({"ph":"M"})"), R"({"pid":9,"ph":"M"})");
  EXPECT_EQ(rewritten({}, "{ }"), R"({"pid":9 })");
}

TEST(Rewrite, KeepsWhatMeansNoId) {
  Source source;
  source.id_shift = {100, 100, 100, 100};
  const std::string args = R"("args":{"correlation":0,"External id":-1,"Ev Idx":4294967295}})";
  EXPECT_EQ(rewritten(source, R"({"pid":9,"tid":8,)" + args), R"({"pid":9,"tid":8,)" + args);
}

TEST(Rewrite, GivesEachEventsOwnIdANumberThatNoOtherSourceHas) {
  const auto id_of = [](const std::string& id, bool stay = false) {
    Source source;
    source.id_shift = {100, 0, 0, 0};
    source.ids_stay[0] = stay;
    const std::string text = rewritten(source, R"({"ph":"s","pid":9,"tid":8,"id":)" + id + "}");
    return text.substr(text.find("\"id\":") + 5);
  };
  EXPECT_EQ(id_of("7"), "107}");
  EXPECT_EQ(id_of("0"), "100}");
  EXPECT_EQ(id_of(R"("0x1f")"), "131}");
  EXPECT_EQ(id_of(R"("1F")"), "131}");
  EXPECT_EQ(id_of("null"), "null}");
  std::set<std::string> hashes;
  for (const char* odd :
       {"-1", "18446744073709551615", R"("ffffffffffffffff")", R"("a.b")", R"("")", "1.5"}) {
    EXPECT_TRUE(id_of(odd).starts_with(R"("0x)")) << odd;
    hashes.insert(id_of(odd));
  }
  hashes.insert(id_of("7", true));
  EXPECT_EQ(hashes.size(), 7u);
}

TEST(Rewrite, MapsStartAndEndEachForItself) {
  Source source;
  source.place.map.drift = 1e-4;  // 1 µs stays, 11 µs becomes 10.999
  EXPECT_EQ(rewritten(source, R"({"pid":9,"tid":8,"ts":1,"dur":10})"),
            R"({"pid":9,"tid":8,"ts":1,"dur":9.999})");
  source.place.map = {};
  source.place.map.shift = 1'000;
  source.base_ns = 5'000;
  EXPECT_EQ(rewritten(source, R"({"pid":9,"tid":8,"ts":1,"dur":10})", 2'000),
            R"({"pid":9,"tid":8,"ts":3,"dur":10})");
}

TEST(Rewrite, NamesProcessesByRankAndKeepsTheirNames) {
  EXPECT_EQ(rewritten({}, R"({"name":"process_name","ph":"M","pid":4711,"tid":0,"args":{"name":"python"}})"),
            R"({"name":"process_name","ph":"M","pid":9,"tid":8,"args":{"name":"rank 3","was":"python"}})");
}

TEST(Rewrite, MakesLettersOfNumberedPhases) {
  EXPECT_EQ(rewritten({}, R"({"ph":1,"pid":"4711","tid":"1","ts":"7"})"),
            R"({"ph":"X","pid":9,"tid":8,"ts":7})");
}

struct Folder {
  fs::path path = fs::temp_directory_path() / ("stepscope_merge_" + std::to_string(getpid()));
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path / name) << text;
    return (path / name).string();
  }
};

std::string rank_file(int rank, std::int64_t correlation) {
  return R"({"distributedInfo":{"rank":)" + std::to_string(rank) +
         R"(},"traceEvents":[
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":70,"tid":70,"ts":1700000000000000,"dur":5,"args":{"correlation":)" +
         std::to_string(correlation) + R"(}},
{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":"stream 7","ts":1700000000000010,"dur":20,"args":{"correlation":)" +
         std::to_string(correlation) + "}}]}";
}

std::string merged_text(const std::vector<std::string>& files, Merged* out = nullptr) {
  MergeOptions options;
  options.align = false;
  auto merged = survey(files, options);
  EXPECT_TRUE(merged.ok());
  std::string text;
  EXPECT_FALSE(write_chrome(*merged, options, false, [&](std::string_view piece) {
    text += piece;
    return true;
  }));
  if (out != nullptr) *out = std::move(*merged);
  return text;
}

TEST(Merge, ReadsAsTheRanksThatItWasMadeOf) {
  const Folder folder;
  const std::string a = folder.write("a.json", rank_file(0, 5)), b = folder.write("b.json", rank_file(1, 5));
  const std::string path = folder.write("m.json", merged_text({a, b}));
  const auto trace = read::open({&path, 1});
  ASSERT_TRUE(trace.ok()) << trace.error().text();
  ASSERT_EQ(trace->ranks.size(), 2u);
  for (const trace::Rank& rank : trace->ranks) {
    ASSERT_EQ(rank.events.size(), 2u);
    EXPECT_EQ(rank.base_ns + rank.events.start[0], 1'700'000'000'000'000'000);
    EXPECT_EQ(rank.events.launch[1], 0u);
    EXPECT_EQ(rank.tracks[0].pid, "70");
    EXPECT_EQ(rank.tracks[1].device, 0);
    EXPECT_EQ(rank.tracks[1].tid, "stream 7");
    EXPECT_EQ(trace::ArgReader(*trace, rank, "correlation").integer(0), 5);
  }
  EXPECT_EQ(trace->ranks[1].rank, 1);
}

TEST(Merge, IdsBeyond32BitsComeBack) {
  const Folder folder;
  for (const std::int64_t id : {2'147'483'598LL, 2'147'483'648LL, 3'000'000'000LL, 4'294'967'246LL,
                                4'294'967'301LL, 1'099'511'627'776LL, 4'611'686'018'427'387'904LL}) {
    const std::string a = folder.write("a.json", rank_file(0, id)),
                      b = folder.write("b.json", rank_file(1, 7));
    const std::string path = folder.write("m.json", merged_text({a, b}));
    const auto trace = read::open({&path, 1});
    ASSERT_TRUE(trace.ok()) << trace.error().text();
    ASSERT_EQ(trace->ranks.size(), 2u);
    for (const trace::Rank& rank : trace->ranks) {
      EXPECT_EQ(trace::ArgReader(*trace, rank, "correlation").integer(1), rank.rank == 0 ? id : 7);
      EXPECT_EQ(rank.events.launch[1], 0u);
    }
  }
}

TEST(Merge, OfAMergeIsTheMergeOfAll) {
  const Folder folder;
  const std::string a = folder.write("a.json", rank_file(0, 5)), b = folder.write("b.json", rank_file(1, 5)),
                    c = folder.write("c.json", rank_file(2, 9));
  const std::string ab = folder.write("ab.json", merged_text({a, b}));
  Merged together, twice;
  std::string all = merged_text({a, b, c}, &together), again = merged_text({ab, c}, &twice);
  const auto events = [](const std::string& text) { return text.substr(text.find("\"traceEvents\"")); };
  EXPECT_EQ(events(again), events(all));
  EXPECT_EQ(together.sources[1].found.events, twice.sources[1].found.events);
}

TEST(Merge, KeepsAForeignRecordingOutOfTheRanks) {
  const Folder folder;
  const std::string a = folder.write("a.json", rank_file(0, 5));
  const std::string line =
      R"({"id":"1","name":"read","cat":"POSIX","pid":"70","tid":"70","ts":"1700000000000001","dur":"8","ph":"X","args":{}})";
  const std::string io = folder.write("io.pfw", "[\n" + line + "\n" + line + "\n]");
  Merged merged;
  const std::string path = folder.write("m.json", merged_text({a, io}, &merged));
  EXPECT_EQ(merged.sources[1].found.events, 2);
  EXPECT_EQ(merged.sources[1].processes[0].name, "rank 0 · DFTracer (pid 70)");
  const auto trace = read::open({&path, 1});
  ASSERT_TRUE(trace.ok());
  ASSERT_EQ(trace->ranks.size(), 1u);
  EXPECT_EQ(trace->ranks[0].events.size(), 2u);
  ASSERT_FALSE(trace->notes.empty());
}

TEST(Merge, ListsOfCallsStandBesideTheRanks) {
  const Folder folder;
  const std::string a = folder.write("a.json", rank_file(0, 5));
  const std::string calls = folder.write("calls.txt", "70 1700000000.000001 close(3</d/a>) = 0 <0.000008>\n");
  const std::string dxt = folder.write(
      "dxt.txt", "# darshan log version: 3.41\n# start_time: 1700000000\nX_POSIX 2 read 0 0 8 0.1 0.2\n");
  Merged merged;
  const std::string text = merged_text({a, calls, dxt}, &merged);
  EXPECT_TRUE(merged.sources[1].foreign && merged.sources[2].foreign);
  EXPECT_EQ(merged.sources[1].processes[0].name, "rank 0 · pid 70");
  EXPECT_EQ(merged.sources[2].processes[0].name, "rank 0 · rank 2 (pid 2)");
}

TEST(Merge, WritesStrictJsonAndSaysWhatItMended) {
  const Folder folder;
  std::string text = rank_file(0, 5);
  text.insert(1, R"("odd":[1,],)");
  text.replace(text.find("gemm"), 4, R"(\Umm)");
  text.insert(text.find("]}"),
              R"(,,{"ph":"X","cat":"cpu_op","name":"n","pid":70,"tid":070,"ts":1700000000000040,)"
              R"("dur":1,"args":{"a":nan,"correlation":07}},)");
  for (const unsigned threads : {1u, 4u}) {
    MergeOptions options;
    options.threads = threads;
    auto merged = survey({folder.write("a.json", text)}, options);
    ASSERT_TRUE(merged.ok());
    std::string out;
    ASSERT_FALSE(write_chrome(*merged, options, false, [&](std::string_view piece) {
      out += piece;
      return true;
    }));
    ASSERT_EQ(merged->notes.size(), 1u);
    EXPECT_EQ(
        merged->notes[0],
        "a.json: other readers refuse this text, which is mended here: 1 value that is no JSON, such as "
        "NaN; 2 numbers with a leading zero or a bare point; 1 escape that JSON does not know; 3 commas "
        "too many or missing.");
    simdjson::dom::parser parser;
    EXPECT_EQ(parser.parse(out).error(), simdjson::SUCCESS) << out;
    EXPECT_NE(out.find(R"("args":{"a":"nan","correlation":)"), std::string::npos) << out;
    EXPECT_NE(out.find(R"("head":{"distributedInfo":{"rank":0},"odd":[1]})"), std::string::npos) << out;
  }
}

TEST(Merge, FindsNothingToMendInPlainFiles) {
  const Folder folder;
  std::string events;
  for (int i = 0; i < 60'000; ++i)
    events += (i == 0 ? "" : ",\n") +
              (R"({"ph":"X","cat":"cpu_op","name":"caf\u00e9 é","pid":7,"tid":7,"ts":)" + std::to_string(i) +
               R"(,"dur":1,"args":{"Input Dims":[[1, 2], []],"x":-1.5e3,"y":null}})");
  const std::string path = folder.write("a.json", R"({"schemaVersion":1, "traceEvents":[)" + events + "]}");
  for (const unsigned threads : {1u, 4u}) {
    MergeOptions options;
    options.threads = threads;
    const auto merged = survey({path}, options);
    ASSERT_TRUE(merged.ok());
    EXPECT_GT(merged->sources[0].found.by_block.size(), 2u);
    EXPECT_EQ(text_of(merged->sources[0].walked.breaches, true), "");
  }
}

TEST(Merge, SaysWhichPartOfACutFileIsLost) {
  const Folder folder;
  const std::string whole = rank_file(0, 5), a = folder.write("a.json", whole.substr(0, whole.size() - 30)),
                    b = folder.write("b.json", rank_file(1, 5));
  Merged merged;
  const std::string text = merged_text({a, b}, &merged);
  EXPECT_EQ(merged.sources[0].found.events, 1);
  EXPECT_EQ(merged.sources[0].found.lost, 1);
  ASSERT_FALSE(merged.notes.empty());
  EXPECT_NE(merged.notes[0].find("it ends early"), std::string::npos);
  const std::string cut = folder.write("cut.json", text.substr(0, text.rfind("stepscope.section") - 5));
  const auto trace = read::open({&cut, 1});
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace->ranks.size(), 1u);
  EXPECT_EQ(trace->unread.size(), 1u);
}

/// Three ranks' merged text, damaged by `damage` and opened.
Result<trace::Trace> reopened(const Folder& folder, const std::function<void(std::string&)>& damage) {
  std::string text =
      merged_text({folder.write("a.json", rank_file(0, 5)), folder.write("b.json", rank_file(1, 5)),
                   folder.write("c.json", rank_file(2, 5))});
  damage(text);
  const std::string path = folder.write("m.json", text);
  return read::open({&path, 1});
}

TEST(MergedDamage, OfTheHeadLosesNoRankWithoutAWord) {
  const Folder folder;
  for (const bool nulls : {true, false}) {
    const auto trace = reopened(folder, [&](std::string& text) {
      const std::size_t from = text.find("\"source\":\"b.json\""), to = text.find("{\"rank\":2");
      const std::size_t entry = text.rfind("{\"rank\":1", from);
      if (nulls)
        text.replace(from + 1, 15, 15, '\0');  // the list cannot be parsed from here on
      else
        text.erase(entry, to - entry);
    });
    ASSERT_TRUE(trace.ok());
    ASSERT_EQ(trace->ranks.size(), nulls ? 1u : 2u);
    EXPECT_EQ(trace->ranks.back().rank, nulls ? 0 : 2);
    EXPECT_EQ(trace->ranks.back().reading.events, 2);
    ASSERT_EQ(trace->unread.size(), nulls ? 3u : 1u);  // one of them names the damaged place
    const std::string& lost = trace->unread[nulls ? 1 : 0];
    EXPECT_NE(lost.find("m.json/b.json: its 2 events are in the merged file"), std::string::npos) << lost;
  }
}

TEST(MergedDamage, OfEventsIsALoss) {
  const Folder folder;
  const auto trace = reopened(folder, [](std::string& text) {
    const std::size_t from = text.rfind("cudaLaunchKernel"), to = text.rfind("gemm") + 2;
    text.replace(from, to - from, to - from, '\0');  // two events become one
  });
  ASSERT_TRUE(trace.ok());
  const trace::Reading& reading = trace->ranks[2].reading;
  EXPECT_EQ(trace->ranks[1].reading.losses, 0);
  EXPECT_EQ(reading.events, 1);
  ASSERT_EQ(reading.losses, 2);
  EXPECT_NE(reading.first_losses[0].reason.find("merging never writes"), std::string::npos);
  EXPECT_NE(reading.first_losses[1].reason.find("2 events of c.json were merged but 1 are here"),
            std::string::npos);
}

TEST(MergedDamage, OfASectionsStartIsNotTheNextRanksLoss) {
  const Folder folder;
  const auto trace = reopened(folder, [](std::string& text) {
    const std::size_t first = text.find(read::kSectionStart);
    text[text.find(read::kSectionStart, first + 1) + 5] = 'x';
  });
  ASSERT_TRUE(trace.ok());
  ASSERT_EQ(trace->ranks.size(), 2u);
  EXPECT_GT(trace->ranks[0].reading.losses, 0);  // b's events are read as a's
  EXPECT_EQ(trace->ranks[1].rank, 2);
  EXPECT_EQ(trace->ranks[1].reading.events, 2);
  EXPECT_EQ(trace->ranks[1].reading.losses, 0);
  EXPECT_EQ(trace->unread.size(), 1u);
}

TEST(MergedDamage, OfTheEndAndTextBehindItAreNamed) {
  const Folder folder;
  const auto cut = reopened(folder, [](std::string& text) { text.resize(text.size() - 20); });
  ASSERT_TRUE(cut.ok());
  ASSERT_EQ(cut->unread.size(), 1u);
  EXPECT_NE(cut->unread[0].find("is cut or damaged"), std::string::npos);
  const auto two = reopened(folder, [](std::string& text) { text += rank_file(3, 1); });
  ASSERT_TRUE(two.ok());
  EXPECT_EQ(two->ranks.size(), 3u);
  ASSERT_EQ(two->unread.size(), 1u);
  EXPECT_NE(two->unread[0].find("text follows the end of the document"), std::string::npos);
}

TEST(MergedDamage, OfASourceIsStillSaidOfTheMergeAndOfItsMerge) {
  const Folder folder;
  const std::string whole = rank_file(0, 5), a = folder.write("a.json", whole.substr(0, whole.size() - 30));
  const auto before = read::open({&a, 1});
  ASSERT_TRUE(before.ok());
  std::string path = a;
  for (const char* name : {"once.json", "twice.json"}) {
    path = folder.write(name, merged_text({path}));
    const auto trace = read::open({&path, 1});
    ASSERT_TRUE(trace.ok());
    const trace::Reading &was = before->ranks[0].reading, &is = trace->ranks[0].reading;
    EXPECT_FALSE(is.complete);
    EXPECT_EQ(is.losses, was.losses);
    EXPECT_EQ(is.lost_bytes, was.lost_bytes);
    ASSERT_EQ(is.first_losses.size(), 1u);
    EXPECT_EQ(is.first_losses[0].reason,
              was.first_losses[0].reason + "; already damaged in a.json when it was merged");
  }
}

TEST(MergedDamage, IsNotWhatTheSourceHeld) {
  const Folder folder;
  std::string text = rank_file(0, 5);
  text.replace(text.find("gemm"), 4, std::string("g\1\0m", 4));
  const std::string path = folder.write("m.json", merged_text({folder.write("a.json", text)}));
  const auto trace = read::open({&path, 1});
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace->ranks[0].reading.losses, 0);
  EXPECT_EQ(trace->name(trace->ranks[0], 1), std::string_view("g\1\0m", 4));
}

}  // namespace
}  // namespace stepscope::merge
