// Pixels in memory: rectangles are filled here, and shown by one call. Colours are 0xAABBGGRR, as ImageData has them.

export function packed(colour: string): number {
  const [r, g, b] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16)) as [number, number, number];
  return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
}

/** `share` of `front` over `back`. */
export function mixed(front: number, back: number, share: number): number {
  const part = (shift: number) => Math.round(((front >>> shift) & 255) * share + ((back >>> shift) & 255) * (1 - share)) << shift;
  return (part(0) | part(8) | part(16) | (255 << 24)) >>> 0;
}

const LONG = 24; // pixels from which a call that fills is faster than a loop
const STRIPE = 8; // pixels from one stripe of a hatch to the next
const STROKE = 3;

export class Raster {
  width = 0;
  height = 0;
  pixels = new Uint32Array(0);
  private image: ImageData | null = null;

  resize(width: number, height: number) {
    if (width === this.width && height === this.height) return;
    this.width = width;
    this.height = height;
    this.pixels = new Uint32Array(width * height);
    this.image = null;
  }

  clear(colour: number) { this.pixels.fill(colour); }

  /** Fills [x0, x1) × [y0, y1), cut to the picture. */
  fill(x0: number, y0: number, x1: number, y1: number, colour: number) {
    const left = Math.max(0, x0);
    const right = Math.min(this.width, x1);
    if (left >= right) return;
    const { width, pixels } = this;
    const end = Math.min(this.height, y1) * width;
    const start = Math.max(0, y0) * width;
    if (right - left >= LONG) {
      for (let at = start; at < end; at += width) pixels.fill(colour, at + left, at + right);
      return;
    }
    for (let at = start; at < end; at += width) for (let x = at + left; x < at + right; ++x) pixels[x] = colour;
  }

  /** Stripes of 45°, fixed to the picture, so that neighbours continue each other. */
  hatch(x0: number, y0: number, x1: number, y1: number, colour: number, back: number) {
    const left = Math.max(0, x0);
    const right = Math.min(this.width, x1);
    const bottom = Math.min(this.height, y1);
    for (let y = Math.max(0, y0); y < bottom; ++y) {
      const start = y * this.width;
      for (let x = left; x < right; ++x) this.pixels[start + x] = (x + y) % STRIPE < STROKE ? colour : back;
    }
  }

  /** What has not arrived yet. */
  checker(x0: number, y0: number, x1: number, y1: number, a: number, b: number) {
    const left = Math.max(0, x0);
    const right = Math.min(this.width, x1);
    const bottom = Math.min(this.height, y1);
    for (let y = Math.max(0, y0); y < bottom; ++y) {
      const start = y * this.width;
      for (let x = left; x < right; ++x) this.pixels[start + x] = ((x >> 3) + (y >> 3)) & 1 ? a : b;
    }
  }

  show(context: CanvasRenderingContext2D) {
    if (this.width === 0 || this.height === 0) return;
    this.image ??= new ImageData(new Uint8ClampedArray(this.pixels.buffer as ArrayBuffer), this.width, this.height);
    context.putImageData(this.image, 0, 0);
  }
}
