#include "derive/allocator/stack_places.h"

#include <gtest/gtest.h>

namespace stepscope::derive {
namespace {

/// The places of one stack of these frames, innermost first: name and file, in line 7.
struct Made {
  trace::Trace trace;
  trace::Snapshot snapshot;

  explicit Made(std::initializer_list<std::pair<const char*, const char*>> frames) {
    snapshot.stacks.ends = {0};
    for (const auto& [name, file] : frames) {
      snapshot.stacks.of_stacks.push_back(static_cast<trace::FrameId>(snapshot.stacks.frames.size()));
      snapshot.stacks.frames.push_back(
          {trace.strings.intern(name), trace.strings.intern(file), trace::kEmptyString, 7});
    }
    snapshot.stacks.ends.push_back(snapshot.stacks.of_stacks.size());
  }
  std::string place() const { return StackPlaces(trace, snapshot).place(1); }
  std::string function() const { return StackPlaces(trace, snapshot).function(1); }
};

TEST(StackPlaces, TheProgramsOwnFileFirst) {
  const Made made{{"c10::cuda::CUDACachingAllocator::malloc", "??"},
                  {"at::empty", "??"},
                  {"linear", "/v/site-packages/torch/nn/functional.py"},
                  {"forward", "/home/a/model.py"},
                  {"step", "/home/a/train.py"}};
  EXPECT_EQ(made.place(), "/home/a/model.py(7): forward");
  EXPECT_EQ(made.function(), "/home/a/model.py: forward");
}

TEST(StackPlaces, OfABackwardPassTheOperator) {
  const Made made{{"at::_ops::mul::call", "??"},
                  {"torch::autograd::generated::MulBackward0::apply(std::vector<at::Tensor>&&)", "??"},
                  {"torch::autograd::Engine::thread_main", "??"},
                  {"clone", "??"}};
  EXPECT_EQ(made.place(), "MulBackward0");
  EXPECT_EQ(made.function(), "MulBackward0");
}

TEST(StackPlaces, InCppWhatIsOutsideOfPyTorch) {
  const Made program{{"unwind::unwind()", "??"},
                     {"at::detail::empty_cuda(long)", "??"},
                     {"void at::native::add<float>(at::Tensor)", "??"},
                     {"app::model::step(int)", "??"},
                     {"app::main()", "??"},
                     {"start_thread", "??"}};
  EXPECT_EQ(program.place(), "app::model::step");
  const Made engine{{"c10::cuda::CUDACachingAllocator::malloc", "??"},
                    {"at::detail::empty_cuda(long)", "??"},
                    {"torch::autograd::Engine::thread_main", "??"},
                    {"execute_native_thread_routine", "??"},
                    {"clone", "??"}};
  EXPECT_EQ(engine.place(), "at::detail::empty_cuda");
}

}  // namespace
}  // namespace stepscope::derive
