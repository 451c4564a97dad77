// Rules about file I/O, over programs whose causes are planted.
#include <gtest/gtest.h>

#include "advise/rules/loop_for_test.h"

namespace stepscope::advise {
namespace {

constexpr const char* kOneProcess = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__";

std::string file(int number, std::int64_t bytes = 0, int descriptor = 3) {
  return fmt::format(R"("fname": "/data/{}/x.img", "ret": {}, "size": {}, "fd": {})", number, bytes, bytes,
                     descriptor);
}

/// Steps that load for 9 ms and compute for 1 ms; `load` adds the calls.
Advice loading(const std::function<void(Loop&)>& load, int loads = 9000) {
  return advice_of([&](Loop& l) {
    l.within(kOneProcess, loads);
    load(l);
    l.op("aten::mm", 1000);
  });
}

bool says(const Advice& advice, const char* id, const char* part) {
  return advice.cell(id, "title").find(part) != std::string::npos;
}

TEST(FileRules, ManyTinyFiles) {
  const Advice advice = loading([](Loop& l) {
    for (int i = 0; i < 100; ++i)
      l.range("posix_call", "open64", 40, file(i))
          .range("posix_call", "read", 10, file(i, 500))
          .range("posix_call", "close", 40, file(i));
  });
  EXPECT_TRUE(says(advice, "I01", "a batch opens 100 files and reads 500 B of each"))
      << advice.cell("I01", "title");
  EXPECT_TRUE(says(advice, "I01", "/data/#/*.img"));
  EXPECT_TRUE(
      advice.cell("I01", "remedy").starts_with("Pack the samples of /data/#/*.img into few large files"));
}

TEST(FileRules, MetadataStorm) {
  const Advice advice = loading([](Loop& l) {
    for (int i = 0; i < 200; ++i) l.range("posix_call", "stat64", 40, file(i));
    l.range("posix_call", "read", 1000, file(1, 100'000));
  });
  EXPECT_TRUE(says(advice, "I01", "a batch asks the file system 200 times about names"))
      << advice.cell("I01", "title");
}

TEST(FileRules, ReadsFromStorage) {
  const Advice advice = loading([](Loop& l) {
    for (int i = 0; i < 9; ++i) l.range("posix_call", "pread64", 1000, file(1, 100'000));
  });
  EXPECT_TRUE(says(advice, "I01", "100 % of its I/O are reads that the page cache does not have"))
      << advice.cell("I01", "title");
}

// Two threads, each 4.5 ms of the 9, one after the other: with calls of HDF5 around theirs, the lock is
// HDF5's.
TEST(FileRules, OneThreadAtATime) {
  const auto threads = [](bool in_hdf5) {
    return loading([=](Loop& l) {
      for (const int thread : {5, 9}) {
        const int from = thread == 5 ? 0 : 4500;
        if (in_hdf5) l.call_in(thread, "HDF5", "H5Dread", from, 4500, file(1, 100));
        l.call_in(thread, "posix_call", "pread64", from, 4500, file(1, 100'000));
      }
      l.pass(9000);
    });
  };
  EXPECT_TRUE(says(threads(false), "I01", "2 threads read, but never two at once: a lock"));
  const Advice advice = threads(true);
  EXPECT_TRUE(says(advice, "I01", "2 threads read through HDF5, but never two at once"))
      << advice.cell("I01", "title");
}

// The same bytes as fast as memory gives them, and the rest of the time is decoding.
TEST(FileRules, FilesAreNotTheLimit) {
  const Advice advice = loading([](Loop& l) {
    for (int i = 0; i < 9; ++i) l.range("posix_call", "pread64", 20, file(1, 100'000)).pass(980);
  });
  EXPECT_TRUE(says(advice, "I01", "file I/O takes 2.00 % of the fetch, so files are not the limit"))
      << advice.cell("I01", "title");
}

// Nine times per batch.
TEST(FileRules, BytesThatAreReadAgain) {
  const auto reading = [](bool again) {
    int offset = 0;
    return loading([&](Loop& l) {
      for (int i = 0; i < 9; ++i, offset = again ? 0 : (offset + 100'000) % 2'700'000)
        l.range("posix_call", "pread64", 1000,
                fmt::format(R"("fname": "/data/a.npz", "fd": 3, "offset": {}, "ret": 100000)", offset));
    });
  };
  const Advice again = reading(true);
  EXPECT_TRUE(says(again, "I01", ": /data/a.npz is read 90 times over, 8.58 MiB of 97.7 KiB in 10 batches"))
      << again.cell("I01", "title");
  EXPECT_TRUE(again.cell("I01", "remedy").starts_with("Read /data/a.npz once"));
  const Advice passes = reading(false);  // more than three over the data
  EXPECT_FALSE(says(passes, "I01", "times over")) << passes.cell("I01", "title");
}

/// A batch of 9 ms: `locked` µs of waiting for a lock, then nine reads of the same bytes, 200 µs each.
Advice taking_turns(int locked, const char* function = "flock", const char* more = "") {
  return loading([=](Loop& l) {
    l.range("posix_call", function, locked,
            fmt::format(R"("fname": "/data/cache.lock", "fd": 4, "ret": 0{})", more));
    for (int i = 0; i < 9; ++i)
      l.range("posix_call", "pread64", 200, R"("fname": "/data/a.bin", "fd": 3, "offset": 0, "ret": 100000)");
    l.pass(9000 - locked - 9 * 200);
  });
}

/// Steps that wait for a batch and compute for 1 ms: 10 rounds of `workers`, which begin a batch each at the
/// same time and load it in `load_of(batch)` µs.
std::string together(int workers, int (*load_of)(int)) {
  test::EventText events;
  int at = 0;
  for (int round = 0; round < 10; ++round) {
    const int begin = at;
    for (int worker = 0; worker < workers; ++worker) {
      const int batch = workers * round + worker, load = load_of(batch), pid = 6 + worker, from = at;
      events.add("user_annotation", "DataLoader.fetch", pid, pid, begin, load);
      events.add("posix_call", "pread64", pid, pid, begin + 1, load / 2, file(batch, 100'000));
      at = std::max(at, begin + load) + 10;
      events.add("user_annotation", "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", 5, 5,
                 from, at - from);
      events.arrow("dataloader", batch, pid, begin + load - 1, 5, at - 1);
      events.add("cpu_op", "aten::mm", 5, 5, at, 1000);
      at += 1000;
      events.add("user_annotation", fmt::format("ProfilerStep#{}", batch), 5, 5, from, at - from);
    }
  }
  return events.text();
}

bool says_remedy(const Advice& advice, std::string_view text) {
  return advice.cell("I04", "remedy").find(text) != std::string::npos;
}

// One wait in four or eight: all batches of the round were ready then. Or one batch in eight is late.
TEST(FileRules, WorkersThatAreReadyTogether) {
  for (const int workers : {4, 8}) {
    const Advice even(together(workers, [](int) { return 20'000; }));
    EXPECT_TRUE(even.has("I02")) << workers;
    EXPECT_FALSE(even.has("I04")) << workers;
  }
  const Advice uneven(together(4, [](int batch) { return batch % 8 == 0 ? 40'000 : 500; }));
  EXPECT_TRUE(uneven.has("I04"));
  EXPECT_FALSE(uneven.has("I02"));
  EXPECT_FALSE(says_remedy(uneven, "More workers"));  // they fetch for 23 % of their time
}

// One worker, which fetches for 92 of 112 ms: with prefetching alone it is no faster.
TEST(FileRules, OneWorkerThatIsAlwaysBusy) {
  const Advice advice(together(1, [](int batch) { return batch % 5 == 0 ? 40'000 : 1'500; }));
  EXPECT_TRUE(advice.has("I04"));
  EXPECT_TRUE(says_remedy(advice, "More workers")) << advice.cell("I04", "remedy");
}

// 6 of 9 ms wait for the lock; 1.8 ms are reads.
TEST(FileRules, WorkersThatTakeTurns) {
  const Advice advice = taking_turns(6000);
  EXPECT_TRUE(says(advice, "I01",
                   "66.7 % of the fetch is waiting for the lock on /data/cache.lock (flock, lockf, fcntl), "
                   "so processes take turns"))
      << advice.cell("I01", "title");
  EXPECT_TRUE(advice.cell("I01", "remedy").starts_with("Take no lock on /data/cache.lock for reading"));
  EXPECT_EQ(advice.cell("I01", "remedy").find("num_workers"), std::string::npos);
  EXPECT_TRUE(says(taking_turns(6000, "fcntl", R"(, "cmd": 7)"), "I01", "take turns"));
  EXPECT_FALSE(says(taking_turns(6000, "fcntl", R"(, "cmd": 3)"), "I01", "take turns"));
  EXPECT_FALSE(says(taking_turns(1700), "I01", "take turns"));
}

/// Two calls of HDF5 per batch, 3 ms each, for `asked` bytes; 100 µs in each are a read of 400,000 bytes.
Advice reading_hdf5(int asked, int opens = 0) {
  return loading([=](Loop& l) {
    for (int i = 0; i < opens; ++i) l.range("posix_call", "open64", 1, file(1));
    for (int i = 0; i < 2; ++i)
      l.call_in(5, "HDF5", "H5Dread", 0, 3000,
                fmt::format(R"("fname": "/data/a.h5", "object": "/x", "ret": {})", asked))
          .call_in(5, "posix_call", "pread64", 0, 100,
                   fmt::format(R"("fname": "/data/a.h5", "offset": {}, "ret": 400000)", i * 400'000))
          .pass(3000);
    l.pass(3000 - opens);
  });
}

// 10 batches of 2 calls: 20 × 4,000 bytes asked for, 20 × 400,000 read.
TEST(FileRules, ChunksOfHdf5) {
  const Advice advice = reading_hdf5(4000);
  EXPECT_TRUE(says(advice, "I01",
                   "H5Dread of /data/a.h5 (/x) takes 66.7 % of the fetch: 78.1 KiB are asked for, 7.63 MiB "
                   "are read from the file; the calls on the file take 3.33 % of HDF5's time"))
      << advice.cell("I01", "title");
  EXPECT_TRUE(advice.cell("I01", "remedy").starts_with("Store the dataset in chunks of the shape"));
  EXPECT_TRUE(says(reading_hdf5(400'000), "I01", "H5Dread of"));   // unpacking alone
  EXPECT_FALSE(says(reading_hdf5(4000, 2), "I01", "H5Dread of"));  // opened for each read
}

// 20 files per batch: 200 µs in fsync and 150 in unlink for each, 7 of 9 ms.
TEST(FileRules, TemporaryFiles) {
  const auto collating = [](int sync, int change) {
    return loading([=](Loop& l) {
      for (int i = 0; i < 20; ++i)
        l.range("posix_call", "write", 10, file(i, 256))
            .range("posix_call", "fsync", sync, file(i))
            .range("posix_call", "unlink", change, file(i))
            .pass(350 - sync - change);
      l.pass(1800);
    });
  };
  const Advice advice = collating(200, 150);
  EXPECT_TRUE(
      says(advice, "I01",
           "in a batch, 20 waits for the disk (fsync) take 55.6 % of its I/O, 20 changes of names "
           "(unlink, rename, mkdir) take 41.7 % of its I/O; I/O takes 80.0 % of the fetch, most of it "
           "on /data/#/*.img"))
      << advice.cell("I01", "title");
  EXPECT_TRUE(advice.cell("I01", "remedy").starts_with("Keep the content of /data/#/*.img in memory"));
  EXPECT_TRUE(says(collating(0, 300), "I01", ": in a batch, 20 changes of names"));
  EXPECT_TRUE(says(collating(300, 0), "I01", ": in a batch, 20 waits for the disk"));
}

TEST(FileRules, Checkpoint) {
  const auto save = [](Loop& l) {
    const std::string of = R"("fname": "/out/model.pt", "fd": 4, )";
    l.op("aten::mm", 8000);
    l.range("posix_call", "open64", 10, of + R"("ret": 4)")
        .range("posix_call", "write", 1500, of + R"("ret": 4000000)")
        .range("posix_call", "fsync", 480, of + R"("ret": 0)")
        .range("posix_call", "close", 10, of + R"("ret": 0)");
  };
  const Advice advice = advice_of(save);
  EXPECT_TRUE(says(advice, "I08", "2.00 ms of 10.0 ms per step: training stands while files are written"))
      << advice.cell("I08", "title");
  EXPECT_TRUE(says(advice, "I08", "/out/model.pt"));
  EXPECT_EQ(advice.cell("I08", "saving_high"), "2000000");
  EXPECT_EQ(advice.cell("I08", "saving_low"), "1000000");
}

// A pause of 40 ms per step, in calls that write: one stall, one finding.
TEST(FileRules, ThePauseOfACheckpointIsPartOfIt) {
  const Advice advice = advice_of([](Loop& l) {
    const std::string of = R"("fname": "/out/model.pt", "fd": 4, )";
    l.op("aten::mm", 60'000).range("posix_call", "open64", 10, of + R"("ret": 4)");
    l.range("posix_call", "writev", 39'980, of + R"("ret": 90000000)");
    l.range("posix_call", "close", 10, of + R"("ret": 0)");
  });
  EXPECT_TRUE(advice.has("I08"));
  EXPECT_FALSE(advice.has("H07"));
  EXPECT_NE(advice.cell("I08", "evidence").find("H07: For 40.0 ms of 100 ms per step"), std::string::npos)
      << advice.cell("I08", "evidence");
}

TEST(FileRules, SyncedLog) {
  const auto log = [](Loop& l) {
    const std::string of = R"("fname": "/out/log.txt", "fd": 5, )";
    l.op("aten::mm", 9000);
    for (int line = 0; line < 2; ++line)
      l.range("posix_call", "write", 20, of + R"("ret": 40)")
          .range("posix_call", "fsync", 480, of + R"("ret": 0)");
  };
  const Advice advice = advice_of(log);
  EXPECT_TRUE(says(advice, "I09",
                   "1.00 ms of 10.0 ms per step: the main thread writes /out/log.txt in 20 calls of 40 B"))
      << advice.cell("I09", "title");
}

TEST(FileRules, SilentWhereNothingIsSlow) {
  const Advice advice = advice_of([](Loop& l) {
    l.op("aten::mm", 9900);
    l.range("posix_call", "write", 20, R"("fname": "/out/log.txt", "fd": 5, "ret": 40)");
    l.pass(80);
  });
  for (const char* id : {"I01", "I02", "I08", "I09"}) EXPECT_FALSE(advice.has(id)) << id;
}

/// A program of which nothing but its file I/O is recorded.
Advice calls_alone(const std::function<void(Loop&)>& calls) {
  Loop loop;
  calls(loop);
  return Advice("", loop.text());
}

// 400 calls of 50 µs, each followed by 5 µs.
TEST(FileRules, CallsAboutNamesAlone) {
  const Advice advice = calls_alone([](Loop& l) {
    for (int i = 0; i < 400; ++i) l.range("posix_call", "stat64", 50, file(i)).pass(5);
    l.range("posix_call", "stat64", 50, file(1));
  });
  EXPECT_TRUE(says(
      advice, "I10",
      "20.1 ms of 22.1 ms are file I/O: 401 calls about names (stat, directories) take 100 % of it; most on "
      "/data/#/*.img"))
      << advice.cell("I10", "title");
  EXPECT_FALSE(advice.has("H16"));
}

TEST(FileRules, OneFileThatIsReadAgainAlone) {
  const Advice advice = calls_alone([](Loop& l) {
    for (int i = 0; i < 6; ++i)
      l.range("posix_call", "pread64", 20,
              R"("fname": "/data/a", "fd": 3, "offset": 0, "size": 100000, "ret": 100000)");
  });
  EXPECT_TRUE(says(advice, "I10", "586 KiB are read from 97.7 KiB of files: each byte 6.0 times"))
      << advice.cell("I10", "title");
}

TEST(FileRules, WaitsForTheDiskAlone) {
  const Advice advice = calls_alone([](Loop& l) {
    const std::string of = R"("fname": "/out/log.txt", "fd": 5, )";
    for (int i = 0; i < 3; ++i)
      l.range("posix_call", "write", 10, of + R"("ret": 40)")
          .range("posix_call", "fsync", 490, of + R"("ret": 0)");
  });
  EXPECT_TRUE(says(advice, "I10", "3 waits for the disk (fsync, fflush) take 98.0 % of it, 490 µs each"))
      << advice.cell("I10", "title");
}

// Two processes, one lock: 3 × 500 of 3 × 990 µs, and fsync under it 3 × 480.
TEST(FileRules, LocksAlone) {
  const auto locking = [](int sync) {
    return calls_alone([=](Loop& l) {
      const std::string of = R"("fname": "/out/log.txt", "fd": 5, "ret": 0)";
      for (int i = 0; i < 3; ++i)
        l.range("posix_call", "flock", 500, of)
            .range("posix_call", "fsync", sync, of)
            .range("posix_call", "write", 490 - sync, of);
    });
  };
  const Advice advice = locking(480);
  EXPECT_TRUE(says(advice, "I10",
                   "3 calls for locks on files (flock, lockf, fcntl) take 50.5 % of it; 3 waits for the disk "
                   "(fsync, fflush) take 48.5 %, 480 µs each"))
      << advice.cell("I10", "title");
  EXPECT_TRUE(advice.cell("I10", "remedy").starts_with("Take the lock less often"));
  EXPECT_FALSE(says(locking(90), "I10", "waits for the disk"));
}

/// 100 openings of a file of 400,000 bytes, 2 µs of calls in `every` µs.
Advice opened_again_alone(int every, int times = 100) {
  return calls_alone([=](Loop& l) {
    for (int i = 0; i < times; ++i)
      l.range("posix_call", "open64", 1, R"("fname": "/data/rows.csv", "ret": 3)")
          .range("posix_call", "pread64", 1,
                 R"("fname": "/data/rows.csv", "fd": 3, "offset": 0, "size": 400000, "ret": 400000)")
          .pass(every - 2);
  });
}

// 99 × 400,000 bytes in 0.1 s are 0.396 bytes per ns.
TEST(FileRules, OneFileThatIsParsedAgainAlone) {
  const Advice advice = opened_again_alone(1000);
  EXPECT_TRUE(says(advice, "I10",
                   "/data/rows.csv is read 100 times over, 38.1 MiB of 391 KiB, in 100 openings, though file "
                   "I/O takes only"))
      << advice.cell("I10", "title");
  EXPECT_EQ(advice.cell("I10", "confidence"), "low");
  EXPECT_FALSE(opened_again_alone(20000).has("I10"));     // 0.0198 bytes per ns
  EXPECT_FALSE(opened_again_alone(1000, 60).has("I10"));  // less than 64 openings
}

// A file that stays open: in each round 4 reads of 10,000 bytes, from its beginning on, in 1 ms. 100 rounds
// read 99 × 40,000 bytes again, 0.04 bytes per ns, after 99 jumps.
TEST(FileRules, OneFileThatIsReadBackwardsAlone) {
  const auto rounds = [](int count, int every) {
    return calls_alone([=](Loop& l) {
      for (int i = 0; i < 4 * count; ++i)
        l.range("posix_call", "pread64", 1,
                fmt::format(R"("fname": "/data/a.gz", "fd": 3, "offset": {}, "size": 10000, "ret": 10000)",
                            i % 4 * 10'000))
            .pass(every - 1);
    });
  };
  const Advice advice = rounds(100, 250);
  EXPECT_TRUE(says(advice, "I10",
                   "/data/a.gz is read 100 times over, 3.81 MiB of 39.1 KiB, in 99 jumps to another place, "
                   "though file I/O takes only"))
      << advice.cell("I10", "title");
  EXPECT_NE(advice.cell("I10", "remedy").find("unpacked again"), std::string::npos);
  EXPECT_FALSE(rounds(64, 250).has("I10"));   // 63 jumps
  EXPECT_FALSE(rounds(100, 600).has("I10"));  // 0.0165 bytes per ns
}

TEST(FileRules, OneFileThatIsOpenedAgainAlone) {
  const Advice advice = calls_alone([](Loop& l) {
    for (int i = 0; i < 100; ++i)
      l.range("posix_call", "open64", 40, file(1))
          .range("posix_call", "read", 10, file(1, 100))
          .range("posix_call", "close", 50, file(1));
  });
  EXPECT_TRUE(says(advice, "I10", "one file is opened 100 times, which takes 90.0 % of it with closing"))
      << advice.cell("I10", "title");
}

TEST(FileRules, SilentWhereFilesTakeLittle) {
  EXPECT_FALSE(calls_alone([](Loop& l) {
                 for (int i = 0; i < 10; ++i) l.range("posix_call", "read", 20, file(1, 100)).pass(80);
               }).has("I10"));
}

}  // namespace
}  // namespace stepscope::advise
