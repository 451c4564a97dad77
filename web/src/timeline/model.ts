// The state of the timeline and what can be done with it. The address holds all of it that a link must keep.
import { computed, signal, type ReadonlySignal } from '@preact/signals';
import type { DataSource } from '../data/source.ts';
import { placeIn, type Drawn, type DrawnPath, type EventDetails, type Idle, type IdlePart, type Place, type Run, type Search, type Timeline } from '../data/types.ts';
import { change, ignored, param, said } from '../state/app.ts';
import { formatSpan, parseList, parseMoment, parseSpan } from '../state/link.ts';
import { formatValue, parseMarkedTime } from '../words/units.ts';
import { areaInLink, areaWords, ranksOf } from './area_words.ts';
import { goToTime } from './jumps.ts';
import { entryOf, groupKey, isPinned, layOut, ROW, type Layout } from './layout.ts';
import { Motion } from './motion.ts';
import { askWhatIsShown } from './overlay.ts';
import { stepsOf, type Area, type Hovered, type Mark } from './paint.ts';
import type { Box } from './scene.ts';
import { placeOf } from './scene.ts';
import { Store } from './store.ts';
import { bounded, lengthOf, moved, widened, type Span } from './view.ts';

const LINK_AFTER_MS = 300;
const MAX_AREA_LANES = 256; // of one question
const OPEN_RANKS = 8; // of many ranks, those that are open at first
const AROUND_MOMENT = 0.75; // beside a moment, as a share of its length
const AROUND = 0.6; // room beside an event that fills the view

export type Tab = 'event' | 'area' | 'search' | 'table';

export class Model {
  readonly span = signal<Span>({ from: 0, to: 1 });
  readonly scroll = signal(0);
  readonly size = signal({ width: 800, height: 400 });
  readonly selected = signal<Place | null>(null);
  readonly details = signal<EventDetails | null>(null);
  readonly detailsError = signal<Error | null>(null);
  readonly area = signal<Area | null>(null);
  /** What the area is compared with; it is the newer one. */
  readonly other = signal<Area | null>(null);
  /** Whether the next area is the other one. */
  readonly comparing = signal(false);
  /** While an area grows, nothing is asked about it. */
  readonly dragging = signal(false);
  readonly marks = signal<readonly Mark[]>([]);
  readonly hover = signal<{ box: Hovered; x: number; y: number } | null>(null);
  readonly pinned = signal<readonly string[]>([]);
  readonly closed = signal<readonly string[]>([]);
  readonly opened = signal<readonly string[]>([]);
  readonly hidden = signal<readonly string[]>([]);
  readonly arrows = signal(true);
  /** Whose critical path is shown: "r0.5" is step 5 of rank 0, "r0" its whole recording; "" for none. */
  readonly pathOf = signal('');
  readonly path = signal<DrawnPath | null>(null);
  readonly idleShown = signal(false);
  readonly idle = signal<Idle | null>(null);
  readonly query = signal('');
  readonly search = signal<Search | null>(null);
  readonly tab = signal<Tab | null>(null);
  /** Counts what arrived, so that the next frame is drawn. */
  readonly news = signal(0);
  readonly layout: ReadonlySignal<Layout>;
  readonly found = computed(() => {
    const search = this.search.value;
    return search === null ? null : new Set(search.names.map((name) => name.id));
  });
  readonly store: Store;
  readonly motion: Motion;
  private readonly stopAsking: () => void;
  private fits = 0; // how often F was pressed for this selection
  private linkTimer = 0;
  private isStopped = false;
  private asking: AbortController | null = null;
  private searching: AbortController | null = null;

  constructor(readonly run: Run, readonly timeline: Timeline, readonly source: DataSource) {
    this.layout = computed(() => layOut(timeline, { pinned: this.pinned.value, closed: this.closed.value, opened: this.opened.value, hidden: this.hidden.value }));
    this.store = new Store(source, run.run, timeline, () => { this.news.value++; });
    this.motion = new Motion(this.span, (span) => bounded(span, timeline.end), () => {
      this.news.value++; // a last frame, as sharp as can be
      this.keepLink();
    });
    this.readLink();
    this.stopAsking = askWhatIsShown(this);
  }

