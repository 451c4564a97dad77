#include "make_trace/model/training_step.h"

#include "make_trace/model/builder.h"
#include "make_trace/model/model.h"
#include "make_trace/model/pipeline.h"
#include "make_trace/model/training_loop.h"

namespace stepscope::make_trace {
namespace {

/// The step of ranks that each hold the whole model.
Program training_step(const Options& options) {
  const Hardware& hw = hardware_of(options.vendor);
  const Vendor& vendor = vendor_of(options.vendor);
  Builder b(options, hw, vendor);
  Share whole;
  whole.replicas.members.count = options.ranks;
  Model model(b, options, hw, vendor, whole);
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

}  // namespace

Programs programs_of(const Options& options) {
  if (options.stages == 0) return Programs({training_step(options)});
  std::vector<Program> programs;
  for (int rank = 0; rank < options.ranks; ++rank) programs.push_back(pipeline_step(options, rank));
  return Programs(std::move(programs));
}

}  // namespace stepscope::make_trace
