// Each dialect as a tiny text with the rows it must become.
#include "read/kineto/kineto.h"

#include <gtest/gtest.h>

#include <map>

#include "derive/idle/device_busy.h"
#include "support/kineto_text.h"

namespace stepscope::read {
namespace {

using test::document;
using test::dump_rows;
using test::gzip;
using test::opened;
using test::Rows;

TEST(KinetoDialect, OldCapitalisedCategories) {
  const auto trace = opened(document(R"(
    {"ph":"X","cat":"Operator","name":"aten::add","pid":10,"tid":11,"ts":100,"dur":20,"args":{"Device":1,"External id":5}},
    {"ph":"X","cat":"Runtime","name":"cudaLaunchKernel","pid":10,"tid":11,"ts":105,"dur":5,"args":{"external id":5,"correlation":7}},
    {"ph":"X","cat":"Kernel","name":"k","pid":0,"tid":"stream 7","ts":112,"dur":3,"args":{"external id":5,"correlation":7}},
    {"ph":"X","cat":"Memcpy","name":"Memcpy HtoD","pid":0,"tid":"stream 7","ts":116,"dur":1,"args":{}},
    {"ph":"X","cat":"Memset","name":"Memset","pid":0,"tid":"stream 7","ts":118,"dur":1}
  )"));
  EXPECT_EQ(dump_rows(trace),
            (Rows{"10/11 op aten::add [100000, 120000) {Device=1,External id=5}",
                  "10/11 runtime cudaLaunchKernel [105000, 110000) {external id=5,correlation=7}",
                  "0/stream 7 kernel k [112000, 115000) {external id=5,correlation=7}",
                  "0/stream 7 memcpy Memcpy HtoD [116000, 117000) {}",
                  "0/stream 7 memset Memset [118000, 119000) {}"}));
  const trace::Rank& rank = trace.ranks[0];
  EXPECT_EQ(rank.events.launch[2], 1u);
  EXPECT_EQ(rank.events.op[2], 0u);
  EXPECT_EQ(rank.tracks[1].device, 0);
  EXPECT_EQ(rank.tracks[1].stream, 7);
}

TEST(KinetoDialect, TextPidsAndTids) {
  const auto trace = opened(document(R"x(
    {"ph":"X","cat":"Trace","name":"PyTorch Profiler (0)","pid":"Spans","tid":"PyTorch Profiler","ts":1,"dur":9,"args":{"Op count":0}},
    {"ph":"X","cat":"cpu_op","name":"a","pid":"12","tid":"13","ts":2,"dur":1},
    {"ph":"X","cat":"cpu_op","name":"b","pid":12,"tid":13,"ts":4,"dur":1},
    {"ph":"i","s":"g","name":"Iteration Start: PyTorch Profiler","pid":"Traces","tid":"Trace PyTorch Profiler","ts":1},
    {"ph":"i","s":"g","name":"Record Window End","pid":"","tid":"","ts":10}
  )x"));
  EXPECT_EQ(
      dump_rows(trace),
      (Rows{"12/13 op a [2000, 3000) {}", "12/13 op b [4000, 5000) {}",
            "/ instant Record Window End [10000, 10000) {}",
            "Spans/PyTorch Profiler span PyTorch Profiler (0) [1000, 10000) {Op count=0}",
            "Traces/Trace PyTorch Profiler instant Iteration Start: PyTorch Profiler [1000, 1000) {}"}));
}

TEST(KinetoDialect, IntegerMicrosecondsSinceTheEpoch) {
  const auto trace = opened(
      document(R"({"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1623143089861123,"dur":7})"));
  EXPECT_EQ(dump_rows(trace), (Rows{"1/1 op a [1623143089861123000, 1623143089861130000) {}"}));
}

TEST(KinetoDialect, FractionalMicrosecondsSinceTheEpochLoseNothing) {
  const auto trace = opened(
      R"({"displayTimeUnit":"ns","traceEvents":[{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1711964646123456.789,"dur":0.001}]})");
  EXPECT_EQ(dump_rows(trace), (Rows{"1/1 op a [1711964646123456789, 1711964646123456790) {}"}));
}

TEST(KinetoDialect, RelativeToABaseThatComesAfterTheEvents) {
  const auto trace =
      opened(R"({"traceEvents":[{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":5.250,"dur":1.5}],
    "displayTimeUnit":"ms","baseTimeNanoseconds": 1751410836000000000,
    "distributedInfo":{"backend":"nccl","rank":3,"world_size":8,"ranks":"[0, 1]"},
    "machineInfo":{"cores":16,"accelerators":2,"threads":"many"},
    "deviceProperties":[{"id":0,"name":"NVIDIA H100","totalGlobalMem":85045477376,"computeMajor":9,"computeMinor":0,
      "maxThreadsPerMultiprocessor":2048,"warpSize":32,"numSms":132},{"id":1,"name":"second"}],
    "traceName":"x.json"})");
  EXPECT_EQ(dump_rows(trace), (Rows{"1/1 op a [5250, 6750) {}"}));
  const trace::Rank& rank = trace.ranks[0];
  EXPECT_EQ(rank.base_ns, 1751410836000000000);
  EXPECT_EQ(rank.rank, 3);
  EXPECT_EQ(rank.world_size, 8);
  EXPECT_EQ(rank.backend, "nccl");
  EXPECT_EQ(rank.machine.cores, 16);
  EXPECT_EQ(rank.machine.accelerators, 2);
  EXPECT_EQ(rank.machine.threads, -1);
  ASSERT_EQ(rank.devices.size(), 2u);
  EXPECT_EQ(rank.devices[0].name, "NVIDIA H100");
  EXPECT_EQ(rank.devices[0].sm_count, 132);
  EXPECT_EQ(rank.devices[0].total_memory, 85045477376);
  EXPECT_TRUE(rank.reading.complete);
  EXPECT_EQ(rank.reading.losses, 0);
}

TEST(KinetoDialect, OldDeviceKeys) {
  const auto trace =
      opened(R"({"computeProperties":[{"id":0,"name":"V100","major":7,"minor":5,"multiProcessorCount":80,
    "maxThreadsPerMultiProcessor":1024}],"traceEvents":[{"ph":"X","cat":"Operator","name":"a","pid":1,"tid":1,"ts":5,"dur":1}]})");
  ASSERT_EQ(trace.ranks[0].devices.size(), 1u);
  EXPECT_EQ(trace.ranks[0].devices[0].compute_major, 7);
  EXPECT_EQ(trace.ranks[0].devices[0].compute_minor, 5);
  EXPECT_EQ(trace.ranks[0].devices[0].sm_count, 80);
  EXPECT_EQ(trace.ranks[0].devices[0].max_threads_per_sm, 1024);
}

