// Padding (I07): batches that are joined from sequences of different lengths.
#include <fmt/format.h>

#include "advise/own_places.h"
#include "advise/rules/constants.h"
#include "advise/rules/families.h"
#include "advise/say.h"
#include "advise/see.h"

namespace stepscope::advise {
namespace {

/// Time of the forward and the backward pass, ns per step.
std::int64_t passes(const Evidence& e) {
  return report::plus(e.time_in(analyze::Phase::forward), e.time_in(analyze::Phase::backward)) / e.steps();
}

/// The line that pads, or nullptr.
const analyze::LineNode* padding_line(const Evidence& e) {
  for (const analyze::LineNode* node : e.mine(e.reports().lines.nodes, "Lines by caller"))
    if (node->op == "aten::pad_sequence") return node;
  return nullptr;
}

/// Operators that leave padding out: of nn.TransformerEncoder's fast path, and of recurrent layers.
bool skips_padding(const Evidence& e) {
  for (const analyze::Operator* own : e.mine(e.reports().operators.operators, "Operators"))
    if (own->name == "aten::_nested_tensor_from_mask" || own->name == "aten::_pack_padded_sequence")
      return true;
  return false;
}

std::optional<Claim> padded_sequences(const Evidence& e, Bound bound) {
  const std::int64_t padded = e.fact(&Facts::padded);
  const double share = padded == 0 ? 0 : report::ratio(e.fact(&Facts::padding), padded);
  if (share < kPaddingShare) return std::nullopt;
  const analyze::LineNode* line = padding_line(e);
  Claim f = claim(e, RuleId::I07,
                  fmt::format("{} of the elements of padded batches are padding{}", percent(share),
                              line == nullptr ? "" : ", made in " + quoted_line(line->line, line->text)));
  if (bound == Bound::host_only) save(f, passes(e), kPaddingLeast * share, share);
  f.confidence = Confidence::medium;
  f.because =
      "pad_sequence's result and what is copied into it are recorded; what the model does with padding is "
      "not";
  f.evidence = {see::overview("padding, of padded"), see::phases("forward, backward")};
  f.remedy =
      "Put sequences of about the same length into a batch: a batch sampler that sorts or buckets by length. "
      "Or leave padding out: pack_padded_sequence for recurrent layers, nested tensors for attention.";
  f.verify = "Less padding in `stepscope show overview`, and a shorter forward pass in `phases`.";
  return f;
}

std::optional<Claim> padded_tokens(const Evidence& e, Bound bound) {
  const std::int64_t looked_up = e.fact(&Facts::looked_up);
  if (looked_up <= 0) return std::nullopt;
  const double share = report::ratio(e.fact(&Facts::looked_up_padding), looked_up);
  if (share < kPaddingShare) return std::nullopt;
  const double shared = report::ratio(e.fact(&Facts::shared_padding), looked_up);
  const std::string shape = e.mine(e.reports().overview.ranks, "Overview").front()->largest_lookup;
  const bool is_fixed = shared >= kPaddingShare;
  Claim f = claim(
      e, RuleId::I07,
      fmt::format(
          "{} of the tokens that embeddings look up are padding{}{}", percent(share),
          shape.empty() ? "" : ", in batches of up to " + shape,
          is_fixed ? fmt::format("; {} are in columns where every row is padding", percent(shared)) : ""));
  if (bound == Bound::host_only) save(f, passes(e), is_fixed ? kSharedLeast * shared : 0, share);
  f.confidence = is_fixed ? Confidence::medium : Confidence::low;
  f.because = "the tokens of some batches were read; the time is taken to grow with their number";
  f.evidence = {see::overview("looked_up_padding and shared_padding, of looked_up"),
                see::phases("forward, backward")};
  f.remedy =
      is_fixed ? "Pad to the longest sequence of each batch, not to a fixed length: padding=True instead of "
                 "padding=\"max_length\" in Hugging Face tokenizers, enable_padding() without length. On a "
                 "GPU, to "
                 "the next multiple of 64, so that few shapes occur. Then put sequences of about the same "
                 "length into a batch."
               : "Put sequences of about the same length into a batch: a batch sampler that sorts or buckets "
                 "by length. Or pack several sequences into one row, with attention inside each only.";
  f.verify = "Less looked_up_padding in `stepscope show overview`, and a shorter forward pass in `phases`.";
  return f;
}

std::optional<Claim> padded_batches(const Evidence& e, Bound bound) {
  if (skips_padding(e)) return std::nullopt;
  std::optional<Claim> f = padded_sequences(e, bound);
  if (!f) f = padded_tokens(e, bound);
  if (f) f->effort = Effort::code;
  return f;
}

constexpr Rule kPaddingRules[] = {
    {RuleId::I07, "much of each batch is padding", false, padded_batches,
     R"(Looks at: `padding` and `padded` of `overview`: in each call of pad_sequence, what it fills, less what it copies
there. Where that is little, at `looked_up_padding` and `looked_up`: the runs of one token at the ends or at the begins
of the sequences that embeddings look up. Fires if kPaddingShare of the elements is padding.

Saving: where no device is recorded, of the forward and the backward pass: kPaddingLeast of that share, to all of it. Of
looked up tokens, kSharedLeast of the part in columns where every row is padding, if that is kPaddingShare, else nothing. On a
device none is estimated.

Silent on: programs that call aten::_nested_tensor_from_mask or aten::_pack_padded_sequence, which leave padding out;
batches padded in other ways; recordings without shapes. Of looked up tokens also on recordings of other profilers; tokens
that a device makes or reorders; one dimension, and EmbeddingBag; sequences under 8; no token of 256 or more (characters,
classes, masks); negative ones (labels).)"},
};

}  // namespace

std::span<const Rule> padding_rules() { return kPaddingRules; }

}  // namespace stepscope::advise
