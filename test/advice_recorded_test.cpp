// What the advice says of recorded traces: the word, what to change first, and which rules stay silent.
#include "advise/verdict.h"
#include "make_rank.h"

namespace stepscope {
namespace {

using test::Cells;

report::Report advice(const std::string& path) {
  const std::string one[] = {path};
  const Result<trace::Trace> trace = read::open(one);
  if (!trace.ok()) {
    ADD_FAILURE() << path;
    return {};
  }
  const analyze::Derived derived(*trace, {});
  return advise::verdict(derived, advise::gather(derived, {}));
}

std::string path_of(std::string_view part) {
  for (const std::string& path : test::recorded_traces())
    if (path.find("/traces/" + std::string(part)) != std::string::npos) return path;
  return "";
}

TEST(RecordedAdvice, WordFirstFindingAndSilence) {
  if (test::recorded_traces().empty()) GTEST_SKIP() << "no recorded traces: ../shared/traces is absent";
  struct Known {
    const char *part, *word, *first;
    Cells quiet;
  };
  const Known known[] = {
      {"tb_samples/resnet50_num_workers_0/", "host-bound", "I01", {"H01", "S01"}},
      {"tb_samples/resnet50_num_workers_4/", "mixed", "", {"I01", "I02", "S01"}},
      {"v100_ns_resolution/", "device-bound", "P01", {"H01", "N10"}},
      {"v100_memory_events/", "host-bound", "H01", {"N01", "N09"}},
      {"a100_nccl/", "host-bound", "H01", {"N01", "S01"}},
      {"diff_pair/a100/", "communication-bound", "N01", {"S01"}},
      {"diff_pair/v100/", "device-bound", "P01", {"S01", "N09", "H01"}},
      {"h100_qwen1.5_0.5b/", "device-bound", "", {"H01", "P01", "S01"}},
      {"h100_vit/", "host-bound", "H01", {"P01"}},
      {"b200_eager/", "host-bound", "H01", {"N02", "C05", "P01"}},
      {"mi300_resnet_checkpointing/", "communication-bound", "N01", {"P01", "K01", "H01"}},
      {"mi300_sglang_decode/", "unknown", "", {"H01", "S01"}},
      {"two_ranks/", "unknown", "", {"H01", "N01"}},
      {"mi300_torch_compile/", "too little to judge", "", {}},
      {"critical_path/simple_add", "unknown", "", {"H01", "A01", "S01", "P01"}},
      {"a100_cupti_ranges/", "host times only", "", {}},
      {"cpu_only/", "host times only", "", {}},
      {"no_rank/", "host times only", "", {}},
      {"triton/", "too little to judge", "", {}},
      {"critical_path/cuda_event_sync.", "too little to judge", "", {}},
      {"critical_path/cuda_event_sync_multi", "too little to judge", "", {}},
      {"mi250_toy/", "too little to judge", "", {}},
  };
  for (const Known& k : known) {
    const report::Report report = advice(path_of(k.part));
    ASSERT_EQ(report.tables.size(), 3u) << k.part;
    EXPECT_EQ(test::cells(report.tables[0], "bound"), Cells{k.word}) << k.part;
    const Cells ids = test::cells(report.tables[1], "id");
    if (*k.first != '\0') {
      EXPECT_EQ(ids.empty() ? "" : ids[0], k.first) << k.part;
    }
    for (const std::string& id : k.quiet)
      EXPECT_EQ(std::count(ids.begin(), ids.end(), id), 0) << k.part << " " << id;
  }
}

TEST(GeneratedAdvice, NamesWhatWasPlanted) {
  const std::string samples = std::string(STEPSCOPE_ROOT) + "/examples/samples/generated_";
  const report::Report input = advice(samples + "slow_input.json.gz");
  EXPECT_EQ(test::cells(input.tables[0], "bound"), Cells{"host-bound"});
  EXPECT_EQ(test::cells(input.tables[1], "id")[0], "I01");
  EXPECT_EQ(test::cells(advice(samples + "item_sync.json.gz").tables[1], "id"), Cells{"S01"});
  EXPECT_EQ(test::cells(advice(samples + "tiny_kernels.json.gz").tables[1], "id"), Cells{"H01"});
  EXPECT_EQ(advice(samples + "healthy.json.gz").tables[1].rows(), 0u);
}

}  // namespace
}  // namespace stepscope
