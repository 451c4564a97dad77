#include "make_trace/model/training_loop.h"

#include <array>
#include <optional>

namespace stepscope::make_trace {
namespace {

std::int64_t ns_of(double ms) { return static_cast<std::int64_t>(ms * 1e6); }

}  // namespace

const char* loader_range(const Options& o) {
  return o.slow_input_ms > 0 && o.loader_workers == 0
             ? "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
             : "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__";
}

void set_up_device(Builder& b, const Options& o, const Vendor& v) {
  if (o.cold_start_ms <= 0) return;
  const std::int64_t whole = ns_of(o.cold_start_ms);
  const Builder::Part part(b, Lane::cold);
  const Builder::Only only(b, {0, 0});
  b.call(v.stream_priority, whole * 6 / 10);
  b.call(v.device_free, whole * 2 / 10);
  b.call(v.stream_create, whole / 10);
  b.call(v.load_code, whole / 10);
}

/// Starting workers blocks the loop for a tenth of the time; the rest passes before the first batch is ready.
void next_epoch(Builder& b, const Options& o) {
  if (o.epoch <= 0) return;
  const std::int64_t whole = ns_of(o.worker_restart_ms);
  const Builder::Part part(b, Lane::restart);
  const Builder::Only only(b, {0, o.epoch});
  {
    auto frame = b.frame("torch/utils/data/dataloader.py(733): __next__");
    auto fetch = b.annotation(loader_range(o), false, true);
    b.think(60000);
  }
  if (whole == 0) return;
  auto iterate = b.frame("torch/utils/data/dataloader.py(500): __iter__");
  auto create = b.frame("torch/utils/data/dataloader.py(433): _get_iterator");
  auto start = b.frame("multiprocessing/process.py(110): start");
  b.sleep(whole / 10);
  b.restart_workers(whole - whole / 10);
}

void load_batch(Builder& b, const Options& o) {
  const auto batch_ns = static_cast<std::int64_t>(o.slow_input_ms * 1e6);
  const bool own = batch_ns > 0 && o.loader_workers == 0;
  auto frame = b.frame("torch/utils/data/dataloader.py(733): __next__");
  const Builder::Part part(b, Lane::loader);
  auto fetch = b.annotation(loader_range(o), false, true);
  b.lag(Phase::input);
  if (!own) {
    b.take_batch(70000, batch_ns, o.loader_workers);
    return;
  }
  auto decode = b.frame("data.py(28): __getitem__");
  b.take_batch(batch_ns, 0, 0);
  auto stack = b.op("aten::stack", {none(), scalar("0")});
  b.think(30000);
}

void copy_batch(Builder& b, const Options& o, const Hardware& hw, const Model& model) {
  auto frame = b.frame("train.py(41): to_device");
  const Args args = {model.batch(), scalar("15"), none(), none()};
  auto to = b.op("aten::to", args);
  auto to_copy = b.op("aten::_to_copy", args);
  auto copy = b.op("aten::copy_", {model.batch(), model.batch(), scalar("True")});
  if (o.pageable) {
    b.copy("Memcpy HtoD (Pageable -> Device)", model.batch_bytes(), hw.pageable_bytes_per_ns, true);
  } else {
    b.copy("Memcpy HtoD (Pinned -> Device)", model.batch_bytes(), hw.pinned_bytes_per_ns, false);
  }
}

void preprocess(Builder& b, const Options& o) {
  if (o.preprocess_ms <= 0) return;
  const Builder::Part part(b, Lane::preprocess);
  auto frame = b.frame("train.py(38): augment");
  const Arg images = floats({64, 3, 224, 224});
  constexpr std::array kOps = {"aten::flip", "aten::sub", "aten::div", "aten::add", "aten::clamp"};
  for (const char* name : kOps) {
    auto op = b.op(name, {images, floats({3, 1, 1})});
    b.sleep(ns_of(o.preprocess_ms) / static_cast<std::int64_t>(kOps.size()));
  }
}

/// A compiled region is looked up in a cache; a new shape is compiled first.
void compile(Builder& b, const Options& o) {
  if (!o.compiled) return;
  const Builder::Part part(b, Lane::compile);
  {
    auto lookup = b.light_op("TorchDynamo Cache Lookup");
    b.think(20000);
  }
  if (o.recompile_ms <= 0) return;
  auto dynamo = b.op("dynamo");
  auto entire = b.op("entire_frame_compile");
  auto inner = b.op("_compile.compile_inner (dynamo_timed)");
  b.sleep(ns_of(o.recompile_ms) / 5);
  auto backend = b.op("backend_compile");
  auto inductor = b.op("inductor_compile");
  auto load = b.op("PyCodeCache.load_by_key_path");
  auto wait = b.op("async_compile.wait");
  b.sleep(ns_of(o.recompile_ms) * 4 / 5);
}

void call_back(Builder& b, const Options& o) {
  if (o.callback_ms <= 0) return;
  const Builder::Part part(b, Lane::callback);
  std::optional<Builder::Only> only;
  if (o.callback_every > 1) only.emplace(b, Steps{o.callback_every - 1, o.callback_every});
  auto frame = b.frame("callbacks.py(21): on_train_batch_end");
  auto dump = b.frame("json/__init__.py(120): dump");
  auto encode = b.frame("json/encoder.py(414): _iterencode");
  b.sleep(ns_of(o.callback_ms));
}

}  // namespace stepscope::make_trace
