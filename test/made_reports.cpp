#include "made_reports.h"

#include <cmath>

namespace stepscope::test {

using report::Report;
using report::Role;
using report::Shape;
using report::Table;
using report::Tag;
using report::Unit;

Report made_kernels() {
  Table table{"Kernels", Shape::bars, {}};
  table.texts("name") = {
      "void cudnn::cnn::dgrad2d_grouped_direct_kernel<float, 3, 3, 1, 1>(cudnn::cnn::ConvParams)",
      "ampere_sgemm_128x64_tn",
      "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
      "at::detail::Array<char*, 3>>(int, at::native::CUDAFunctor_add<float>)",
      "\x1b]0;evil\x07\x1b[31m<script>alert(\"x\" & 'y')</script> 日本語\xFF"};
  table.ints("calls", Unit::count) = {162, 318, 1204, 2};
  table.ints("total", Unit::ns) = {80800000, 31200000, 4100000, 912};
  table.reals("share", Unit::share, Role::share) = {.612, .2366, .031, .0000069};
  table.ints("mean", Unit::ns) = {498765, 98113, 3405, 456};
  table.ints("largest", Unit::ns) = {990000, 210000, 12000, 500};
  table.reals("flop_rate", Unit::flop_per_s) = {9.1e12, 12.7e12, report::kNoReal, report::kNoReal};
  table.texts("grid", Role::detail) = {"[64,7,1]", "[128,2,1]", "[4096,1,1]", "[1,1,1]"};
  table.reals("occupancy", Unit::share, Role::detail) = {.30, .25, .9, .01};
  table.texts("limit", Role::detail) = {"", "", "", ""};
  return {"kernels", {std::move(table)}, {"2 kernels had no name."}};
}

Report made_steps() {
  constexpr const char* kParts[] = {"kernel",  "memcpy",      "memset",   "communication",
                                    "runtime", "data_loader", "cpu_exec", "other"};
  constexpr std::int64_t kMicroseconds[] = {98600, 2100, 30, 0, 3900, 59300, 12500, 1600};
  Table steps{"Step time by what the time went to", Shape::bars, {}};
  steps.texts("step", Tag::of_one_run) = {"5", "6", "7", "8", "9", "10"};
  report::Ints total(6);
  for (std::size_t part = 0; part < std::size(kParts); ++part) {
    auto& column = steps.ints(kParts[part], Unit::ns, Tag::part);
    for (int step = 0; step < 6; ++step) {
      const bool grows = part == 5;
      column.push_back(kMicroseconds[part] * (1000 + (grows ? 50 * step : 0)));
      total[static_cast<std::size_t>(step)] += column.back();
    }
  }
  steps.ints("total", Unit::ns, Tag::whole) = total;
  steps.ints("device_length", Unit::ns, Role::detail) = total;
  Table average{"Average step", Shape::bars, {}, true};
  average.texts("role") = {std::begin(kParts), std::end(kParts)};
  auto& time = average.ints("time", Unit::ns);
  auto& share = average.reals("share", Unit::share, Role::share);
  for (const std::int64_t part : kMicroseconds) {
    time.push_back(part * 1000);
    share.push_back(static_cast<double>(part) / 178030);
  }
  return {"steps",
          {std::move(steps), std::move(average)},
          {"Step 11 is cut off; it is left out of the average."}};
}

Report made_modules() {
  Table table{"Modules", Shape::tree, {}};
  table.texts("module") = {"ResNet", "layer1", "Bottleneck_0", "conv1", "Bottleneck_1", "layer2", "fc"};
  table.ints("depth", Unit::none, Role::depth) = {0, 1, 2, 3, 2, 1, 1};
  table.ints("device_total", Unit::ns) = {98000000, 41000000, 22000000, 9000000, 19000000, 50000000, 7000000};
  table.reals("share", Unit::share, Role::share) = {1, .418, .224, .09, .19, .51, .07};
  return {"modules", {std::move(table)}, {}};
}

Report made_memory() {
  Table table{"Memory over time", Shape::curve, {}};
  auto& time = table.ints("time", Unit::ns, Role::key);
  auto& allocated = table.ints("allocated", Unit::bytes);
  auto& reserved = table.ints("reserved", Unit::bytes);
  constexpr std::int64_t kMiB = 1 << 20;
  for (int i = 0; i < 900; ++i) {
    const int saw = i % 150 < 75 ? i % 150 : 150 - i % 150;
    time.push_back(i * 1200000LL);
    allocated.push_back(i == 400 ? 5800 * kMiB : (500 + saw * 50) * kMiB);
    reserved.push_back(i < 300 ? 4000 * kMiB : 6200 * kMiB);
  }
  return {"memory_curve", {std::move(table)}, {}};
}

Report made_ranks() {
  Table table{"Step time by rank", Shape::matrix, {}};
  auto& rank = table.ints("rank", Unit::none, Role::key);
  auto& step = table.ints("step", Unit::none, Role::key);
  auto& length = table.ints("length", Unit::ns);
  for (int r = 0; r < 8; ++r) {
    for (int s = 0; s < 12; ++s) {
      rank.push_back(r);
      step.push_back(s);
      length.push_back(178000000 + (r == 5 ? 40000000 : 0) + s * 1700000);
    }
  }
  return {"ranks", {std::move(table)}, {}};
}

Report made_flame() {
  Table table{"Where the host was", Shape::flame, {}};
  table.texts("frame") = {"train.py: main", "forward", "conv2d", "backward", "optimizer.step"};
  table.ints("depth", Unit::none, Role::depth) = {0, 1, 2, 1, 1};
  table.ints("time", Unit::ns) = {100000000, 40000000, 25000000, 45000000, 10000000};
  return {"flame", {std::move(table)}, {}};
}

report::Verdict made_verdict() {
  using report::Confidence;
  report::Verdict verdict;
  report::RankVerdict& rank = verdict.ranks.emplace_back();
  rank.bound = report::Bound::host;
  rank.headline =
      "Host-bound: the device idles 43 % of each 178 ms step, most of it (59 ms) while the host waits for "
      "the data loader.";
  rank.step = 178100000;
  rank.steps = 6;
  const auto add = [&](report::RuleId id, const char* title, report::Range saving, Confidence confidence,
                       const char* remedy) -> report::Finding& {
    report::Finding& finding = verdict.findings.emplace_back();
    finding.id = id;
    finding.title = title;
    finding.saving = saving;
    finding.confidence = confidence;
    finding.remedy = remedy;
    return finding;
  };
  report::Finding& loader =
      add(report::RuleId::I01, "The device waits for the data loader", {35400000, 59300000}, Confidence::high,
          "DataLoader(num_workers=4, pin_memory=True, persistent_workers=True)");
  loader.because = "the wait is measured";
  loader.evidence = {
      {"",
       "In each of 6 steps the main thread is inside DataLoader.__next__ for 59.3 ms while no kernel runs; "
       "the loader "
       "has no workers, so that decoding, augmentation and copying all happen in front of the step."}};
  loader.verify = "the loader's share falls under 2 %";
  add(report::RuleId::K02, "Matrix products run without matrix units", {25000000, 45000000},
      Confidence::medium,
      "torch.set_float32_matmul_precision('high'), or torch.autocast('cuda', dtype=torch.bfloat16)")
      .evidence = {{"", "68 % of the kernel time is in products that could use them."}};
  add(report::RuleId::H01, "1,204 kernels of a step run for less than 5 µs", {0, 8700000}, Confidence::low,
      "torch.compile(model, mode='reduce-overhead')")
      .evidence = {{"", "They take 21 % of the launches."}};
  verdict.health = {{report::HealthId::Q01, report::HealthClass::A, 0, "The file ends early", "every total",
                     "Let the job finish."},
                    {report::HealthId::Q01, report::HealthClass::A, 1, "The file ends early", "every total",
                     "Let the job finish."},
                    {report::HealthId::Q02, report::HealthClass::C, 0, "No Python stacks.", "source lines",
                     "with_stack=True"}};
  return verdict;
}

report::Page made_page() {
  Report steps = made_steps();
  steps.tables.erase(steps.tables.begin());
  return {"resnet50.pt.trace.json.gz · Tesla V100",
          {as_report(made_verdict()), std::move(steps)},
          {"stepscope show steps resnet50.pt.trace.json.gz",
           "stepscope report resnet50.pt.trace.json.gz -o report.html"},
          made_verdict()};
}

}  // namespace stepscope::test
