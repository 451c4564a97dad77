#include "make_trace/model/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <string>

#include "make_trace/model/builder.h"
#include "make_trace/model/model.h"
#include "make_trace/model/training_loop.h"

namespace stepscope::make_trace {
namespace {

enum Channel : int { kReductions, kActivations, kGradients };  // one stream each

/// The options of one stage: its blocks, on the tokens of a micro-batch.
Options share_of(const Options& whole, int stage) {
  Options own = whole;
  own.layers = whole.layers / whole.stages + (stage == whole.stages - 1 ? whole.last_stage_layers : 0);
  own.tokens = std::max(1, whole.tokens / whole.micro_batches);
  return own;
}

class Stage {
 public:
  Stage(const Options& options, int rank)
      : o_(share_of(options, rank % options.stages)),
        rank_(rank),
        number_(rank % options.stages),
        groups_(groups_of(options, rank)),
        hw_(hardware_of(options.vendor)),
        v_(vendor_of(options.vendor)),
        b_(o_, hw_, v_) {
    ahead_ = std::min(o_.stages - 1 - number_, o_.micro_batches - 1);
    for (int i = 0; i <= ahead_; ++i)
      models_.emplace_back(b_, o_, hw_, v_, Share{number_ == 0, number_ == o_.stages - 1, groups_[2]});
  }

  Program step() {
    {
      auto step = b_.annotation("ProfilerStep#", true);
      auto frame = b_.frame("train.py(36): train_step");
      set_up_device(b_, o_, v_);
      next_epoch(b_, o_);
      if (number_ == 0) load_batch(b_, o_);
      b_.think(5000);
      for (Model& model : models_) model.zero_grad();
      for (int i = 0; i < o_.micro_batches + ahead_; ++i) {
        if (i < o_.micro_batches) forward(i);
        if (i >= ahead_) backward(i - ahead_);
      }
      for (const auto& [channel, sent] : sent_) b_.wait_event(0, sent);
      b_.think(5000);
      models_.front().optimizer_step();
      b_.think(12000);
      call_back(b_, o_);
    }
    b_.think(4000);
    return b_.take();
  }

 private:
  Model& model_of(int micro_batch) { return models_[static_cast<std::size_t>(micro_batch) % models_.size()]; }

  void forward(int micro_batch) {
    Model& model = model_of(micro_batch);
    if (number_ > 0)
      receive(rank_ - 1, kActivations);
    else
      copy_batch(b_, o_, hw_, model);
    model.forward(micro_batch);
    if (number_ == o_.stages - 1)
      model.loss();
    else
      send(rank_ + 1, kActivations);
  }
  void backward(int micro_batch) {
    if (number_ < o_.stages - 1) receive(rank_ + 1, kGradients);
    model_of(micro_batch).backward(micro_batch == o_.micro_batches - 1);
    if (number_ > 0) send(rank_ - 1, kGradients);
  }

  void send(int to, Channel channel) {
    sent_[channel] = message("send", rank_, to, channel, fmt::format("{}->{}", rank_, to));
  }
  void receive(int from, Channel channel) {
    const std::uint32_t there = message("recv", from, rank_, channel, fmt::format("{}<-{}", rank_, from));
    auto wait = b_.op("c10d::wait");
    b_.wait_event(0, there);
  }
  /// Sends or receives the activations of a micro-batch or their gradients. Work launched before may use the
  /// receiver's memory, so both ends begin after it. Returns an event after the message.
  std::uint32_t message(const std::string& name, int from, int to, Channel channel, const std::string& ends) {
    const bool sends = from == rank_;
    const std::int64_t elements = std::int64_t{o_.tokens} * o_.hidden;
    const Args args = {tensor({o_.tokens, o_.hidden})};
    const std::string comm = comm_args(name.c_str(), o_.fp32 ? "Float" : "BFloat16", elements, groups_[1]) +
                             fmt::format("\"{} Rank\": {}, ", sends ? "Dst" : "Src", sends ? to : from);
    auto c10d = b_.op("c10d::" + name + (sends ? "" : "_"), args);
    auto op = b_.collective_op("record_param_comms", args, comm, groups_[1]);
    b_.call(v_.stream_state, 700);
    b_.wait_event(b_.comm_stream(channel), b_.record_event(0));
    {
      auto annotation = b_.annotation("nccl:" + name + " " + ends, false, false, args);
      b_.message(from, to, elements * (o_.fp32 ? 4 : 2), comm, groups_[1], channel);
    }
    return b_.record_event(b_.comm_stream(channel));
  }

  const Options o_;
  const int rank_, number_;
  const std::vector<Group> groups_;
  const Hardware& hw_;
  const Vendor& v_;
  Builder b_;
  int ahead_ = 0;                          // forward passes ahead of the backward passes
  std::deque<Model> models_;               // one for each micro-batch in flight
  std::map<Channel, std::uint32_t> sent_;  // events after the last messages
};

}  // namespace

Program pipeline_step(const Options& options, int rank) { return Stage(options, rank).step(); }

std::vector<Group> groups_of(const Options& options, int rank) {
  Group all;
  all.members.count = options.ranks;
  if (options.stages == 0) return {all};
  const int stage = rank % options.stages, replicas = options.ranks / options.stages;
  const auto pipelines = static_cast<std::uint64_t>(replicas);
  return {all,
          {"1",
           "pipeline",
           {rank - stage, 1, options.stages},
           1 + static_cast<std::uint64_t>(rank / options.stages)},
          {"2",
           "replicas",
           {stage, options.stages, replicas},
           1 + pipelines + static_cast<std::uint64_t>(stage)}};
}

}  // namespace stepscope::make_trace
