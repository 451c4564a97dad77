// Execution traces linked to their recordings; expected values are counted by hand.
#include "read/execution_trace/execution_trace.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "read/execution_trace/node_inputs.h"
#include "read/open.h"
#include "support/dump.h"

namespace stepscope::read {
namespace {

namespace fs = std::filesystem;

/// A node as PyTorch 1.13 writes it; `node` writes it as 2.15 does.
std::string flat_node(int id, std::string_view name, int record_id, int parent, std::string_view inputs) {
  return fmt::format(
      R"j({{ "name": "{}", "id": {}, "rf_id": {}, "parent": {}, "fw_parent": 0, "seq_id": -1, "scope": 0, "tid": 1,)j"
      R"j( "fw_tid": 0, "op_schema": "{}(...)", {}, "outputs": [], "output_shapes": [], "output_types": [] }})j",
      name, id, record_id, parent, name, inputs);
}
constexpr std::string_view kFlatProduct =
    R"j("inputs": [[1,2,0,6,4,"cpu"],[3,4,0,12,4,"cpu"]], "input_shapes": [[2,3],[3,4]],)j"
    R"j( "input_types": ["Tensor(float)","Tensor(float)"])j";

std::string node(int id, std::string_view name, int record_id, int parent, std::string_view inputs) {
  return fmt::format(
      R"j({{"id": {}, "name": "{}", "ctrl_deps": {}, "inputs": {{{}}}, "outputs": {{"values": [], "shapes": [],)j"
      R"j( "types": [], "strides": []}}, "attrs": [{{"name": "rf_id", "type": "uint64", "value": {}}},)j"
      R"j({{"name": "op_schema", "type": "string", "value": "{}(...)"}}]}})j",
      id, name, parent, inputs, record_id, name);
}
constexpr std::string_view kProduct =
    R"j("values": [[1,2,0,6,4,"cpu"],[3,4,0,12,4,"cpu"]], "shapes": [[2,3],[3,4]],)j"
    R"j( "types": ["Tensor(float)","Tensor(float)"], "strides": [[3,1],[4,1]])j";
constexpr std::string_view kNoInputs = R"j("values": [], "shapes": [], "types": [], "strides": [])j";

std::string document(const std::vector<std::string>& nodes, int pid = 7) {
  return fmt::format(
      R"j({{"schema": "1.1.1-chakra.0.0.4", "pid": {}, "time": "2026-01-01 00:00:00", "start_ts": 5,)j"
      "\n  \"nodes\": [{}],\n  \"finish_ts\": 9\n}}\n",
      pid, fmt::join(nodes, ",\n    "));
}

/// A recording of consecutive ops, with ids from 1 on.
std::string recording(const std::vector<std::string>& names, int pid = 7, int rank = -1) {
  std::string events;
  for (std::size_t i = 0; i < names.size(); ++i)
    events += fmt::format(R"j({}{{"ph":"X","cat":"cpu_op","name":"{}","pid":{},"tid":1,"ts":{},"dur":5,)j"
                          R"j("args":{{"Record function id":{}}}}})j",
                          i == 0 ? "" : ",", names[i], pid, 10 * i, i + 1);
  const std::string head =
      rank < 0 ? "" : fmt::format(R"j("distributedInfo":{{"rank":{},"world_size":2}},)j", rank);
  return "{" + head + "\"traceEvents\":[" + events + "]}";
}

class ExecutionTraces : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }
  void write(const char* name, std::string_view text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  std::string at(const char* name) const { return (folder_ / name).string(); }
  Result<trace::Trace> opened(const OpenOptions& options = {}) const {
    const std::string paths[] = {folder_.string()};
    return open(paths, options);
  }
  static std::string args(const trace::Trace& trace, std::size_t rank, trace::Row row) {
    return test::dump_args(trace, trace.ranks[rank], row);
  }

  fs::path folder_ = fs::temp_directory_path() / ("stepscope-et-" + std::to_string(::getpid()));
};

constexpr std::string_view kLinkedProduct =
    R"j(Input Dims:=[[2, 3], [3, 4]],Input type:=["float", "float"],Input Strides:=[[3, 1], [4, 1]],)j"
    R"j(Concrete Inputs:=["", ""],op_schema=aten::mm(...))j";

TEST_F(ExecutionTraces, GiveOpsWhatTheyWereCalledWith) {
  write("trace.json", recording({"aten::mm", "range"}));
  write("other.json", document({node(1, "process", 0, 1, kNoInputs), node(5, "aten::mm", 1, 1, kProduct),
                                node(6, "range", 2, 1, kNoInputs)}));
  const auto trace = opened();
  ASSERT_TRUE(trace.ok());
  ASSERT_EQ(trace->ranks.size(), 1u);
  EXPECT_EQ(trace->ranks[0].rank, -1) << "one recording alone has no number";
  EXPECT_EQ(args(*trace, 0, 0), "Record function id=1," + std::string(kLinkedProduct));
  EXPECT_EQ(args(*trace, 0, 1), "Record function id=2,op_schema=range(...)");
  ASSERT_EQ(trace->companions.size(), 1u);
  EXPECT_EQ(trace->companions[0].reading.events, 3);
  EXPECT_EQ(trace->companions[0].reading.format, "execution trace 1.1.1-chakra.0.0.4");
  EXPECT_TRUE(trace->companions[0].reading.complete);
  EXPECT_TRUE(trace->companions[0].faults.empty());
  ASSERT_EQ(trace->notes.size(), 1u);
  EXPECT_EQ(trace->notes[0],
            at("other.json") +
                " is the execution trace of this recording: 2 of its ops and ranges got from it "
                "the inputs, outputs and schema that the recording lacks.");
}

TEST_F(ExecutionTraces, OfPyTorch1HaveNoStrides) {
  write("trace.json", recording({"aten::mm"}));
  std::string text = document({flat_node(5, "aten::mm", 1, 1, kFlatProduct)});
  text.replace(text.find("1.1.1-chakra.0.0.4"), 18, "1.0.1");
  write("et.json", text);
  const auto trace = opened();
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(args(*trace, 0, 0),
            R"j(Record function id=1,Input Dims:=[[2, 3], [3, 4]],Input type:=["float", "float"],)j"
            R"j(Concrete Inputs:=["", ""],op_schema=aten::mm(...))j");
}

TEST_F(ExecutionTraces, LeaveWhatIsRecordedAsItIs) {
  write("trace.json",
        R"j({"traceEvents":[{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":7,"tid":1,"ts":1,"dur":2,)j"
        R"j("args":{"External id":1,"Input Dims":[[9,9],[9,9]]}}]})j");
  write("et.json", document({node(5, "aten::mm", 1, 1, kProduct)}));
  const auto trace = opened();
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(args(*trace, 0, 0), "External id=1,Input Dims:=[[9,9],[9,9]],op_schema=aten::mm(...)");
}

