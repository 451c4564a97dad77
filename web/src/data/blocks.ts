// Bytes in the page's own document: base64 of raw deflate.

const BIDI = /[\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]/g;

/** An answer. Names come from strangers: marks that would turn the text around them are replaced. */
export const parsed = <T>(json: string) => JSON.parse(json.replace(BIDI, '\ufffd')) as T;

/** The text of a block; null if there is none of that id. */
export type ReadText = (id: string) => string | null;

export const blockIn = (document: Document): ReadText => (id) =>
  document.querySelector(`script[type="application/octet-stream"]#${id}`)?.textContent ?? null;

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const letters = atob(base64);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; ++i) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

/** Each block is inflated once, when it is first asked for. */
export class Blocks {
  private readonly inflated = new Map<string, Promise<ArrayBuffer | null>>();
  private readonly parsed = new Map<string, Promise<unknown>>();
  constructor(private readonly read: ReadText) {}

  has(id: string) { return this.read(id) !== null; }

  bytes(id: string): Promise<ArrayBuffer | null> {
    let known = this.inflated.get(id);
    if (known === undefined) {
      const text = this.read(id);
      known = text === null ? Promise.resolve(null)
        : new Response(new Blob([bytesOf(text)]).stream().pipeThrough(new DecompressionStream('deflate-raw'))).arrayBuffer();
      this.inflated.set(id, known);
    }
    return known;
  }

  json<T>(id: string): Promise<T | null> {
    let known = this.parsed.get(id);
    if (known === undefined) {
      known = this.bytes(id).then((bytes) => {
        this.inflated.delete(id);
        return bytes === null ? null : parsed<unknown>(new TextDecoder().decode(bytes));
      });
      this.parsed.set(id, known);
    }
    return known as Promise<T | null>;
  }
}