  /** Takes the view from the address. */
  readLink() {
    const { timeline } = this;
    const known = (keys: string[], what: string, is: (key: string) => boolean) => keys.filter((key) => {
      if (!is(key)) ignored.value = [...ignored.peek(), `${what} ${key}, which is not in this run`];
      return is(key);
    });
    const isLane = (key: string) => [...timeline.lanes, ...timeline.counters].some((one) => one.key === key);
    this.pinned.value = known(parseList(param('pin')), 'lane', isLane);
    this.opened.value = known(parseList(param('open')), 'lane', isLane);
    this.hidden.value = known(parseList(param('hide')), 'lane', isLane);
    const ranks = [...new Set(timeline.lanes.map((lane) => lane.rank))];
    this.closed.value = param('closed') === undefined ? ranks.slice(OPEN_RANKS).map(groupKey) : param('closed') === 'none' ? [] : known(parseList(param('closed')), 'rank', (key) => timeline.lanes.some((lane) => groupKey(lane.rank) === key));
    this.arrows.value = param('flow') !== 'none';
    this.pathOf.value = param('path') ?? '';
    this.idleShown.value = param('idle') !== undefined;
    this.marks.value = (param('marks') ?? '').split(';').flatMap((one) => {
      const span = parseSpan(one);
      return span === null ? [] : [{ span, kept: true }];
    });
    const rank = param('rank');
    const steps = rank === undefined ? stepsOf(timeline) : timeline.steps.filter((one) => String(one.rank) === rank);
    const step = steps.find((one) => String(one.number) === param('step'));
    if (rank !== undefined) this.closed.value = this.closed.peek().filter((key) => key !== groupKey(Number(rank)));
    this.span.value = bounded(parseSpan(param('t')) ?? (step ? widened({ from: step.start, to: step.end }, 0.05) : { from: 0, to: timeline.end }), timeline.end);
    this.readAreas();
    this.showMoment();
    const event = /^r(\d+)\.(\d+)$/.exec(param('sel') ?? '');
    if (event === null) this.selected.value = this.details.value = null;
    else void this.selectById(Number(event[1]), Number(event[2]), { show: param('t') === undefined });
    if ((param('q') ?? '') !== this.query.peek()) this.find(param('q') ?? '');
  }
  private readAreas() {
    this.area.value = this.areaNamed(param('area'));
    this.other.value = this.area.peek() && this.areaNamed(param('area2'));
    if (this.area.peek() !== null) this.tab.value = 'area';
  }
  private areaNamed(words: string | undefined): Area | null {
    const [from, to, ...keys] = parseList(words);
    const span = parseSpan(`${from},${to}`);
    return span && this.trimmed({ span, lanes: new Set(this.timeline.lanes.filter((lane) => keys.length === 0 || keys.includes(lane.key)).map((lane) => lane.lane)) });
  }
  /** Selects a moment that a finding or a row of a table leads to, on the lanes of its rank. */
  private showMoment() {
    const moment = parseMoment(param('at'));
    if (moment === null) return;
    const clock = this.timeline.ranks.find((one) => moment.rank === null || one.rank === moment.rank);
    if (clock === undefined) return void (ignored.value = [...ignored.peek(), `rank ${moment.rank}, which is not in this run`]);
    const from = clock.begin + Math.round(moment.start * clock.rate);
    const span = { from, to: from + Math.max(1, Math.round(moment.length * clock.rate)) };
    this.span.value = bounded(widened(span, AROUND_MOMENT), this.timeline.end);
    this.area.value = { span, lanes: new Set(this.timeline.lanes.filter((lane) => lane.rank === clock.rank).map((lane) => lane.lane)) };
    this.tab.value = 'area';
    this.closed.value = this.closed.peek().filter((key) => key !== groupKey(clock.rank));
    const top = entryOf(this.layout.peek(), this.timeline.lanes.find((lane) => lane.rank === clock.rank)!);
    if (top !== undefined && !isPinned(this.layout.peek(), top)) this.scrollTo(top.y - ROW);
    this.keepLink();
  }