TEST_F(ExecutionTraces, NeverLinkByTheIdAlone) {
  write("trace.json", recording({"aten::mm", "aten::mul"}));
  write("et.json", document({node(5, "aten::mm", 1, 1, kProduct), node(6, "aten::add", 2, 1, kProduct)}));
  const auto trace = opened();
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(args(*trace, 0, 0), "Record function id=1," + std::string(kLinkedProduct));
  EXPECT_EQ(args(*trace, 0, 1), "Record function id=2");
  ASSERT_EQ(trace->notes.size(), 1u);
  EXPECT_NE(trace->notes[0].find("1 of its ops and ranges got from it"), std::string::npos);
  EXPECT_NE(trace->notes[0].find("1 has the id (Record function id) of a node with another name"),
            std::string::npos);
}

TEST_F(ExecutionTraces, OfAnotherRunAreLeftOut) {
  write("trace.json", recording({"aten::mm", "aten::mul"}));
  write("et.json",
        document({node(5, "aten::sub", 1, 1, kProduct), node(6, "aten::mul", 2, 1, kProduct)}, 99));
  const auto trace = opened();
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(args(*trace, 0, 1), "Record function id=2")
      << "half of the names agree, and the process does not";
  ASSERT_EQ(trace->notes.size(), 1u);
  EXPECT_NE(trace->notes[0].find("of 2 ops with an id of its nodes only 1 have the node's name"),
            std::string::npos);
  EXPECT_EQ(trace->companions[0].rank, -1);
}

TEST_F(ExecutionTraces, AreOfTheRankWithTheirProcess) {
  write("a.json", recording({"aten::mm"}, 7, 0));
  write("b.json", recording({"aten::mm"}, 8, 1));
  write("et.json", document({node(5, "aten::mm", 1, 1, kProduct)}, 8));
  const auto trace = opened();
  ASSERT_TRUE(trace.ok());
  ASSERT_EQ(trace->ranks.size(), 2u);
  EXPECT_EQ(args(*trace, 0, 0), "Record function id=1");
  EXPECT_EQ(args(*trace, 1, 0), "Record function id=1," + std::string(kLinkedProduct));
  EXPECT_EQ(trace->companions[0].rank, 1);
}

TEST_F(ExecutionTraces, OfEqualProcessesAreToldByTheirNames) {
  write("a.json", recording({"aten::mm"}, 7, 0));
  write("b.json", recording({"aten::mm"}, 7, 1));
  write("et.json", document({node(5, "aten::mm", 1, 1, kProduct)}));
  const auto unknown = opened();
  ASSERT_TRUE(unknown.ok());
  EXPECT_EQ(unknown->companions[0].rank, -1);
  EXPECT_NE(unknown->notes.back().find("fits 2 ranks equally well"), std::string::npos);
  fs::rename(at("et.json"), at("rank1.et.json"));
  const auto known = opened();
  ASSERT_TRUE(known.ok());
  EXPECT_EQ(known->companions[0].rank, 1);
  EXPECT_EQ(args(*known, 0, 0), "Record function id=1");
}

