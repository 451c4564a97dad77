// Rules of input (I): the device waits for data.
#include <fmt/format.h>

#include <algorithm>

#include "advise/io_cause.h"
#include "advise/late_workers.h"
#include "advise/own_places.h"
#include "advise/places.h"
#include "advise/rules/constants.h"
#include "advise/rules/families.h"
#include "advise/say.h"
#include "advise/see.h"
#include "report/names.h"
#include "report/statistics.h"

namespace stepscope::advise {
namespace {

using analyze::LoaderKind;
using analyze::LoaderWait;

constexpr std::size_t kMaxWorkerLines = 3;

/// The rank's waits for data, in the order of the file.
std::vector<LoaderWait> loader_waits(const Evidence& e) {
  std::vector<LoaderWait> waits;
  for (const LoaderWait* own : e.mine(e.reports().input_wait.waits, "Each wait")) waits.push_back(*own);
  return waits;
}

/// Mean time to load a batch if the training process waits for all of it, ns; `unknown` without waits.
std::int64_t mean_wait(const std::vector<LoaderWait>& waits, std::int64_t unknown) {
  std::int64_t sum = 0;
  for (const LoaderWait& wait : waits) report::add_to(sum, wait.length);
  return waits.empty() ? unknown : report::mean(sum, std::ssize(waits));
}

std::int64_t cost_of(const LoaderWait& wait) {
  return wait.exposed == report::kNoInt ? wait.length : wait.exposed;
}

LoaderWait both(const LoaderWait& first, const LoaderWait& second) {
  LoaderWait sum = second;
  report::add_to(sum.length, first.length);
  if (sum.exposed != report::kNoInt && first.exposed != report::kNoInt)
    report::add_to(sum.exposed, first.exposed);
  return sum;
}

/// Workers whose batches take about equally long begin together and are ready together: of a round, one batch
/// of each, the program waits for the first alone. 1 where loads differ or are not recorded.
std::size_t workers_in_step(const Evidence& e) {
  const auto all = e.mine(e.reports().files.fetching, "I/O while batches are fetched");
  if (all.empty() || all.front()->batches < kWaitsToCompare) return 1;
  const bool are_even = report::ratio(all.front()->long_load, all.front()->median_load) <= kEvenLoad;
  return are_even ? static_cast<std::size_t>(std::max<std::int64_t>(1, all.front()->workers)) : 1;
}

/// Lengths of waits for rounds of `of` batches; what is left over is left out.
std::vector<std::int64_t> rounds(const std::vector<LoaderWait>& waits, std::size_t of) {
  std::vector<std::int64_t> lengths(waits.size() / of, 0);
  for (std::size_t i = 0; i < lengths.size() * of; ++i) report::add_to(lengths[i / of], waits[i].length);
  return lengths;
}

/// At least one wait for a round takes half a step, and half of them are far shorter than the mean: typical
/// of enough workers and uneven batches.
bool comes_in_bursts(const Evidence& e, const std::vector<LoaderWait>& waits) {
  std::vector<std::int64_t> lengths = rounds(waits, workers_in_step(e));
  if (std::ssize(lengths) < kWaitsToCompare) return false;
  std::int64_t sum = 0;
  for (const std::int64_t length : lengths) report::add_to(sum, length);
  const auto longest = static_cast<double>(*std::max_element(lengths.begin(), lengths.end()));
  return longest >= kBurstWait * static_cast<double>(e.step_length()) &&
         report::ratio(report::quantile(lengths, 0.5), report::mean(sum, std::ssize(lengths))) <=
             kBurstMedian;
}

/// The wait that is longer than `share` of the others; not known if there is none.
report::Moment wait_at(double share, std::vector<LoaderWait> waits) {
  if (waits.empty()) return {};
  std::ranges::sort(waits, {}, &LoaderWait::length);
  const LoaderWait& wait = waits[static_cast<std::size_t>(share * static_cast<double>(waits.size() - 1))];
  return {wait.start, wait.length};
}

/// Waits for the first batch of restarted workers: long waits after the end of a loop. That end is an earlier
/// wait in the same step, in which the old workers end, and is added. Empty if they cost too little for a
/// finding.
std::vector<LoaderWait> restarts(const Evidence& e, const std::vector<LoaderWait>& waits) {
  std::vector<std::int64_t> lengths;
  for (const LoaderWait& wait : waits) lengths.push_back(wait.length);
  const std::int64_t usual = report::quantile(lengths, 0.5);
  std::vector<LoaderWait> found;
  std::int64_t cost = 0;
  for (std::size_t i = 1; i < waits.size(); ++i) {
    const LoaderWait &end = waits[i - 1], &first = waits[i];
    if ((first.length >= kRestart || end.length >= kWorkersEnd) &&
        static_cast<double>(first.length) >= kRestartTimes * static_cast<double>(usual) &&
        first.step != report::kNoInt && first.step == end.step) {
      found.push_back(both(end, first));
      report::add_to(cost, cost_of(found.back()));
    }
  }
  return found.empty() || e.share(cost) < kBurstShare ? std::vector<LoaderWait>{} : found;
}

/// "; workers spend 62 % in data.py:84 (encode), `ids = encode(text)`, in …": lines that hold at least
/// kSomeOfCost of the fetching.
std::string by_workers(const Evidence& e) {
  std::string text;
  std::size_t listed = 0;
  for (const analyze::WorkerLine* line : e.mine(e.reports().lines.elsewhere.workers, "Lines of workers")) {
    if (line->share < kSomeOfCost || listed++ == kMaxWorkerLines) break;
    text += fmt::format("{}{} in {}{}", text.empty() ? "; workers spend " : ", ", percent(line->share),
                        quoted_line(line->line, line->text),
                        line->calls.empty() ? "" : ", in " + report::short_name(placed(line->calls), 60));
  }
  return text;
}

std::optional<Claim> worker_restart(const Evidence& e, Bound) {
  const std::vector<LoaderWait> starts = restarts(e, loader_waits(e));
  if (starts.size() < 2 || e.loader_kind() != LoaderKind::multi_process) return std::nullopt;
  std::int64_t cost = 0;
  for (const LoaderWait& start : starts) report::add_to(cost, cost_of(start));
  Claim f = claim(e, RuleId::I03,
                  fmt::format("{} at the start of each of {} passes over the data: the workers are restarted",
                              ns(cost / std::ssize(starts)), starts.size()) +
                      by_workers(e));
  save(f, cost / e.steps(), kWorkerPessimism, 1);
  f.seen = std::ssize(starts);
  f.confidence = Confidence::medium;
  f.because = "each of these waits follows the end of a loop over the loader";
  f.evidence = {see::input_wait(fmt::format("each wait; {}", per_step(e, cost)))};
  f.at = wait_at(1, starts);
  f.remedy = "DataLoader(..., persistent_workers=True), made once for all epochs.";
  f.verify = "The first wait of an epoch is as short as the others.";
  return f;
}

std::optional<Claim> bursts(const Evidence& e, Bound bound) {
  const std::vector<LoaderWait> waits = loader_waits(e);
  if (e.loader_kind() != LoaderKind::multi_process || !comes_in_bursts(e, waits) ||
      restarts(e, waits).size() >= 2 || batches_are_ready(e, kBurstsReady))
    return std::nullopt;
  const bool host_only = bound == Bound::host_only;
  const std::int64_t cost = host_only ? e.fact(&Facts::host_data_loading) : e.idle(IdleCause::input);
  if (e.share(cost) < kBurstShare) return std::nullopt;
  const auto longest =
      std::max_element(waits.begin(), waits.end(),
                       [](const LoaderWait& a, const LoaderWait& b) { return a.length < b.length; });
  const auto longs = std::count_if(
      waits.begin(), waits.end(), [&](const LoaderWait& wait) { return wait.length * 4 >= longest->length; });
  auto cause = io_cause(e);
  if (cause && cause->remedy.empty()) cause.reset();
  Claim f = claim(
      e, RuleId::I04,
      fmt::format(
          "{} of {} waits for data take up to {}, the others under a quarter of that: batches come in bursts",
          longs, waits.size(), ns(longest->length)) +
          by_workers(e) + (cause ? "; " + cause->what : ""));
  save(f, cost / e.steps(), kBurstLeast, kBurstMost);
  f.seen = longs;
  f.at = wait_at(1, waits);
  f.confidence = Confidence::low;
  f.because =
      "half of the waits are far shorter than the mean; this file does not show why single batches are late";
  f.evidence = {see::input_wait(
      fmt::format("each wait; {}{}", host_only ? "" : "idle: cause input, ", per_step(e, cost)))};
  f.remedy = more_workers_help(e) ? for_late_workers(e, true) + " Then: a" : "A";
  f.remedy +=
      " larger prefetch_factor; batches of even cost (bucket by length, spread large files over the "
      "batches); "
      "DataLoader(in_order=False), from PyTorch 2.6 on, where order does not matter.";
  if (cause) {
    f.remedy = cause->remedy + " Then: " + f.remedy;
    f.evidence.push_back(see::io("I/O while batches are fetched"));
  }
  f.verify = "No wait is over ten times the median.";
  return f;
}

/// Waiting time beyond fetching batches that are ready, ns in the window.
std::int64_t beyond_fetching(std::int64_t waited, const std::vector<LoaderWait>& waits) {
  return std::max<std::int64_t>(0, waited - kQueueFetch * std::ssize(waits));
}

/// Workers are late in general: in at least half of the steps, or of the rounds.
bool always_late(const Evidence& e, Bound bound, const std::vector<LoaderWait>& waits) {
  std::int64_t late = 0, all = 0;
  for (const analyze::StepWaits* own : e.mine(e.reports().input_wait.steps, "Waiting for data by step")) {
    const double share = bound == Bound::host_only ? own->share : own->exposed_share;
    ++all;
    late += !(share < kLoaderShare);  // an unknown share counts as late
  }
  const std::size_t workers = workers_in_step(e);
  const std::vector<std::int64_t> lengths = rounds(waits, workers);
  const double limit = kLoaderShare * static_cast<double>(workers) * static_cast<double>(e.step_length());
  const auto late_rounds = std::ranges::count_if(
      lengths, [&](std::int64_t length) { return static_cast<double>(length) >= limit; });
  return late * 2 >= all || (workers > 1 && late_rounds * 2 >= std::ssize(lengths));
}

/// DataLoader workers that fit the machine's cores; 32 where the file does not say how many there are.
std::int64_t most_workers(const Evidence& e) {
  const std::int64_t cores = e.fact(&Facts::cores);
  return cores > 0 ? std::clamp<std::int64_t>(cores, 2, 32) : 32;
}

/// By the name of the class, as in "songs.py(62): TagSampler.__iter__".
bool is_in_a_sampler(const OwnPlace& place) { return place.line->line.find("Sampler.") != std::string::npos; }

/// Tensors per batch, if there are many and the training process spends most of `waited`, ns in the window,
/// on unpacking them; else 0.
std::int64_t unpacked_tensors(const Evidence& e, std::int64_t waited, std::int64_t batches) {
  const analyze::LineSums* sums = line_sums(e);
  if (sums == nullptr || batches == 0 ||
      static_cast<double>(sums->unpacking) < kMuchUnpacking * static_cast<double>(waited))
    return 0;
  std::int64_t tensors = 0;
  for (const analyze::CallWork* of : e.mine(e.reports().lines.calls, "Work by call"))
    if (of->op == "aten::set_") report::add_to(tensors, of->calls);  // gives a tensor its shared memory
  return tensors < kManyTensors * batches ? 0 : tensors / batches;
}

/// `in_main`: the loader runs in the training process.
std::optional<Claim> slow_loader(const Evidence& e, Bound bound, bool in_main) {
  const bool host_only = bound == Bound::host_only;
  if (in_main != (e.loader_kind() == LoaderKind::single_process)) return std::nullopt;
  const bool hidden = in_main && !host_only && e.share(e.idle(IdleCause::input)) < kLoaderShare;
  const std::int64_t waited =
      host_only || hidden ? e.fact(&Facts::host_data_loading) : e.idle(IdleCause::input);
  if (hidden ? waited == 0 : e.share(waited) < kLoaderShare) return std::nullopt;
  const std::int64_t per_step = waited / e.steps();
  const std::vector<LoaderWait> waits = loader_waits(e);
  const bool other = restarts(e, waits).size() >= 2 || comes_in_bursts(e, waits);
  if (!in_main && (other || !always_late(e, bound, waits) ||
                   batches_are_ready(e, 1 - (1 - kReadyBatches) / static_cast<double>(workers_in_step(e)))))
    return std::nullopt;
  const std::int64_t beyond = host_only ? beyond_fetching(waited, waits) : waited;
  const bool fetches = in_main || e.loader_kind() == LoaderKind::multi_process;
  if (host_only && fetches && e.share(beyond) < kLoaderShare) return std::nullopt;
  const auto place = in_main ? dearest_place(e, &analyze::LineNode::loading) : std::nullopt;
  const std::int64_t tensors = in_main ? 0 : unpacked_tensors(e, waited, std::ssize(waits));
  const std::int64_t batch = mean_wait(waits, per_step);
  const std::int64_t load = in_main || tensors > 0 ? 0 : load_of_a_batch(e, batch);
  const double stays = report::ratio(load, batch);
  const std::string waits_for =
      hidden    ? "hides for now that the training process itself loads data (num_workers=0)"
      : in_main ? "waits while the training process itself loads data (num_workers=0)"
      : tensors > 0
          ? fmt::format("unpacks one by one the {} tensors in which the loader's workers send a batch",
                        report::format_value(tensors, report::Unit::count))
      : load > 0 ? fmt::format("waits {} for each batch that a worker loads in {}", ns(batch), ns(load))
                 : "waits for the data loader";
  const auto cause = tensors > 0 || load > 0 ? std::nullopt : io_cause(e);
  const bool told_first = cause && !cause->remedy.empty();
  const std::string where = place
                                ? ", mostly in " + place->quoted() + place->callee() + place->rest(e.steps())
                            : !in_main && tensors == 0 && load == 0 ? by_workers(e)
                                                                    : "";
  Claim f = claim(e, in_main ? RuleId::I01 : RuleId::I02,
                  fmt::format("{}: {} {}{}{}", of_step(e, waited), host_only ? "the program" : "the device",
                              waits_for, told_first ? ": " + cause->what : "",
                              where + (cause && !told_first ? "; " + cause->what : "")));
  save(f, hidden ? 0 : static_cast<std::int64_t>(static_cast<double>(per_step) * (1 - stays)),
       in_main ? kWorkerPessimism : kStarvedPessimism, host_only ? kSlowedToo : 1.0);
  if (!in_main && load == 0 && cores_are_used_up(e)) f.saving_low = 0;
  const std::int64_t recording =
      host_only && in_main ? std::min(waited, e.launched_in(kLoaderRange).recording) : 0;
  if (host_only && in_main) {
    const bool sure = e.share(beyond) >= kSureLoading;
    f.saving_low =
        !sure ? 0
              : static_cast<std::int64_t>(
                    kWorkerPessimism * static_cast<double>(std::max<std::int64_t>(0, beyond - recording))) /
                    e.steps();
    f.saving_high =
        static_cast<std::int64_t>(
            kSlowedToo * (static_cast<double>(waited) - kSureRecording * static_cast<double>(recording))) /
        e.steps();
  }
  change(f, {scale_of(Scale::What::data_loading, stays)}, in_main ? kWorkerPessimism : kStarvedPessimism);
  f.next = hidden;
  f.least_after = kLoaderShare;
  f.confidence = in_main ? Confidence::high : Confidence::medium;
  f.because =
      hidden ? "the loader's class runs in the training process, and its time is recorded"
      : in_main
          ? "the loader's class runs in the training process, and the wait is measured where the device "
            "is idle"
          : "the wait is measured where the device is idle; this file does not show why the workers are late";
  const std::string loading = fmt::format(
      "{} ({}){}", advise::per_step(e, waited), percent(e.share(waited)),
      10 * recording < waited ? ""
                              : fmt::format("; recording cost about {} of it", ns(recording / e.steps())));
  if (host_only || hidden)
    f.evidence = {see::input_wait(loading)};
  else
    f.evidence = {see::idle("cause input, " + loading), see::input_wait("per step")};
  f.at = wait_at(0.5, waits);  // the first one is longer than usual
  if (host_only)
    f.because = fmt::format(
        "the loader's range is in the file; no device is recorded{}",
        in_main ? "" : "; less waiting may also speed up compute, so the high end exceeds the wait");
  const std::int64_t rest = std::max<std::int64_t>(1, e.step_length() - per_step);
  const std::int64_t workers = std::clamp<std::int64_t>((batch + rest - 1) / rest + 1, 2, most_workers(e));
  f.remedy =
      place && is_in_a_sampler(*place)
          ? fmt::format(
                "Make {} cheaper: find once, in __init__, what each draw looks for. A sampler always "
                "runs in the training process, so workers do not help.",
                place->spoken())
      : in_main
          ? fmt::format(
                "DataLoader(..., num_workers={}, persistent_workers=True{}): a batch takes {} to load, "
                "the step without {} {}.{} An IterableDataset must split its data by get_worker_info().",
                workers, host_only ? "" : ", pin_memory=True", ns(batch), host_only ? "loading" : "that wait",
                ns(rest), place ? fmt::format(" Or do less in {}, or do it once.", place->spoken()) : "")
      : tensors > 0
          ? "Let collate_fn join the samples in the worker into a few tensors per batch: torch.stack, "
            "torch.cat, "
            "pad_sequence. Each tensor costs a file descriptor and a message between the processes, however "
            "small."
      : load > 0 ? "num_workers=0, or larger batches: most of the wait is for handing a batch over from a "
                   "worker to the program."
                 : for_late_workers(e, cause && cause->kind == IoCauseKind::no_io);
  if (cause && !cause->remedy.empty())
    f.remedy = cause->remedy + (cause->is_in_turn() ? "" : " Then: " + f.remedy);
  if (cause) f.evidence.push_back(see::io("I/O while batches are fetched"));
  f.verify = "The loader's share of the step falls under 2 %, and no other phase grows by more than 10 %.";
  f.effort = Effort::option;
  return f;
}

constexpr Rule kInputRules[] = {
    {RuleId::I01, "the training process itself loads data", false,
     [](const Evidence& e, Bound bound) { return slow_loader(e, bound, true); },
     R"(Looks at: `idle`, cause `input` (`host_data_loading` of `overview`, where no device is recorded);
`input_wait` for the kind of loader. Fires for a loader that runs in the training process and takes at least
kLoaderShare of the window; where no device is recorded, beyond the kQueueFetch per batch that workers take, too. Loading that the device hides is a candidate too: replay shows whether it limits
next. Does not propose workers for a line of a class named …Sampler: no worker runs it.

If file I/O is recorded (`io`), the finding names a lock on a file for which workers wait (flock, lockf, fcntl: kMostOfIo of the I/O and
kIoShare of the fetches). Else a dataset of HDF5 of which kReadAgain times the bytes asked for are read (kIoShare of the fetches), or that takes kMostOfIo of them
while calls on the file take less than kIoShare of that. Else bytes that are read again within a few batches (kAgainPerRound, kReadAgain), if handling these files takes kIoShare of the fetches,
or kAgainRate bytes are read again. Else, if file I/O takes kIoShare of the fetches, first of these: threads whose calls never overlap
(kNeverTwo), fsync and changes of names (kMostOfIo), kManyFiles files of less than kTinyFile, reads that the page cache does not have (kMostOfIo, kStoredReads), stat and directories
(kMuchOfIo), kManyFiles reads of less than kTinyRead. So do I02 and I04.

Saving: replay without data loading. The low end is kWorkerPessimism of it: workers slow the main process
down. Without a device: that time minus what recording cost; the high end is kSlowedToo of it and subtracts only kSureRecording of that cost, and the low end
is 0 below kSureLoading of the window, as workers take cores from the operators.

Silent on: loading that the device hides, unless it would limit once other findings are done; loaders with
worker processes (I02).)"},
    {RuleId::I02, "the loader's workers are late", false,
     [](const Evidence& e, Bound bound) { return slow_loader(e, bound, false); },
     R"(Looks at: the same as I01. Fires for a loader with worker processes, or of an unknown kind, that takes at
least `kLoaderShare` of the window, and as much of half the steps, or of half the rounds: where nine of ten batches take at most kEvenLoad of
the median to load, one batch of each worker is a round, and so for I04. Without a device nothing hides the fetching
of batches: kQueueFetch per batch of worker processes is subtracted first.

Names up to three lines that hold kSomeOfCost of the workers' time, if workers were sampled (*Lines of workers* of
`lines`); so do I03 and I04.

Where the main thread spends kMuchUnpacking of that time unpacking tensors (`lines`: unpacking), kManyTensors per batch or more, the finding says so,
and proposes to join them. Where the workers are recorded and load a batch in kSomeOfWait of the wait for it, it proposes no workers or larger batches.

Saving: replay without data loading, or with as much of it as a worker takes for a batch. The low end is kStarvedPessimism of it: the cores may be used up. Without
a device, the high end is kSlowedToo of it.

Silent on: waits of single batches (I04) and of restarted workers (I03); batches that were ready (kReadyBatches, of rounds) when the program
asked, if file I/O is recorded.)"},
    {RuleId::I03, "workers are restarted for every pass over the data", false, worker_restart,
     R"(Looks at: *Each wait* of `input_wait`, loaders with worker processes. Fires when at least two waits take
kRestartTimes times the median wait, and each follows another wait in the same step: the end of the previous
loop. Workers were restarted if that end took kWorkersEnd, or the first batch kRestart. All such pairs
together hold `kBurstShare` of the window.

Saving: the exposed part of both waits, spread over the steps; the low end is kWorkerPessimism of it.

Silent on: the first pass.)"},
    {RuleId::I04, "batches come in bursts", true, bursts,
     R"(Looks at: *Each wait* of `input_wait`, loaders with worker processes. Fires with at least
kWaitsToCompare waits, half of them under kBurstMedian of the mean and one of at least kBurstWait, and with
kBurstShare of the window idle for cause `input` (in the loader, where no device is recorded).

Saving: kBurstLeast to kBurstMost of that idle time. Proposes more workers first, if they are recorded, fetch for kBusyWorkers of their time and cores are free.

Silent on: restarted workers (I03); loaders that are always late (I02); batches that were ready (kBurstsReady), as in I02.)"},
};

}  // namespace

std::span<const Rule> input_rules() { return kInputRules; }

}  // namespace stepscope::advise