  /** Writes the view into the address, once it is still. */
  keepLink(how: 'push' | 'replace' = 'replace') {
    clearTimeout(this.linkTimer);
    if (this.isStopped) return; // an answer came late
    const write = () => {
      const { selected, area, other, timeline } = this;
      const span = this.motion.target;
      const whole = span.from <= 0 && span.to >= timeline.end;
      const place = selected.peek();
      change({
        t: whole ? undefined : formatSpan(span.from, span.to), step: undefined, rank: undefined, at: undefined,
        sel: place === null ? undefined : `r${place.rank}.${place.id}`,
        area: areaInLink(timeline, area.peek()), area2: areaInLink(timeline, other.peek()),
        pin: this.pinned.peek().join(','), closed: this.closed.peek().join(',') || (ranksOf(timeline) > OPEN_RANKS ? 'none' : undefined), open: this.opened.peek().join(','), hide: this.hidden.peek().join(','),
        flow: this.arrows.peek() ? undefined : 'none', path: this.pathOf.peek(), idle: this.idleShown.peek() ? 'causes' : undefined, q: this.query.peek(),
        marks: this.marks.peek().filter((mark) => mark.kept).map((mark) => formatSpan(mark.span.from, mark.span.to)).join(';'),
      }, how);
    };
    if (how === 'push') write();
    else this.linkTimer = window.setTimeout(write, LINK_AFTER_MS);
  }

  stop() {
    this.isStopped = true;
    clearTimeout(this.linkTimer);
    this.motion.stop();
    this.store.stop();
    this.stopAsking();
    this.asking?.abort();
    this.searching?.abort();
  }

  // Selection

  selectBox(box: Box) {
    if (box.count > 1) said.value = `${formatValue(box.count, 'count')} events. Zoom in to tell them apart; the longest is selected.`;
    void this.select(placeOf(box));
  }
  async selectById(rank: number, id: number, how: { show: boolean }) {
    await this.ask(rank, id, (place) => {
      this.selected.value = place;
      if (place !== null) this.reveal(place, how.show);
    });
  }
  /** Selects a linked event, even one that no row had room for. */
  follow(link: Drawn) {
    const place = placeIn(link);
    return place === null ? this.selectById(link.rank, link.id, { show: false }) : this.select(place, { show: true });
  }
  async select(place: Place, how: { show: boolean } = { show: false }) {
    this.fits = 0;
    this.selected.value = place;
    this.tab.value = 'event';
    if (how.show) this.reveal(place);
    this.keepLink('push');
    await this.ask(place.rank, place.id, (exact) => { this.selected.value = exact; });
  }
  private async ask(rank: number, id: number, use: (place: Place | null) => void) {
    this.asking?.abort();
    const asking = this.asking = new AbortController();
    this.details.value = null;
    this.detailsError.value = null;
    try {
      const details = await this.source.event(this.run.run, rank, id, asking.signal);
      use(placeIn(details));
      this.details.value = details;
      this.tab.value ??= 'event';
      said.value = '';
      this.announced.value = this.wordsOf(details);
    } catch (error) {
      if (asking.signal.aborted) return;
      this.detailsError.value = error as Error;
      this.tab.value = 'event';
    }
  }
  /** What a screen reader says about the selection. */
  readonly announced = signal('');
  private wordsOf(details: EventDetails): string {
    const lane = this.timeline.lanes[details.lane ?? -1];
    return `${details.name}, ${formatValue(details.end - details.start, 'ns')}, at ${formatValue(details.start, 'ns')}, `
      + `${lane?.title ?? 'unknown lane'}, rank ${details.rank}`;
  }
  deselect() {
    this.asking?.abort();
    this.selected.value = null;
    this.details.value = null;
    this.area.value = this.other.value = null;
    if (this.tab.peek() === 'event' || this.tab.peek() === 'area') this.tab.value = null;
    this.keepLink('push');
  }

