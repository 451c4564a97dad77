#include "make_trace/training_step.h"

#include "make_trace/builder.h"
#include "make_trace/model.h"
#include "make_trace/training_loop.h"

namespace stepscope::make_trace {
namespace {

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

}  // namespace

Program training_step(const Options& options) {
  const Hardware& hw = hardware_of(options.vendor);
  const Vendor& vendor = vendor_of(options.vendor);
  Builder b(options, hw, vendor);
  Model model(b, options, hw, vendor);
  {
    auto step = b.annotation("ProfilerStep#", true);
    auto frame = b.frame("train.py(36): train_step");
    set_up_device(b, options, vendor);
    next_epoch(b, options);
    load_batch(b, options);
    b.think(5000);
    preprocess(b, options);
    copy_batch(b, options, hw, model);
    if (!options.inference) model.zero_grad();
    compile(b, options);
    if (options.ranks > 1 && !options.inference) {
      auto parallel = b.annotation("DistributedDataParallel.forward");
      model.forward();
    } else {
      model.forward();
    }
    if (!options.inference) {
      model.loss();
      auto call = b.frame("torch/_tensor.py(641): backward");
      model.backward();
    }
    b.think(5000);
    if (!options.inference) model.optimizer_step();
    b.think(12000);
    call_back(b, options);
  }
  b.think(4000);
  return b.take();
}

}  // namespace stepscope::make_trace