TEST(KinetoDialect, BareArray) {
  const auto trace = opened(R"([{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":5,"dur":1}])");
  EXPECT_EQ(dump_rows(trace), (Rows{"1/1 op a [5000, 6000) {}"}));
  EXPECT_TRUE(trace.ranks[0].reading.complete);
}

TEST(KinetoDialect, LegacyAutogradExport) {
  const auto trace = opened(
      R"([{"name": "aten::randn", "ph": "X", "ts": 3.1, "dur": 5.2, "tid": 1, "pid": "CPU functions", "args": {}},
    {"name": "aten::randn", "ph": "s", "ts": 3.1, "tid": 1, "pid": "CPU functions", "id": 1, "cat": "cpu_to_cuda", "args": {}},
    {"name": "k", "ph": "X", "ts": 4.0, "dur": 1.0, "tid": 0, "pid": "CUDA functions", "args": {}}])");
  EXPECT_EQ(dump_rows(trace), (Rows{"CPU functions/1 op aten::randn [3100, 8300) {}",
                                    "CUDA functions/0 op k [4000, 5000) {}"}));
  EXPECT_EQ(trace.ranks[0].flows.size(), 1u);
}

TEST(KinetoDialect, RocmXpuAndMtiaCategories) {
  const auto trace = opened(document(R"(
    {"ph":"X","cat":"hip_runtime","name":"hipLaunchKernel","pid":1,"tid":1,"ts":1,"dur":1},
    {"ph":"X","cat":"xpu_runtime","name":"urEnqueueKernelLaunch","pid":1,"tid":1,"ts":3,"dur":1},
    {"ph":"X","cat":"xpu_driver","name":"zeCommandListAppend","pid":1,"tid":1,"ts":5,"dur":1},
    {"ph":"X","cat":"mtia_runtime","name":"runFunction - LaunchJob","pid":1,"tid":1,"ts":7,"dur":1},
    {"ph":"X","cat":"privateuse1_runtime","name":"p","pid":1,"tid":1,"ts":9,"dur":1},
    {"ph":"X","cat":"mtia_ccp_events","name":"k","pid":0,"tid":2,"ts":11,"dur":1},
    {"ph":"X","cat":"xpu_sync","name":"w","pid":0,"tid":2,"ts":13,"dur":1},
    {"ph":"X","cat":"hpu_op","name":"h","pid":0,"tid":3,"ts":13,"dur":1},
    {"ph":"C","cat":"mtia_counters","name":"c","pid":0,"tid":2,"ts":15,"args":{"":3.5}},
    {"ph":"X","cat":"critical_path","name":"foreign","pid":1,"tid":1,"ts":17,"dur":1}
  )"));
  const trace::EventTable& e = trace.ranks[0].events;
  std::map<std::string, std::string> kinds;
  for (trace::Row row = 0; row < e.size(); ++row)
    kinds[std::string(trace.text(e.category[row]))] = trace::name_of(e.kind[row]);
  EXPECT_EQ(kinds, (std::map<std::string, std::string>{{"hip_runtime", "runtime"},
                                                       {"xpu_runtime", "runtime"},
                                                       {"xpu_driver", "runtime"},
                                                       {"mtia_runtime", "runtime"},
                                                       {"privateuse1_runtime", "runtime"},
                                                       {"mtia_ccp_events", "kernel"},
                                                       {"xpu_sync", "device_sync"},
                                                       {"hpu_op", "kernel"},
                                                       {"mtia_counters", "counter"},
                                                       {"critical_path", "other"}}));
}

// The device waits from 10 to 90 for another queue, and works from 90 to 100.
TEST(KinetoDialect, AnAcceleratorsWaitsAreNoWork) {
  const auto trace = opened(document(R"(
    {"ph":"X","cat":"mtia_ccp_events","name":"event_wait","pid":0,"tid":2,"ts":10,"dur":80},
    {"ph":"X","cat":"mtia_ccp_events","name":"pe_exe","pid":0,"tid":2,"ts":90,"dur":10},
    {"ph":"X","cat":"mtia_ccp_events","name":"event_record","pid":0,"tid":2,"ts":100,"dur":1}
  )"));
  EXPECT_EQ(dump_rows(trace),
            (Rows{"0/2 device_sync event_wait [10000, 90000) {}", "0/2 kernel pe_exe [90000, 100000) {}",
                  "0/2 device_mark event_record [100000, 101000) {}"}));
  const auto busy = derive::busy_devices(trace.ranks[0]);
  ASSERT_EQ(busy.size(), 1u);
  EXPECT_EQ(busy[0].all.length(), 10'000);
}

TEST(KinetoDialect, NumbersThatAreNotNumbers) {
  const auto trace = opened(document(R"(
    {"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":5,"dur":1,"args":{"a":N/A,"b":nan,"c":-inf,"d":Infinity,"e":"NaN","f":null,"g":true}}
  )"));
  EXPECT_EQ(dump_rows(trace),
            (Rows{"0/7 kernel k [5000, 6000) {a:=N/A,b:=nan,c:=-inf,d:=Infinity,e=NaN,f:=null,g:=true}"}));
  EXPECT_EQ(trace.ranks[0].reading.losses, 0);
}

TEST(KinetoDialect, FlowsWithoutAStart) {
  const auto trace = opened(document(R"(
    {"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":5,"dur":1},
    {"ph":"f","bp":"e","cat":"ac2g","name":"ac2g","id":31,"pid":0,"tid":7,"ts":5}
  )"));
  ASSERT_EQ(trace.ranks[0].flows.size(), 1u);
  EXPECT_EQ(trace.ranks[0].flows.id[0], 31);
  EXPECT_EQ(trace.ranks[0].flows.phase[0], 'f');
  EXPECT_EQ(trace.ranks[0].flows.track[0], trace.ranks[0].events.track[0])
      << "the end of a flow lies on the stream";
}

TEST(KinetoDialect, FlowIdsThatAreTextsOrTooLargeStayDifferent) {
  const auto trace = opened(document(R"(
    {"ph":"s","name":"n","id":"0xa","pid":0,"tid":7,"ts":5},{"ph":"s","name":"n","id":"0xb","pid":0,"tid":7,"ts":5},
    {"ph":"s","name":"n","id":12345678901234567890,"pid":0,"tid":7,"ts":5},{"ph":"f","name":"n","id":12345678901234567891,"pid":0,"tid":7,"ts":5},
    {"ph":"X","name":"a","pid":0,"tid":7,"ts":5,"dur":1}
  )"));
  auto ids = trace.ranks[0].flows.id;
  std::sort(ids.begin(), ids.end());
  EXPECT_EQ(std::unique(ids.begin(), ids.end()) - ids.begin(), 4);
}

TEST(KinetoDialect, MemoryEventsWithAndWithoutCategory) {
  const auto trace = opened(document(R"(
    {"ph":"i","s":"t","name":"[memory]","pid":1,"tid":2,"ts":5,"args":{"Device Type":1,"Device Id":0,"Addr":140,"Bytes":-512}},
    {"ph":"i","s":"t","cat":"cpu_instant_event","name":"[OutOfMemory]","pid":1,"tid":2,"ts":6,"args":{"Bytes":512}},
    {"ph":"i","s":"t","cat":"cpu_instant_event","name":"other","pid":1,"tid":2,"ts":7}
  )"));
  EXPECT_EQ(dump_rows(trace),
            (Rows{"1/2 memory [memory] [5000, 5000) {Device Type=1,Device Id=0,Addr=140,Bytes=-512}",
                  "1/2 memory [OutOfMemory] [6000, 6000) {Bytes=512}", "1/2 instant other [7000, 7000) {}"}));
}

TEST(KinetoDialect, NamesOfTracksWhereverTheyStand) {
  const auto trace = opened(document(R"(
    {"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":2,"ts":5,"dur":1},
    {"ph":"M","name":"process_name","pid":1,"tid":0,"ts":1,"args":{"name":"python"}},
    {"ph":"M","name":"thread_name","pid":1,"tid":2,"ts":1,"args":{"name":"thread 2 (main) "}},
    {"ph":"M","name":"thread_sort_index","pid":1,"tid":2,"ts":1,"args":{"sort_index":2}}
  )"));
  EXPECT_EQ(trace.ranks[0].tracks[0].name, "thread 2 (main)");
  EXPECT_EQ(trace.ranks[0].tracks[0].process, "python");
}

TEST(KinetoDialect, OfTwoNamesTheFullerOneWhateverTheOrder) {
  const std::string a =
      R"x({"ph":"M","name":"thread_name","pid":1,"tid":2,"ts":1,"args":{"name":"thread 2 (main)"}},)x";
  const std::string b =
      R"({"ph":"M","name":"thread_name","pid":1,"tid":2,"ts":1,"args":{"name":"Thread 2"}},)";
  const std::string event = R"({"ph":"X","name":"a","pid":1,"tid":2,"ts":5,"dur":1})";
  for (const std::string& events : {a + b + event, b + a + event})
    EXPECT_EQ(opened(document(events)).ranks[0].tracks[0].name, "thread 2 (main)");
}

TEST(KinetoDialect, HostThreadAndStreamOfEqualNumbersAreTwoTracks) {
  const auto trace = opened(document(R"(
    {"ph":"X","cat":"cpu_op","name":"a","pid":0,"tid":7,"ts":5,"dur":1},
    {"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":5,"dur":1}
  )"));
  ASSERT_EQ(trace.ranks[0].tracks.size(), 2u);
  EXPECT_EQ(trace.ranks[0].tracks[0].side, trace::Track::Side::host);
  EXPECT_EQ(trace.ranks[0].tracks[1].side, trace::Track::Side::device);
}

TEST(KinetoDialect, ByteOrderMarkSpacesAndForeignKeys) {
  const auto trace = opened(
      "\xEF\xBB\xBF\r\n { \"otherData\" : {\"a\":[{}]} ,\n \"traceEvents\" :\t[ \n"
      "{ \"ph\" : \"X\" , \"name\" : \"a\\u00e9\\n\" , \"pid\" : 1 , \"tid\" : 1 , \"ts\" : 5 , \"dur\" : 1 "
      ", \"colour\" : \"red\" } ] } \n");
  EXPECT_EQ(dump_rows(trace), (Rows{"1/1 op a\xC3\xA9\n [5000, 6000) {colour=red}"}));
  EXPECT_TRUE(trace.ranks[0].reading.complete);
  EXPECT_EQ(trace.ranks[0].metadata.size(), 1u);
}

// The text between two fields is learned from earlier events; extra space in a later event is still space.
TEST(KinetoDialect, EventsThatAreSpacedDifferently) {
  const trace::Trace trace = opened(document(R"J(
    {"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":2,"ts":1,"dur":3,"args":{"External id":4}},
    {"ph": "X", "cat":  "cpu_op", "name":
 "b","pid":	1,"tid":      2 ,"ts": 5,"dur":  3,"args":  {"External id": 6}},
    {"ph":"X","cat":"cpu_op","name":"c","pid":1,"tid":2,"ts":9,"dur":3,"args":{"External id":8}})J"));
  const trace::Rank& rank = trace.ranks[0];
  EXPECT_EQ(rank.reading.losses, 0);
  ASSERT_EQ(rank.events.size(), 3u);
  const trace::ArgReader id(trace, rank, "External id");
  for (trace::Row row = 0; row < 3; ++row) {
    EXPECT_EQ(trace.name(rank, row), std::string(1, static_cast<char>('a' + row)));
    EXPECT_EQ(rank.events.start[row], 1000 + 4000 * row);
    EXPECT_EQ(rank.events.duration(row), 3000);
    EXPECT_EQ(id.integer_or(row, 0), 4 + 2 * row);
  }
}

TEST(KinetoDialect, SeveralEventLists) {
  const auto trace = opened(R"({"traceEvents":[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1}],"x":1,
    "traceEvents":[{"ph":"X","name":"b","pid":1,"tid":1,"ts":3,"dur":1}]})");
  EXPECT_EQ(dump_rows(trace), (Rows{"1/1 op a [1000, 2000) {}", "1/1 op b [3000, 4000) {}"}));
}

TEST(KinetoDialect, GzipOfSeveralMembers) {
  const std::string text = document(
      R"({"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1},{"ph":"X","name":"b","pid":1,"tid":1,"ts":3,"dur":1})");
  for (std::size_t cut : {std::size_t{1}, text.size() / 2, text.size() - 1}) {
    const auto trace = opened(test::gzip(text.substr(0, cut)) + test::gzip(text.substr(cut)));
    EXPECT_EQ(dump_rows(trace).size(), 2u);
    EXPECT_TRUE(trace.ranks[0].reading.complete);
    EXPECT_EQ(trace.ranks[0].reading.losses, 0);
  }
}

}  // namespace
}  // namespace stepscope::read
