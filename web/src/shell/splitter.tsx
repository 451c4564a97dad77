// An edge between two parts that mouse and keys can move.
import type { Signal } from '@preact/signals';

interface Props {
  /** The size of the part before (or behind) the edge, in pixels. */
  size: Signal<number>;
  least: number;
  most: number;
  side: 'left' | 'bottom';
  label: string;
}

const STEP = 16;

export function Splitter({ size, least, most, side, label }: Props) {
  const isLeft = side === 'left';
  const set = (value: number) => { size.value = Math.round(Math.max(least, Math.min(most, value))); };
  const onDown = (down: PointerEvent & { currentTarget: HTMLElement }) => {
    const element = down.currentTarget;
    const before = size.peek();
    element.setPointerCapture(down.pointerId);
    const move = (event: PointerEvent) => set(before + (isLeft ? event.clientX - down.clientX : down.clientY - event.clientY));
    element.addEventListener('pointermove', move);
    element.addEventListener('pointerup', () => element.removeEventListener('pointermove', move), { once: true });
  };
  const onKey = (event: KeyboardEvent) => {
    const by = { ArrowLeft: isLeft ? -1 : 0, ArrowRight: isLeft ? 1 : 0, ArrowUp: isLeft ? 0 : 1, ArrowDown: isLeft ? 0 : -1 }[event.key];
    if (!by) return;
    set(size.peek() + by * STEP);
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class={`splitter ${side}`} role="separator" tabIndex={0} aria-label={label} aria-orientation={isLeft ? 'vertical' : 'horizontal'}
      aria-valuenow={size.value} aria-valuemin={least} aria-valuemax={most} onPointerDown={onDown} onKeyDown={onKey} />
  );
}