TEST_F(ExecutionTraces, AloneAreNoRecording) {
  write("et.json", document({node(5, "aten::mm", 1, 1, kProduct)}));
  const auto trace = opened();
  ASSERT_FALSE(trace.ok());
  EXPECT_TRUE(trace.error().message.starts_with(
      "is an execution trace, which holds ops and their inputs but no times"));
  EXPECT_EQ(trace.error().file, at("et.json"));
  OpenOptions alone;
  alone.companions_alone = true;
  const auto checked = opened(alone);
  ASSERT_TRUE(checked.ok());
  EXPECT_TRUE(checked->ranks.empty());
  EXPECT_EQ(checked->companions.size(), 1u);
}

/// Parses this text.
ExecutionTrace read(std::string_view text, BlockSizes blocks = {}) {
  const auto source = memory_bytes(text.data(), text.size());
  auto trace = parse_execution_trace("et.json", *source, blocks);
  EXPECT_TRUE(trace.ok()) << trace.error().text();
  return trace.ok() ? std::move(*trace) : ExecutionTrace{};
}

std::vector<std::int64_t> ids(const ExecutionTrace& trace) {
  std::vector<std::int64_t> ids;
  for (const ExecutionNode& node : trace.nodes) ids.push_back(node.id);
  return ids;
}

TEST(ExecutionTrace, IsToldByItsContent) {
  EXPECT_TRUE(is_execution_trace(document({})));
  EXPECT_TRUE(is_execution_trace(document({node(5, "a", 1, 1, kProduct)}).substr(0, 130)));
  EXPECT_FALSE(is_execution_trace(recording({"a"})));
  EXPECT_FALSE(is_execution_trace(R"j({"schemaVersion": 1, "nodes": []})j"));
  EXPECT_FALSE(is_execution_trace(R"j({"schema": "x", "traceEvents": [], "nodes": []})j"));
  EXPECT_FALSE(is_execution_trace(R"j({"schema": 1, "nodes": []})j"));
  for (const char* other : {"", "{", "[", "{\"schema\"", "{\"schema\":", "{\"schema\": \"1\"}"})
    EXPECT_FALSE(is_execution_trace(other)) << other;
}

TEST(ExecutionTrace, KeepsWhatStandsBeforeTheCut) {
  const std::string whole =
      document({node(1, "a", 1, 1, kProduct), node(2, "b", 2, 1, kProduct), node(3, "c", 3, 1, kProduct)});
  const std::size_t third = whole.find("{\"id\": 3");
  const ExecutionTrace cut = read(std::string_view(whole).substr(0, third + 40));
  EXPECT_EQ(ids(cut), (std::vector<std::int64_t>{1, 2}));
  EXPECT_FALSE(cut.reading.complete);
  ASSERT_EQ(cut.reading.first_losses.size(), 1u);
  EXPECT_EQ(cut.reading.first_losses[0].byte, static_cast<std::int64_t>(third));
}

TEST(ExecutionTrace, LosesADamagedNodeAlone) {
  const std::vector<std::pair<std::string, std::string>> damages = {
      {"\"id\": 2,", "\"id\": \"2\","},
      {"\"id\": 2,", "\"id\": 99999999999999999999,"},
      {"\"id\": 2,", "\"id\": -2,"},
      {"\"name\": \"b\"", "\"name\": [1]"},
      {"\"name\": \"b\"", "\"name\": \"b\"c\""},
      {"\"value\": 20}", "\"value\": 1e30}"},
      {"\"ctrl_deps\": 1, \"inputs\": {\"values\": [[9", "\"ctrl_deps\": {}, \"inputs\": {\"values\": [[9"}};
  const std::string second = node(2, "b", 20, 1, R"j("values": [[9]], "shapes": [[]], "types": ["Int"])j");
  const std::string whole = document({node(1, "a", 1, 1, kProduct), second, node(3, "c", 3, 1, kProduct)});
  EXPECT_EQ(ids(read(whole)), (std::vector<std::int64_t>{1, 2, 3}));
  for (const auto& [good, bad] : damages) {
    std::string text = whole;
    ASSERT_NE(text.find(good), std::string::npos) << good;
    text.replace(text.find(good), good.size(), bad);
    const ExecutionTrace trace = read(text);
    EXPECT_EQ(ids(trace), (std::vector<std::int64_t>{1, 3})) << bad;
    EXPECT_TRUE(trace.reading.complete);
    ASSERT_EQ(trace.reading.losses, 1) << bad;
    EXPECT_EQ(trace.reading.first_losses[0].byte, static_cast<std::int64_t>(text.find("{\"id\": ", 200)))
        << bad;
  }
}