  selectArea(area: Area, other: Area | null = null) {
    this.area.value = this.trimmed(area);
    this.other.value = other;
    this.comparing.value = false;
    this.tab.value = 'area';
    this.announced.value = other === null ? areaWords(this.timeline, this.area.peek()!) : this.comparison();
    this.keepLink('push');
  }
  /** Compares the selected area with another one; without a selected one, selects it. */
  compare(other: Area | null) {
    const area = this.area.peek();
    if (area !== null) this.selectArea(area, other && this.trimmed(other));
    else if (other !== null) this.selectArea(other);
  }
  private comparison = () => `Area A, old: ${areaWords(this.timeline, this.area.peek()!)}. Area B, new: ${areaWords(this.timeline, this.other.peek()!)}.`;
  /** In whole ns of the run, on as many lanes as a question may have. */
  private trimmed({ span, lanes }: Area): Area {
    const first = [...lanes].sort((a, b) => a - b).slice(0, MAX_AREA_LANES);
    if (first.length < lanes.size) said.value = `The area has the first ${MAX_AREA_LANES} of ${formatValue(lanes.size, 'count')} lanes.`;
    return { span: { from: Math.max(0, Math.round(span.from)), to: Math.min(this.timeline.end, Math.round(span.to)) }, lanes: new Set(first) };
  }
  askArea(area: Area) {
    const { span, lanes } = this.trimmed(area);
    return this.source.area(this.run.run, span.from, span.to, [...lanes]);
  }
  // Moving

  /** Brings an event into view: its lane, and its time if it is outside and `inTime`. */
  reveal(place: Place, inTime = true) {
    const lane = this.timeline.lanes[place.lane];
    if (lane === undefined) return;
    if (this.hidden.peek().includes(lane.key)) this.showHidden((key) => key === lane.key);
    if (this.closed.peek().includes(groupKey(lane.rank))) this.closed.value = this.closed.peek().filter((key) => key !== groupKey(lane.rank));
    if (place.row >= ((entry) => (entry?.kind === 'lane' ? entry.rows : 0))(entryOf(this.layout.peek(), lane))) this.openLane(lane.key, true);
    const entry = entryOf(this.layout.peek(), lane);
    if (entry !== undefined && !isPinned(this.layout.peek(), entry)) this.scrollInto(entry.y + place.row * ROW, ROW * 2);
    if (!inTime) return;
    const span = this.motion.target;
    const middle = (place.start + place.end) / 2;
    if (place.end < span.from || place.start > span.to || place.end - place.start > lengthOf(span)) {
      const event = widened({ from: place.start, to: place.end }, AROUND);
      this.motion.go(lengthOf(event) > lengthOf(span) ? event : moved(span, middle - (span.from + span.to) / 2));
    } else if (place.end - place.start < lengthOf(span) / 400) {
      this.motion.go({ from: middle - lengthOf(span) / 40, to: middle + lengthOf(span) / 40 });
    }
  }
  scrollTo(y: number) {
    const { pinnedHeight, height } = this.layout.peek();
    const room = this.size.peek().height - pinnedHeight;
    this.scroll.value = Math.max(0, Math.min(y, height - room));
  }
  private scrollInto(y: number, height: number) {
    const room = this.size.peek().height - this.layout.peek().pinnedHeight;
    const now = this.scroll.peek();
    if (y < now + ROW) this.scrollTo(y - ROW * 2);
    else if (y + height > now + room) this.scrollTo(y + height - room + ROW * 2);
  }

  /** F: the selection, then its step, then the whole run. */
  fit() {
    const place = this.selected.peek();
    const area = this.area.peek();
    if (place !== null) this.reveal(place, false);
    const inner = area !== null ? area.span : place === null ? null : { from: place.start, to: place.end };
    const step = inner === null ? undefined : stepsOf(this.timeline).find((one) => one.start <= inner.from && inner.from < one.end);
    const ways = [inner && widened(inner, 0.1), step && widened({ from: step.start, to: step.end }, 0.02), this.whole].filter((span) => !!span);
    this.motion.go(ways[this.fits++ % ways.length] ?? this.whole);
  }
  get whole(): Span { return { from: 0, to: this.timeline.end }; }

