#include "make_trace/model/builder.h"

#include <algorithm>
#include <utility>

namespace stepscope::make_trace {
namespace {

// Host costs in ns, of the order seen in traces of eager training on a server CPU.
constexpr std::int64_t kOpOpen = 3800, kOpClose = 1500;
constexpr std::int64_t kLightOpen = 600, kLightClose = 200;
constexpr std::int64_t kAnnotationOpen = 1500, kAnnotationClose = 900;
constexpr std::int64_t kFrameOpen = 350, kFrameClose = 150;
constexpr std::int64_t kLaunch = 4600, kCopyCall = 6200;
constexpr std::int64_t kEventRecord = 1100, kEventWait = 1300, kSynchronize = 3000;
constexpr std::int64_t kDeviceMalloc = 190000;
constexpr std::int64_t kDeviceFree = 160000;

}  // namespace

Scope::~Scope() {
  if (builder_ == nullptr) return;
  if (frame_) builder_->frames_.pop_back();
  builder_->add({.act = Act::close, .ns = close_ns_});
}

Builder::Builder(const Options& options, const Hardware& hw, const Vendor& vendor)
    : options_(options), hw_(hw), vendor_(vendor) {
  program_.streams = options.streams;
  program_.comm_stream = options.streams;
}

void Builder::add(Instr instr) {
  const bool own_code =
      (instr.act == Act::think && instr.slot == 0) || instr.act == Act::open || instr.act == Act::close;
  if (own_code) instr.ns = static_cast<std::int64_t>(static_cast<double>(instr.ns) * options_.host_cost);
  const auto lane = static_cast<std::size_t>(lane_);
  instr.key = (static_cast<std::uint64_t>(lane) << 40) + ++next_key_[lane];
  program_.instrs.push_back(instr);
}

Scope Builder::open(SpanInfo span, std::int64_t open_ns, std::int64_t close_ns) {
  const bool frame = span.kind == SpanKind::python;
  program_.spans.push_back(std::move(span));
  const auto info = static_cast<std::uint32_t>(program_.spans.size() - 1);
  add({.act = Act::open, .info = info, .ns = open_ns});
  return {this, close_ns, frame};
}

std::string Builder::call_stack() const {
  std::string text;
  for (auto frame = frames_.rbegin(); frame != frames_.rend(); ++frame) {
    if (!text.empty()) text += ';';
    text += *frame;
  }
  return text;
}

SpanInfo Builder::op_info(std::string_view name, const Args& args, Node node) const {
  SpanInfo span;
  span.name = escaped(name);
  if (options_.shapes) span.shape_args = typed(shape_args(args, options_.dialect == DialectKind::y2021));
  span.call_stack = call_stack();
  span.sequence = node.sequence;
  span.backward = node.backward;
  return span;
}

Scope Builder::op(std::string_view name, const Args& args, Node node) {
  return open(op_info(name, args, node), kOpOpen, kOpClose);
}

Scope Builder::light_op(std::string_view name, const Args& args, Node node) {
  return open(op_info(name, args, node), kLightOpen, kLightClose);
}

Scope Builder::collective_op(std::string_view name, const Args& args, const std::string& comm_args,
                             const Group& group) {
  SpanInfo span = op_info(name, args, {});
  span.comm_args = comm_args;
  span.group = group;
  return open(std::move(span), kOpOpen, kOpClose);
}

Scope Builder::annotation(std::string_view name, bool numbered, bool loader, const Args& args) {
  SpanInfo span;
  span.kind = SpanKind::annotation;
  span.name = escaped(name);
  span.numbered = numbered;
  span.loader = loader;
  if (options_.shapes && !args.empty())
    span.shape_args = typed(shape_args(args, options_.dialect == DialectKind::y2021));
  return open(std::move(span), kAnnotationOpen, kAnnotationClose);
}

Scope Builder::frame(std::string_view python_function) {
  if (!options_.stacks) return {nullptr, 0, false};
  SpanInfo span;
  span.kind = SpanKind::python;
  span.name = escaped(python_function);
  frames_.push_back(span.name);
  return open(std::move(span), kFrameOpen, kFrameClose);
}

Scope Builder::module(std::string_view class_name, int id) {
  if (!options_.stacks) return {nullptr, 0, false};
  SpanInfo span;
  span.kind = SpanKind::python;
  span.name = "nn.Module: " + std::string(class_name) + "_" + std::to_string(id);
  span.module = id;
  frames_.push_back(span.name);
  return open(std::move(span), kFrameOpen, kFrameClose);
}

void Builder::think(std::int64_t ns) { add({.act = Act::think, .ns = ns}); }

void Builder::sleep(std::int64_t ns) { add({.act = Act::think, .slot = 1, .ns = ns}); }

void Builder::restart_workers(std::int64_t ns) { add({.act = Act::restart_workers, .ns = ns}); }

Builder::Only::Only(Builder& builder, Steps steps)
    : program_(builder.program_), at_(builder.program_.instrs.size()) {
  builder.add({.act = Act::only_in, .steps = steps});
}

Builder::Only::~Only() {
  program_.instrs[at_].slot = static_cast<std::uint32_t>(program_.instrs.size() - at_ - 1);
}

std::string Builder::typed(std::string name) const {
  constexpr std::string_view kHalf = "c10::BFloat16";
  if (!options_.fp32) return name;
  for (std::size_t at = name.find(kHalf); at != std::string::npos; at = name.find(kHalf, at))
    name.replace(at, kHalf.size(), "float");
  return name;
}

std::uint32_t Builder::call_index(const CallInfo& call) {
  for (std::size_t i = 0; i < program_.calls.size(); ++i) {
    if (program_.calls[i].name == call.name) return static_cast<std::uint32_t>(i);
  }
  program_.calls.push_back(call);
  return static_cast<std::uint32_t>(program_.calls.size() - 1);
}

void Builder::call(const CallInfo& call, std::int64_t ns) {
  add({.act = Act::call, .info = call_index(call), .ns = ns});
}

void Builder::queue(Act act, WorkInfo work, int stream, std::int64_t ns) {
  if (work.kind == WorkKind::kernel) program_.device_ns += work.device_ns;
  if (work.kind == WorkKind::collective && !work.members.message) program_.collective_bytes += work.bytes;
  const std::int64_t bytes = work.bytes;
  program_.works.push_back(std::move(work));
  const auto info = static_cast<std::uint32_t>(program_.works.size() - 1);
  add({.act = act, .stream = static_cast<std::int16_t>(stream), .info = info, .ns = ns, .bytes = bytes});
}

void Builder::kernel(const std::string& name, std::int64_t device_ns, const KernelShape& shape, int stream) {
  WorkInfo work;
  work.name = typed(name);
  work.call = call_index(vendor_.launch);
  work.device_ns = device_ns;
  work.shape = shape;
  queue(Act::launch, std::move(work), stream, kLaunch);
}

void Builder::copy(const std::string& name, std::int64_t bytes, double bytes_per_ns, bool blocking) {
  WorkInfo work;
  work.kind = WorkKind::copy;
  work.name = name;
  work.call = call_index(vendor_.copy_async);
  work.bytes = bytes;
  work.device_ns = 1200 + static_cast<std::int64_t>(static_cast<double>(bytes) / bytes_per_ns);
  queue(blocking ? Act::blocking_copy : Act::launch, std::move(work), 0, kCopyCall);
}

void Builder::fill(std::int64_t bytes) {
  WorkInfo work;
  work.kind = WorkKind::fill;
  work.name = "Memset (Device)";
  work.call = call_index(vendor_.fill_async);
  work.bytes = bytes;
  work.device_ns = 900 + static_cast<std::int64_t>(static_cast<double>(bytes) / hw_.memory_bytes_per_ns);
  queue(Act::launch, std::move(work), 0, kLaunch);
}

void Builder::all_reduce(std::int64_t bytes, std::int64_t device_ns, const std::string& comm_args,
                         const Group& group) {
  WorkInfo work;
  work.kind = WorkKind::collective;
  work.name = options_.fp32 ? vendor_.all_reduce_fp32 : vendor_.all_reduce;
  work.call = call_index(vendor_.launch_cooperative);
  work.bytes = bytes;
  work.device_ns = device_ns;
  work.shape = {{24, 1, 1}, {544, 1, 1}, 96, 82264};
  work.comm_args = comm_args;
  work.members = group.members;
  work.salt = group.salt;
  queue(Act::launch, std::move(work), program_.comm_stream, kLaunch);
}

void Builder::message(int from, int to, std::int64_t bytes, const std::string& comm_args, const Group& group,
                      int channel) {
  WorkInfo work;
  work.kind = WorkKind::collective;
  work.name = vendor_.send_recv;
  work.call = call_index(vendor_.launch_cooperative);
  work.bytes = bytes;
  work.device_ns = message_ns(hw_, static_cast<double>(bytes));
  work.shape = {{2, 1, 1}, {544, 1, 1}, 96, 82264};
  work.comm_args = comm_args;
  work.members = {from, to - from, 2, true};
  work.salt = group.salt;
  program_.comm_streams = std::max(program_.comm_streams, channel + 1);
  queue(Act::launch, std::move(work), comm_stream(channel), kLaunch);
}

std::uint32_t Builder::record_event(int stream) {
  const auto slot = static_cast<std::uint32_t>(program_.events++);
  add({.act = Act::record_event,
       .stream = static_cast<std::int16_t>(stream),
       .info = call_index(vendor_.event_record),
       .slot = slot,
       .ns = kEventRecord});
  return slot;
}

void Builder::wait_event(int stream, std::uint32_t event) {
  add({.act = Act::wait_event,
       .stream = static_cast<std::int16_t>(stream),
       .info = call_index(vendor_.event_wait),
       .slot = event,
       .ns = kEventWait});
}

void Builder::synchronize(int stream) {
  add({.act = Act::synchronize,
       .stream = static_cast<std::int16_t>(stream),
       .info = call_index(stream < 0 ? vendor_.device_sync : vendor_.stream_sync),
       .ns = kSynchronize});
}

void Builder::take_batch(std::int64_t own_ns, std::int64_t worker_ns, int workers) {
  add({.act = Act::take_batch,
       .slot = static_cast<std::uint32_t>(workers),
       .ns = own_ns,
       .bytes = worker_ns});
}

void Builder::lag(Phase phase) { add({.act = Act::lag, .slot = static_cast<std::uint32_t>(phase)}); }

void Builder::allocate(std::uint32_t tensor, std::int64_t bytes) {
  add({.act = Act::allocate,
       .info = call_index(vendor_.device_malloc),
       .slot = tensor,
       .ns = kDeviceMalloc,
       .bytes = bytes});
}

void Builder::release(std::uint32_t tensor) { add({.act = Act::release, .slot = tensor}); }

void Builder::empty_cache() {
  add({.act = Act::empty_cache, .info = call_index(vendor_.device_free), .ns = kDeviceFree});
}

void Builder::on_thread(Thread thread) { add({.act = Act::on_thread, .slot = thread}); }

Program Builder::take() {
  program_.device_sync = call_index(vendor_.device_sync);
  return std::move(program_);
}

}  // namespace stepscope::make_trace