TEST(ExecutionTrace, SaysWhatNodesContradict) {
  const ExecutionTrace fine =
      read(document({node(1, "root", 0, 1, kNoInputs), node(2, "a", 1, 1, kProduct)}));
  EXPECT_TRUE(fine.faults.empty());
  const ExecutionTrace odd = read(
      document({node(1, "root", 0, 1, kNoInputs), node(2, "a", 1, 3, kProduct), node(3, "b", 2, 2, kProduct),
                node(4, "c", 3, 4, kProduct), node(4, "d", 4, 1, kProduct), node(6, "e", 5, 77, kProduct),
                node(7, "f", 6, 2, kProduct), R"j({"id": 8, "name": "g", "ctrl_deps": 1})j"}));
  EXPECT_EQ(odd.faults,
            (std::vector<std::string>{
                "1 of its nodes has the id of another node, e.g. node 4 (d).",
                "1 of its nodes has a parent that is not in the file, e.g. node 6 (e), with parent 77.",
                "cycles among the parents of its nodes: 1, e.g. at node 2 (a).",
                "1 of its nodes has no outputs."}));
}

TEST(ExecutionTrace, IsTheSameHoweverItIsCut) {
  std::string text = document(
      {node(1, "a", 1, 1, kProduct), flat_node(2, "b", 2, 1, kFlatProduct), node(3, "c", 3, 1, kProduct)});
  text.insert(text.find("{ \"name\""), "7, {\"broken\"}, ");
  const auto told = [](const ExecutionTrace& trace) {
    std::string out;
    for (const ExecutionNode& n : trace.nodes)
      out += fmt::format("{} {} {} {} {}\n", n.id, n.parent, n.record_id, trace.strings[n.name],
                         trace.strings[n.dims]);
    return out + test::dump_reading(trace.reading);
  };
  const std::string whole = told(read(text));
  EXPECT_EQ(read(text).reading.losses, 1);
  for (const std::size_t usual : {1u, 7u, 97u, 300u})
    EXPECT_EQ(told(read(text, {usual, std::size_t{1} << 16})), whole) << usual;
}

TEST(ExecutionTrace, WithoutNodesIsAnError) {
  const std::string text = document({});
  const auto source = memory_bytes(text.data(), text.size());
  const auto trace = parse_execution_trace("et.json", *source);
  ASSERT_FALSE(trace.ok());
  EXPECT_TRUE(trace.error().message.starts_with("is an execution trace without nodes;"));
}

TEST(NodeInputs, AreAsInKinetosFiles) {
  const auto padded = [](std::string_view text) { return std::string(text) + std::string(64, '\0'); };
  const std::string values = padded(
      R"j([[1,2,0,6,4,"cpu"],[[1,2,0,21,4,"cpu"],"<None>"],5,0.500000,1.000000,true,"<None>","floor","cpu",[1,-1],[],"nan"])j");
  const std::string shapes = padded(R"j([[2,3],[[3,7],[]],[],[],[],[],[],[],[],[[],[]],[],[]])j");
  const std::string types = padded(
      R"j(["Tensor(c10::complex<float>)","GenericList[Tensor(float),None]","Int","Double","Double","Bool","None","String","Device","GenericList[Int,Int]","GenericList[]","Double"])j");
  const auto view = [](const std::string& text) {
    return std::string_view(text).substr(0, text.size() - 64);
  };
  InputArgs args;
  ASSERT_TRUE(read_inputs({view(values), view(shapes), view(types), ""}, args));
  EXPECT_EQ(args.dims, "[[2, 3], [[3, 7], []], [], [], [], [], [], [], [], [], [], []]");
  EXPECT_EQ(args.types,
            R"j(["c10::complex<float>", "TensorList", "Scalar", "Scalar", "Scalar", "Scalar", "", "", "", )j"
            R"j("ScalarList", "ScalarList", "Scalar"])j");
  EXPECT_EQ(args.concrete,
            R"j(["", "", "5", "0.5", "1.", "True", "", "floor", "", "[1, -1]", "[]", "nan"])j");
  EXPECT_EQ(args.strides, "");
}

TEST(NodeInputs, OfUnequalListsAreNone) {
  const std::string one = "[5]" + std::string(64, '\0'), type = "[\"Int\",\"Int\"]" + std::string(64, '\0');
  const std::string_view list = std::string_view(one).substr(0, 3);
  InputArgs args;
  EXPECT_FALSE(read_inputs({list, list, std::string_view(type).substr(0, 13), ""}, args));
  EXPECT_EQ(args.dims, "");
  EXPECT_FALSE(read_inputs({}, args));
}

}  // namespace
}  // namespace stepscope::read
