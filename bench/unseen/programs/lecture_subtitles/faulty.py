"""Subtitling of lecture audio: encoder over frames, decoder with beam search."""
import statistics
import time

import torch
import torch.nn.functional as F
from torch import nn

TRAIN_SECONDS = 11
VOCAB = 900
DIM, HEADS, LAYERS = 192, 4, 2
CLIPS, BEAMS = 3, 5
FRAMES, MELS = 720, 40
MAX_TOKENS = 24
BOS = 1


def split_heads(x):
    return x.view(x.size(0), x.size(1), HEADS, DIM // HEADS).transpose(1, 2).contiguous()


def join_heads(x):
    return x.transpose(1, 2).reshape(x.size(0), -1, DIM)


class AudioEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.subsample = nn.Conv1d(MELS, DIM, 3, stride=2, padding=1)
        self.positions = nn.Parameter(torch.randn(FRAMES // 2, DIM) * 0.02)
        layer = nn.TransformerEncoderLayer(DIM, HEADS, 2 * DIM, dropout=0.0, batch_first=True, norm_first=True)
        self.layers = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)

    def forward(self, mels):
        hidden = F.gelu(self.subsample(mels)).transpose(1, 2) + self.positions
        return self.layers(hidden)


class DecodeState:
    """Keys and values of all the beams: one row per beam, clip after clip."""

    def __init__(self, rows, cross):
        shape = (rows, HEADS, MAX_TOKENS, DIM // HEADS)
        self.past = [(torch.zeros(shape), torch.zeros(shape)) for _ in range(LAYERS)]
        self.cross = cross
        self.length = 0

    def append(self, layer, keys, values):
        past_keys, past_values = self.past[layer]
        past_keys[:, :, self.length] = keys[:, :, 0]
        past_values[:, :, self.length] = values[:, :, 0]
        end = self.length + 1
        return past_keys[:, :, :end], past_values[:, :, :end]

    def reorder(self, rows):
        self.past = [(k.index_select(0, rows), v.index_select(0, rows)) for k, v in self.past]
        self.cross = [(k.index_select(0, rows), v.index_select(0, rows)) for k, v in self.cross]


class DecoderLayer(nn.Module):
    def __init__(self, index):
        super().__init__()
        self.index = index
        self.norms = nn.ModuleList(nn.LayerNorm(DIM) for _ in range(3))
        self.qkv = nn.Linear(DIM, 3 * DIM)
        self.self_out = nn.Linear(DIM, DIM)
        self.cross_q = nn.Linear(DIM, DIM)
        self.cross_kv = nn.Linear(DIM, 2 * DIM)
        self.cross_out = nn.Linear(DIM, DIM)
        self.mlp = nn.Sequential(nn.Linear(DIM, 4 * DIM), nn.GELU(), nn.Linear(4 * DIM, DIM))

    def audio_keys(self, audio):
        keys, values = self.cross_kv(audio).chunk(2, dim=-1)
        return split_heads(keys), split_heads(values)

    def forward(self, x, state):
        q, k, v = (split_heads(part) for part in self.qkv(self.norms[0](x)).chunk(3, dim=-1))
        k, v = state.append(self.index, k, v)
        x = x + self.self_out(join_heads(F.scaled_dot_product_attention(q, k, v)))
        k, v = state.cross[self.index]
        q = split_heads(self.cross_q(self.norms[1](x)))
        x = x + self.cross_out(join_heads(F.scaled_dot_product_attention(q, k, v)))
        return x + self.mlp(self.norms[2](x))


class Subtitler(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = AudioEncoder()
        self.tokens = nn.Embedding(VOCAB, DIM)
        self.positions = nn.Parameter(torch.randn(MAX_TOKENS, DIM) * 0.02)
        self.layers = nn.ModuleList(DecoderLayer(i) for i in range(LAYERS))
        self.norm = nn.LayerNorm(DIM)
        self.out = nn.Linear(DIM, VOCAB)

    def next_scores(self, last, state):
        hidden = (self.tokens(last) + self.positions[state.length]).unsqueeze(1)
        for layer in self.layers:
            hidden = layer(hidden, state)
        state.length += 1
        return F.log_softmax(self.out(self.norm(hidden[:, 0])), dim=-1)

    @torch.inference_mode()
    def transcribe(self, mels):
        clips = mels.size(0)
        audio = self.encoder(mels)
        cross = [tuple(t.repeat_interleave(BEAMS, dim=0) for t in layer.audio_keys(audio)) for layer in self.layers]
        state = DecodeState(clips * BEAMS, cross)
        sequences = torch.full((clips * BEAMS, 1), BOS)
        totals = torch.full((clips, BEAMS), float("-inf"))
        totals[:, 0] = 0.0
        first_row = torch.arange(clips).unsqueeze(1) * BEAMS
        for _ in range(MAX_TOKENS):
            scores = self.next_scores(sequences[:, -1], state).view(clips, BEAMS, VOCAB)
            totals, flat = (totals.unsqueeze(-1) + scores).view(clips, -1).topk(BEAMS, dim=-1)
            rows = (first_row + flat // VOCAB).view(-1)
            sequences = torch.cat([sequences[rows], (flat % VOCAB).view(-1, 1)], dim=1)
            state.reorder(rows)
        return sequences.view(clips, BEAMS, -1)[:, 0], totals[:, 0] / MAX_TOKENS


def lecture_clips(seed):
    gen = torch.Generator().manual_seed(seed)
    time_axis = torch.linspace(0, 60, FRAMES)
    while True:
        rate = torch.rand(CLIPS, MELS, 1, generator=gen) * 3
        noise = torch.randn(CLIPS, MELS, FRAMES, generator=gen)
        yield torch.sin(rate * time_axis) + 0.3 * noise


def main():
    torch.manual_seed(31)
    torch.set_num_threads(2)
    model = Subtitler().eval()
    clips = lecture_clips(seed=8)
    scores, times = [], []
    start = time.perf_counter()
    while time.perf_counter() - start < TRAIN_SECONDS:
        mels = next(clips)
        begin = time.perf_counter()
        tokens, quality = model.transcribe(mels)
        times.append(time.perf_counter() - begin)
        scores.append(quality.mean().item())

    print(f"batches={len(times)} first_tokens={tokens[0, :6].tolist()}")
    print(f"step_ms={statistics.median(times[3:]) * 1000:.2f}")
    print(f"result={sum(scores[:15]) / 15:.4f}")


if __name__ == "__main__":
    main()
