"""Serves an instance segmentation model that finds nuts on photographs of sorting trays."""
import statistics
import time
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F

TRAIN_SECONDS = 11
PHOTO = (432, 576)
NETWORK_INPUT = (216, 288)
QUERIES = 32
KINDS = 5
WIDTH = 64
THRESHOLD = 0.5
OBJECTS_PER_TRAY = 4


@dataclass
class Nut:
    kind: int
    score: float
    area: int
    box: tuple
    colour: list


class Stage(nn.Module):
    def __init__(self, inside, outside, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inside, outside, 3, stride=stride, padding=1)
        self.norm1 = nn.GroupNorm(8, outside)
        self.conv2 = nn.Conv2d(outside, outside, 3, padding=1)
        self.norm2 = nn.GroupNorm(8, outside)

    def forward(self, x):
        x = F.relu(self.norm1(self.conv1(x)))
        return F.relu(x + self.norm2(self.conv2(x)))


class TraySegmenter(nn.Module):
    """Convolutional backbone, a pyramid neck, and a query decoder with class, box and mask heads."""

    def __init__(self):
        super().__init__()
        self.stem = Stage(3, 48, 4)
        self.stage2 = Stage(48, 96, 2)
        self.stage3 = Stage(96, 128, 2)
        self.lateral1, self.lateral2, self.lateral3 = (nn.Conv2d(c, WIDTH, 1) for c in (48, 96, 128))
        self.pixel = nn.Conv2d(WIDTH, WIDTH, 3, padding=1)
        self.queries = nn.Parameter(torch.randn(QUERIES, WIDTH))
        layer = nn.TransformerDecoderLayer(WIDTH, 4, 4 * WIDTH, dropout=0.0, batch_first=True)
        self.decoder = nn.TransformerDecoder(layer, 3)
        self.class_head = nn.Linear(WIDTH, KINDS)
        self.box_head = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 4))
        self.mask_head = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH))

    def forward(self, photos):
        c1 = self.stem(photos)
        c2 = self.stage2(c1)
        c3 = self.stage3(c2)
        p3 = self.lateral3(c3)
        p2 = self.lateral2(c2) + F.interpolate(p3, size=c2.shape[-2:], mode="nearest")
        p1 = self.lateral1(c1) + F.interpolate(p2, size=c1.shape[-2:], mode="nearest")
        pixels = self.pixel(p1)
        memory = p2.flatten(2).transpose(1, 2)
        hidden = self.decoder(self.queries.expand(len(photos), -1, -1), memory)
        return {"logits": self.class_head(hidden), "boxes": self.box_head(hidden).sigmoid(),
                "masks": torch.einsum("bqc,bchw->bqhw", self.mask_head(hidden), pixels)}


class PostProcess:
    """Turns raw outputs into scores, kinds, boxes in pixels and masks of the size of the photograph."""

    def __call__(self, outputs, sizes, threshold):
        results = []
        for logits, boxes, masks, (height, width) in zip(outputs["logits"], outputs["boxes"], outputs["masks"], sizes):
            scores, kinds = logits.sigmoid().max(dim=-1)
            keep = scores > threshold
            scores, kinds, boxes, masks = scores[keep], kinds[keep], boxes[keep], masks[keep]
            centre, extent = boxes[:, :2], boxes[:, 2:]
            corners = torch.cat([centre - extent / 2, centre + extent / 2], dim=-1).clamp(0, 1)
            corners = corners * torch.tensor([width, height, width, height])
            masks = F.interpolate(masks[:, None], size=(height, width), mode="bilinear", align_corners=False)
            results.append({"scores": scores, "kinds": kinds, "boxes": corners, "masks": masks[:, 0] > 0})
        return results


class TrayService:
    def __init__(self, model, threshold):
        self.model, self.threshold = model.eval(), threshold
        self.postprocess = PostProcess()
        self.mean = torch.tensor([0.45, 0.40, 0.33]).view(3, 1, 1)
        self.deviation = torch.tensor([0.24, 0.22, 0.21]).view(3, 1, 1)

    def prepare(self, photo):
        small = F.interpolate(photo[None].float() / 255, size=NETWORK_INPUT, mode="bilinear", align_corners=False)
        return (small - self.mean) / self.deviation

    @torch.inference_mode()
    def calibrate(self, photos):
        """Shifts the class scores so that a tray has the usual number of nuts above the threshold."""
        best = torch.cat([self.model(self.prepare(photo))["logits"].amax(-1).flatten() for photo in photos])
        cut = best.sort(descending=True).values[OBJECTS_PER_TRAY * len(photos)]
        self.model.class_head.bias -= cut

    @torch.inference_mode()
    def handle(self, photo):
        outputs = self.model(self.prepare(photo))
        found = self.postprocess(outputs, [photo.shape[-2:]], self.threshold)[0]
        return [self.describe(photo, *item) for item in zip(*found.values())]

    def describe(self, photo, score, kind, box, mask):
        area = int(mask.sum())
        x0, y0, x1, y1 = (int(value) for value in box)
        patch, inside = photo[:, y0:y1 + 1, x0:x1 + 1].float(), mask[y0:y1 + 1, x0:x1 + 1]
        colour = (patch * inside).sum(dim=(1, 2)) / inside.sum().clamp(min=1)
        return Nut(int(kind), float(score), area, (x0, y0, x1, y1), colour.tolist())


def make_photos(count, seed):
    generator = torch.Generator().manual_seed(seed)
    ys, xs = torch.meshgrid(torch.arange(PHOTO[0]), torch.arange(PHOTO[1]), indexing="ij")
    photos = []
    for _ in range(count):
        photo = 90 + 25 * torch.rand(3, *PHOTO, generator=generator)
        for _ in range(9):
            cy, cx, ry, rx, tone = torch.rand(5, generator=generator).tolist()
            spot = ((ys - cy * PHOTO[0]) / (25 + 40 * ry)) ** 2 + ((xs - cx * PHOTO[1]) / (25 + 40 * rx)) ** 2 < 1
            photo += spot * torch.tensor([100.0, 60.0, 20.0]).view(3, 1, 1) * (0.5 + tone)
        photos.append(photo.clamp(0, 255).to(torch.uint8))
    return photos


def main():
    torch.set_num_threads(2)
    torch.manual_seed(3)
    photos = make_photos(24, 31)
    service = TrayService(TraySegmenter(), THRESHOLD)
    service.calibrate(photos[:8])
    areas, times, counts = [], [], {}
    start = time.perf_counter()
    while time.perf_counter() - start < TRAIN_SECONDS:
        photo = photos[len(times) % len(photos)]
        began = time.perf_counter()
        nuts = service.handle(photo)
        times.append((time.perf_counter() - began) * 1e3)
        areas.append(sum(nut.area * nut.score for nut in nuts) / (PHOTO[0] * PHOTO[1]))
        for nut in nuts:
            counts[nut.kind] = counts.get(nut.kind, 0) + 1
    print(f"{len(times)} trays, {sum(counts.values()) / len(times):.2f} nuts per tray")
    print(f"step_ms={statistics.median(times[3:]):.2f}")
    print(f"result={sum(areas[:15]) / 15:.4f}")


if __name__ == "__main__":
    main()