  // What analyses found

  /** The path of the step in view, of the selection's rank; again: none. */
  togglePath() {
    const place = this.selected.peek();
    const rank = place?.rank ?? this.timeline.lanes[0]!.rank;
    const { from, to } = this.motion.target;
    const time = place?.start ?? (from + to) / 2;
    const steps = this.timeline.steps.filter((one) => one.rank === rank);
    const step = steps.filter((one) => one.start <= time).at(-1) ?? steps[0];
    const target = step === undefined ? `r${rank}` : `r${rank}.${step.number}`;
    this.pathOf.value = this.pathOf.peek() === target ? '' : target;
    this.keepLink('push');
  }
  /** Scrolls to the lane of the longest part of the path in view. */
  showPath() {
    const { from, to } = this.motion.target;
    const [longest] = this.path.peek()!.parts.filter((part) => part.lane !== null && part.end > from && part.start < to).sort((a, b) => b.time - a.time);
    if (longest !== undefined) this.reveal({ ...longest, start: from, end: to } as Place & typeof longest);
  }
  toggleIdle() {
    this.idleShown.value = !this.idleShown.peek();
    this.keepLink('push');
  }
  /** Selects what the host did while a device was idle. */
  selectCause(part: IdlePart) {
    const { rank } = this.idle.peek()!.devices[part.device]!;
    if (part.host === null) said.value = 'Nothing is recorded that this stretch waited for.';
    else void this.selectById(rank, part.host, { show: true }).then(() => this.keepLink('push'));
  }

  // Lanes

  togglePin(key: string) {
    const pinned = this.pinned.peek();
    this.pinned.value = pinned.includes(key) ? pinned.filter((one) => one !== key) : [...pinned, key];
    this.keepLink();
  }
  hide(key: string) {
    this.hidden.value = [...this.hidden.peek(), key];
    said.value = 'The lane is hidden. Shift H shows hidden lanes.';
    this.scrollTo(this.scroll.peek());
    this.keepLink();
  }
  showHidden(which: (key: string) => boolean) {
    this.hidden.value = this.hidden.peek().filter((key) => !which(key));
    this.keepLink();
  }
  toggleGroup(key: string) {
    const closed = this.closed.peek();
    this.closed.value = closed.includes(key) ? closed.filter((one) => one !== key) : [...closed, key];
    this.scrollTo(this.scroll.peek());
    this.keepLink();
  }
  openLane(key: string, open: boolean) {
    this.opened.value = open ? [...this.opened.peek(), key] : this.opened.peek().filter((one) => one !== key);
    this.scrollTo(this.scroll.peek());
    this.keepLink();
  }

  // Search

  find(text: string) {
    this.searching?.abort();
    this.query.value = text;
    this.keepLink();
    if (text.trim() === '' || parseMarkedTime(text) !== null) {
      this.search.value = null;
      if (this.tab.peek() === 'search') this.tab.value = null;
      return;
    }
    const searching = this.searching = new AbortController();
    this.tab.value = 'search';
    this.source.search(this.run.run, text, undefined, searching.signal).then(
      (found) => {
        this.search.value = found;
        this.announced.value = `${formatValue(found.total, 'count')} events match ${text}`;
      },
      (error: Error) => { if (!searching.signal.aborted) this.detailsError.value = error; });
  }
  async nextHit(by: 1 | -1) {
    const text = this.query.peek();
    if (text.trim() === '') return;
    const time = parseMarkedTime(text);
    if (time !== null) return goToTime(this, time);
    const place = this.selected.peek();
    const span = this.motion.target;
    const from = place !== null ? place.start : Math.round(by > 0 ? span.from : span.to);
    const { lane, row } = place ?? { lane: 0, row: 0 };
    const found = await this.source.search(this.run.run, text, by > 0 ? { after: from, lane, row } : { before: from, lane, row }).catch(() => null);
    if (found?.hit) await this.select(found.hit, { show: true });
    else said.value = by > 0 ? 'No hit behind this one.' : 'No hit before this one.';
  }
}
