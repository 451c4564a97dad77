// The rows that args, halves and odd events become.
#include <gtest/gtest.h>

#include "support/kineto_text.h"

namespace stepscope::read {
namespace {

using test::document;
using test::dump_rows;
using test::opened;
using test::Rows;

TEST(KinetoArgs, EmptyAbsentOrNotAnObject) {
  const auto trace = opened(document(R"(
    {"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1,"args":{}},{"ph":"X","name":"b","pid":1,"tid":1,"ts":2,"dur":1},
    {"ph":"X","name":"c","pid":1,"tid":1,"ts":3,"dur":1,"args":5},{"ph":"X","name":"d","pid":1,"tid":1,"ts":4,"dur":1,"args":[1,{"x":2}]},
    {"ph":"X","name":"e","pid":1,"tid":1,"ts":5,"dur":1,"args":null}
  )"));
  EXPECT_EQ(dump_rows(trace),
            (Rows{"1/1 op a [1000, 2000) {}", "1/1 op b [2000, 3000) {}", "1/1 op c [3000, 4000) {args=5}",
                  "1/1 op d [4000, 5000) {args:=[1,{\"x\":2}]}", "1/1 op e [5000, 6000) {args:=null}"}));
}

TEST(KinetoArgs, EveryTypeIsKept) {
  const auto trace = opened(document(R"(
    {"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1,"args":{"i":-3,"r":0.25,"e":1e3,"t":"a\"b","l":[[1, 2],[]],"o":{"k":"}"},
     "big":12345678901234567890,"max":999999999999999999,"long":0.12345678901234567890,"small":1.2345678901234568e-05,"i":4}}
  )"));
  EXPECT_EQ(dump_rows(trace),
            (Rows{"1/1 op a [1000, 2000) {i=-3,r=0.25,e=1000,t=a\"b,l:=[[1, 2],[]],o:={\"k\":\"}\"},"
                  "big:=12345678901234567890,max=999999999999999999,long:=0.12345678901234567890,"
                  "small=1.2345678901234568e-05,i=4}"}));
  const trace::ArgReader i(trace, trace.ranks[0], "i"), big(trace, trace.ranks[0], "big"),
      list(trace, trace.ranks[0], "l");
  EXPECT_EQ(i.integer(0), -3) << "of equal keys the first is read";
  EXPECT_EQ(big.real(0), 12345678901234567890.0);
  EXPECT_EQ(list.real(0), std::nullopt);
}

TEST(KinetoArgs, MoreThanAreIndexedAreKeptAsText) {
  std::string args;
  for (int i = 0; i < 300; ++i)
    args += (i > 0 ? ",\"k" : "\"k") + std::to_string(i) + "\":" + std::to_string(i);
  const auto trace =
      opened(document(R"({"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1,"args":{)" + args +
                      R"(}},{"ph":"X","name":"b","pid":1,"tid":1,"ts":2,"dur":1,"args":{"k0":1}})"));
  ASSERT_EQ(dump_rows(trace).size(), 2u);
  const trace::ArgReader first(trace, trace.ranks[0], "k255"), more(trace, trace.ranks[0], "(more args)");
  EXPECT_EQ(first.integer(0), 255);
  EXPECT_EQ(more.text(0), "{" + args + "}");
  EXPECT_EQ(trace.ranks[0].reading.crowded_args, 1);
  EXPECT_EQ(trace.ranks[0].reading.losses, 0);
}

TEST(KinetoArgs, TooManyFieldsBesideTheArgsAreCountedAsLost) {
  std::string fields;
  for (int i = 0; i < 300; ++i) fields += ",\"k" + std::to_string(i) + "\":1";
  const auto trace =
      opened(document(R"({"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1)" + fields + "}"));
  ASSERT_EQ(dump_rows(trace).size(), 1u);
  EXPECT_EQ(trace.ranks[0].reading.losses, 1);
  EXPECT_EQ(trace.ranks[0].reading.lost_bytes, 44);
}

TEST(KinetoRows, ADeviceIdBeyondAllSenseIsDamage) {
  const auto trace = opened(
      document(R"({"ph":"X","cat":"kernel","name":"a","pid":2147483647,"tid":7,"ts":1,"dur":1},)"
               R"({"ph":"X","cat":"kernel","name":"b","pid":4611686018427387904,"tid":7,"ts":3,"dur":1})"));
  const trace::Rank& rank = trace.ranks[0];
  ASSERT_EQ(rank.events.size(), 2u);
  EXPECT_EQ(rank.tracks[rank.events.track[0]].device, 2147483647);
  EXPECT_EQ(rank.tracks[rank.events.track[1]].device, -1);
  EXPECT_EQ(rank.reading.losses, 1);
  EXPECT_EQ(rank.reading.lost_bytes, 0);
  EXPECT_TRUE(rank.reading.first_losses[0].reason.starts_with("a device id beyond 2^31"));
}

TEST(KinetoHalves, PairsByTimeInnermostFirst) {
  const auto trace = opened(document(R"(
    {"ph":"E","name":"out","pid":1,"tid":1,"ts":9},
    {"ph":"B","name":"out","cat":"c","pid":1,"tid":1,"ts":1,"args":{"x":"y"}},
    {"ph":"B","name":"in","pid":1,"tid":1,"ts":2},{"ph":"E","pid":1,"tid":1,"ts":3},
    {"ph":"B","name":"other track","pid":1,"tid":2,"ts":2},{"ph":"E","pid":1,"tid":2,"ts":4},
    {"ph":"E","pid":1,"tid":3,"ts":4},{"ph":"B","name":"never ends","pid":1,"tid":4,"ts":4}
  )"));
  EXPECT_EQ(
      dump_rows(trace),
      (Rows{"1/1 annotation out [1000, 9000) {x=y}", "1/1 annotation in [2000, 3000) {}",
            "1/2 annotation other track [2000, 4000) {}", "1/4 annotation never ends [4000, 4000) {}"}));
  EXPECT_EQ(trace.ranks[0].reading.unmatched_ends, 1);
  EXPECT_EQ(trace.ranks[0].reading.open_begins, 1);
}

TEST(KinetoHalves, ABeginWithoutAnEndLastsAsLongAsItsThread) {
  const auto trace = opened(document(R"(
    {"ph":"B","name":"never ends","pid":1,"tid":1,"ts":2},{"ph":"X","name":"a","pid":1,"tid":1,"ts":3,"dur":4},
    {"ph":"B","name":"in","pid":1,"tid":1,"ts":4},{"ph":"E","name":"in","pid":1,"tid":1,"ts":5},
    {"ph":"X","name":"elsewhere","pid":1,"tid":2,"ts":20,"dur":1}
  )"));
  EXPECT_EQ(dump_rows(trace),
            (Rows{"1/1 annotation never ends [2000, 7000) {}", "1/1 op a [3000, 7000) {}",
                  "1/1 annotation in [4000, 5000) {}", "1/2 op elsewhere [20000, 21000) {}"}));
  EXPECT_EQ(trace.ranks[0].reading.unmatched_ends, 0);
  EXPECT_EQ(trace.ranks[0].reading.open_begins, 1);
}

TEST(KinetoRows, OverlappingAndEqualEventsAreAllKept) {
  const auto trace = opened(document(R"(
    {"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":4},{"ph":"X","name":"b","pid":1,"tid":1,"ts":3,"dur":4},
    {"ph":"X","name":"b","pid":1,"tid":1,"ts":3,"dur":4},{"ph":"X","name":"c","pid":1,"tid":1,"ts":3,"dur":9},{"ph":"X","name":"z","pid":1,"tid":1,"ts":3,"dur":0}
  )"));
  EXPECT_EQ(dump_rows(trace),
            (Rows{"1/1 op a [1000, 5000) {}", "1/1 op c [3000, 12000) {}", "1/1 op b [3000, 7000) {}",
                  "1/1 op b [3000, 7000) {}", "1/1 op z [3000, 3000) {}"}));
}

TEST(KinetoRows, SourceIsThePositionInTheList) {
  const auto trace = opened(document(R"({"ph":"M","name":"process_name","pid":1,"args":{"name":"p"}},
    {"ph":"X","name":"late","pid":1,"tid":1,"ts":9,"dur":1},{"ph":"X","name":"early","pid":1,"tid":1,"ts":1,"dur":1})"));
  EXPECT_EQ(trace.ranks[0].events.source, (Column<std::uint32_t>{2, 1}));
}

}  // namespace
}  // namespace stepscope::read
