#include "advise/io_cause.h"

#include <fmt/format.h>

#include <algorithm>

#include "advise/read_again.h"
#include "advise/rules/constants.h"
#include "advise/say.h"
#include "report/statistics.h"

namespace stepscope::advise {
namespace {

using analyze::FetchIo;

std::string counted(std::int64_t number) { return report::format_value(number, report::Unit::count); }
std::string sized(std::int64_t number) { return report::format_value(number, report::Unit::bytes); }

std::int64_t per_batch(const FetchIo& of, std::int64_t number) { return report::mean(number, of.batches); }

/// "; 62 % of the fetch is I/O on /data/#/*.jpg".
std::string share_of(const FetchIo& of) {
  return fmt::format("I/O takes {} of the fetch, most of it on {}", percent(report::ratio(of.io, of.load)),
                     of.group);
}

bool holds(std::int64_t part, std::int64_t whole, double share) {
  return static_cast<double>(part) >= share * static_cast<double>(whole);
}

IoCause tiny_files(const FetchIo& of) {
  return {IoCauseKind::tiny_files,
          fmt::format("a batch opens {} files and reads {} of each; {}", counted(per_batch(of, of.opens)),
                      sized(report::mean(of.read, of.opens)), share_of(of)),
          fmt::format("Pack the samples of {} into few large files (WebDataset's tar, Parquet, LMDB, one "
                      "memory-mapped array) and read each "
                      "in one call: every open and close costs, on network file systems a round trip each.",
                      of.group)};
}

IoCause metadata(const FetchIo& of) {
  return {
      IoCauseKind::metadata,
      fmt::format(
          "a batch asks the file system {} times about names (stat, directories), which is {} of its I/O; {}",
          counted(per_batch(of, of.asks)), percent(report::ratio(of.asking_time, of.time)), share_of(of)),
      fmt::format("List {} once, in __init__, and keep names and sizes: os.listdir, os.stat and glob in "
                  "__getitem__ ask again for each "
                  "sample.",
                  of.group)};
}

IoCause storage(const FetchIo& of) {
  return {IoCauseKind::storage,
          fmt::format("{} of its I/O are reads that the page cache does not have; {}, at {}",
                      percent(report::ratio(of.stored_time, of.time)), share_of(of),
                      report::format_value(static_cast<double>(of.read) * 1e9 /
                                               static_cast<double>(std::max<std::int64_t>(1, of.time)),
                                           report::Unit::bytes_per_s)),
          fmt::format("Copy {} to local memory or a fast local disk before training, or keep it in the page "
                      "cache; else read ahead: more "
                      "workers, a larger prefetch_factor, larger reads in file order.",
                      of.group)};
}

IoCause small_reads(const FetchIo& of) {
  return {IoCauseKind::small_reads,
          fmt::format("a batch makes {} reads of {} on average; {}", counted(per_batch(of, of.reads)),
                      sized(report::mean(of.read, of.reads)), share_of(of)),
          fmt::format(
              "Read {} in larger pieces: a larger buffering= of open(), whole samples at once, or np.memmap.",
              of.group)};
}

IoCause one_by_one(const FetchIo& of) {
  const bool in_hdf5 = holds(of.hdf5_time, of.time, kMostOfIo);
  return {IoCauseKind::one_by_one,
          fmt::format("{} threads read{}; {}", of.threads,
                      in_hdf5 ? " through HDF5, but never two at once: its library lets one in at a time"
                              : ", but never two at once: a lock lets one at a time through",
                      share_of(of)),
          in_hdf5
              ? "Open the file once per worker and use processes instead of threads (num_workers)."
              : "Open the file once per worker and use processes instead of threads (num_workers), or take "
                "the lock around less: "
                "HDF5's library lets one thread in at a time."};
}

IoCause locks(const Evidence& e, const FetchIo& of) {
  return {IoCauseKind::locks,
          fmt::format("{} of the fetch is waiting for the lock on {} (flock, lockf, fcntl), so {} take turns",
                      percent(report::ratio(of.lock_time, of.load)), of.locked,
                      e.loader_kind() == analyze::LoaderKind::multi_process ? "the workers" : "processes"),
          fmt::format("Take no lock on {} for reading, or one lock per file that is read; where files are "
                      "written, hold it only while writing, not while decoding. More workers would only "
                      "wait longer.",
                      of.locked)};
}

/// Bytes below H5Dread are not those that the program asked for: whole chunks are read.
bool reads_more_than_asked(const FetchIo& of) {
  return of.hdf5_asked > 0 && holds(of.hdf5_read, of.hdf5_asked, kReadAgain);
}

bool never_two(const FetchIo& of) {
  return of.threads >= 2 && holds(of.io, of.load, kIoShare) && holds(of.io, of.time, kNeverTwo);
}

/// A file that is opened for each read has no chunks in memory, whatever their shape.
bool is_chunks(const FetchIo& of) {
  if (of.hdf5_reads == 0 || of.hdf5_reads < 2 * of.opens || never_two(of)) return false;
  if (reads_more_than_asked(of)) return holds(of.hdf5_load, of.load, kIoShare);
  return holds(of.hdf5_load, of.load, kMostOfIo) && !holds(of.hdf5_io, of.hdf5_load, kIoShare);
}

IoCause chunks(const FetchIo& of) {
  return {
      IoCauseKind::chunks,
      fmt::format("{} takes {} of the fetch: {} are asked for, {} are read from the file; the calls on the "
                  "file take {} of HDF5's time",
                  of.hdf5_call, percent(report::ratio(of.hdf5_load, of.load)), sized(of.hdf5_asked),
                  sized(of.hdf5_read), percent(report::ratio(of.hdf5_io, of.hdf5_load))),
      "Store the dataset in chunks of the shape that is read (one sample), without compression; else read a "
      "whole chunk at once and use all of it, or keep chunks in memory by a larger chunk cache "
      "(rdcc_nbytes= of h5py.File): HDF5 reads and unpacks whole chunks."};
}

/// fsync and changes of names: of temporary files.
IoCause disk(const FetchIo& of) {
  const auto part = [&](std::int64_t calls, std::int64_t time, const char* kind) {
    return fmt::format("{} {} take {} of its I/O", counted(per_batch(of, calls)), kind,
                       percent(report::ratio(time, of.time)));
  };
  const std::string syncs = part(of.syncs, of.sync_time, "waits for the disk (fsync)");
  const std::string changes = part(of.changes, of.change_time, "changes of names (unlink, rename, mkdir)");
  const bool both = holds(std::min(of.sync_time, of.change_time), of.time, kSomeOfCost);
  return {
      IoCauseKind::disk,
      fmt::format("in a batch, {}; {}",
                  both                             ? syncs + ", " + changes
                  : of.sync_time >= of.change_time ? syncs
                                                   : changes,
                  share_of(of)),
      fmt::format("Keep the content of {} in memory (io.BytesIO), or temporary files in /dev/shm; no fsync "
                  "and no file per sample "
                  "while batches are loaded.",
                  of.group)};
}

std::optional<IoCause> read_again(const FetchIo& of) {
  const ReadAgain again{of.again_group, of.again_opens, of.again_read, of.again_distinct, of.batches};
  if (!again.is_again() || !(holds(of.again_handled, of.load, kIoShare) || again.is_much(of.load)))
    return std::nullopt;
  return IoCause{IoCauseKind::again,
                 fmt::format("{} {} {} in {} batches", of.again_group, of.again_files == 1 ? "is" : "are",
                             again.told(), counted(of.batches)),
                 again.remedy()};
}

}  // namespace

bool batches_are_ready(const Evidence& e, double share) {
  const auto all = e.mine(e.reports().files.fetching, "I/O while batches are fetched");
  return !all.empty() && holds(all.front()->ready, all.front()->batches, share);
}

std::optional<IoCause> io_cause(const Evidence& e) {
  const auto all = e.mine(e.reports().files.fetching, "I/O while batches are fetched");
  if (all.empty() || all.front()->calls == 0 || all.front()->load <= 0) return std::nullopt;
  const FetchIo& of = *all.front();
  if (holds(of.lock_time, of.time, kMostOfIo) && holds(of.lock_time, of.load, kIoShare)) return locks(e, of);
  if (is_chunks(of)) return chunks(of);
  if (auto cause = read_again(of)) return cause;
  if (!holds(of.io, of.load, kIoShare))
    return IoCause{IoCauseKind::no_io,
                   fmt::format("file I/O takes {} of the fetch, so files are not the limit",
                               percent(report::ratio(of.io, of.load))),
                   ""};
  if (never_two(of)) return one_by_one(of);
  if (holds(of.sync_time + of.change_time, of.time, kMostOfIo)) return disk(of);
  if (per_batch(of, of.opens) >= kManyFiles && report::mean(of.read, of.opens) < kTinyFile)
    return tiny_files(of);
  if (holds(of.stored_time, of.time, kMostOfIo) && holds(of.stored, of.reads, kStoredReads))
    return storage(of);
  if (of.asking_time > of.opening_time && holds(of.asking_time, of.time, kMuchOfIo)) return metadata(of);
  if (of.reads > 0 && report::mean(of.read, of.reads) < kTinyRead && per_batch(of, of.reads) >= kManyFiles)
    return small_reads(of);
  return std::nullopt;
}

}  // namespace stepscope::advise
