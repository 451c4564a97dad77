// Below the lanes: the selected event, the selected area, what a search found, or what is in view as a table.
import { signal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { EventDetails, Frame, Link, Table } from '../data/types.ts';
import { copyText, hrefTo } from '../state/app.ts';
import { Failure } from '../shell/answer.tsx';
import { Place } from '../shell/place.tsx';
import { Splitter } from '../shell/splitter.tsx';
import { TableCard } from '../table/card.tsx';
import { formatExact, formatValue } from '../words/units.ts';
import { AreaTab } from './area.tsx';
import type { Canvas } from './canvas.ts';
import { counterOf, reading, readingWords } from './counters.ts';
import { isOnPath } from './drawn.ts';
import type { Model, Tab } from './model.ts';
import { sceneOf } from './scene.ts';

const TABS: readonly { tab: Tab; name: string }[] = [
  { tab: 'event', name: 'Event' }, { tab: 'area', name: 'Area' }, { tab: 'search', name: 'Search' }, { tab: 'table', name: 'In view' },
];

const height = signal(264);

export function Drawer({ model, canvas }: { model: Model; canvas: Canvas | null }) {
  const tab = model.tab.value;
  if (tab === null) return null;
  return (
    <section class="drawer" aria-label="Details" style={{ height: `${height.value}px` }}>
      <Splitter size={height} least={120} most={600} side="bottom" label="Height of the details" />
      <header>
        <div role="tablist" aria-label="Details">
          {TABS.map((one) => (
            <button key={one.tab} type="button" role="tab" aria-selected={one.tab === tab} onClick={() => { model.tab.value = one.tab; }}>{one.name}</button>
          ))}
        </div>
        <span class="grow" />
        <button type="button" class="close" title="Close (Q)" onClick={() => { model.tab.value = null; }}>Close</button>
      </header>
      <div class="drawer-body" tabIndex={0} role="tabpanel" aria-label={TABS.find((one) => one.tab === tab)!.name}>
        {tab === 'event' && <EventTab model={model} />}
        {tab === 'area' && <AreaTab model={model} />}
        {tab === 'search' && <SearchTab model={model} />}
        {tab === 'table' && <TwinTab model={model} canvas={canvas} />}
      </div>
    </section>
  );
}

function EventTab({ model }: { model: Model }) {
  const error = model.detailsError.value;
  const details = model.details.value;
  const place = model.selected.value;
  if (error !== null) return <Failure error={error} {...(place !== null && { again: () => void model.select(place) })} />;
  if (place === null && details === null) return <p class="empty">Click an event, or press → to walk along a row.</p>;
  if (details === null) return <p class="waiting">Reading the event …</p>;
  const lane = model.timeline.lanes[details.lane ?? -1];
  const facts: [string, string, string?][] = [
    ['Duration', formatValue(details.end - details.start, 'ns'), formatExact(details.end - details.start, 'ns')],
    ['Start', formatValue(details.start, 'ns'), formatExact(details.start, 'ns')],
    ['Lane', lane?.title ?? 'not drawn: its lane has too many rows'], ['Rank', String(details.rank)],
    ['Step', details.step === null ? 'outside of steps' : String(details.step)], ['Kind', details.kind], ['Id', String(details.id)],
  ];
  return (
    <div class="event">
      <div class="event-head">
        <h2>{details.name}</h2>
        <a href={hrefTo('timeline', { q: details.name })} onClick={(event) => { event.preventDefault(); model.find(details.name); }}>Find all of this name</a>
        <button type="button" onClick={() => copyText(details.name, 'The name is copied.')}>Copy name</button>
        <button type="button" onClick={() => model.fit()}>Fit (F)</button>
      </div>
      {details.lacks !== undefined && <p class="faint">{details.lacks}</p>}
      <div class="event-columns">
        <dl class="facts-list">
          {facts.map(([name, words, exact]) => <div key={name}><dt>{name}</dt><dd title={exact}>{words}</dd></div>)}
        </dl>
        <Links model={model} details={details} />
        <Stack frames={details.stack} />
        <Args args={details.args} />
      </div>
    </div>
  );
}

/** How far the linked event is from this one, as a reader says it. */
function apart(link: Link, from: EventDetails): string {
  if (link.start >= from.start && link.end <= from.end) return `starts ${formatValue(link.start - from.start, 'ns')} into it`;
  const by = link.start - from.start;
  return `starts ${formatValue(Math.abs(by), 'ns')} ${by < 0 ? 'earlier' : 'later'}`;
}

function Links({ model, details }: { model: Model; details: EventDetails }) {
  if (details.links.length === 0) return null;
  return (
    <section>
      <h3>Links</h3>
      <ul class="links">
        {details.links.map((link) => (
          <li key={`${link.what}${link.rank}.${link.id}`}>
            <span class="faint">{link.what}</span>{' '}
            <button type="button" class="link" title={link.name} onClick={() => void model.follow(link)}>{link.name}</button>
            <span class="faint">{formatValue(link.end - link.start, 'ns')}, {apart(link, details)}</span>
          </li>
        ))}
      </ul>
      {details.more_links ? <p class="faint">{formatValue(details.more_links, 'count')} more</p> : null}
    </section>
  );
}

function Stack({ frames }: { frames: EventDetails['stack'] }) {
  if (frames.length === 0) return null;
  return (
    <section>
      <h3>Stack, innermost first</h3>
      <ol class="frames">
        {frames.map((frame: Frame, i) => (
          <li key={i}>{frame.name} {frame.file !== null && <Place file={frame.file} line={frame.line ?? 0} />}</li>
        ))}
      </ol>
    </section>
  );
}

const worded = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));

function Args({ args }: { args: EventDetails['args'] }) {
  if (args.length === 0) return null;
  return (
    <section>
      <h3>Args</h3>
      <dl class="args">{args.map(([name, value], i) => <div key={i}><dt>{name}</dt><dd>{worded(value)}</dd></div>)}</dl>
    </section>
  );
}

function SearchTab({ model }: { model: Model }) {
  const search = model.search.value;
  const table = useMemo((): Table | null => search === null ? null : {
    title: 'Names found', shape: 'table',
    columns: [{ name: 'name', unit: '', role: 'key' }, { name: 'count', unit: 'count', role: 'value' }, { name: 'time', unit: 'ns', role: 'value' }],
    rows: search.names.map((name) => [name.name, name.count, name.time]),
  }, [search]);
  if (search === null || table === null) return <p class="empty">Type in the search field (/) to find names.</p>;
  if (search.total === 0) return <p class="empty">No event's name contains “{model.query.value}”.</p>;
  return (
    <div class="stack">
      <p class="search-sum">
        <b>{formatValue(search.total, 'count')}</b> events
        <button type="button" onClick={() => void model.nextHit(-1)}>Previous</button>
        <button type="button" onClick={() => void model.nextHit(1)}>Next</button>
      </p>
      <TableCard table={table} maxRows={8} onRow={(row) => model.find(String(row[0]))} />
      {search.more_names ? <p class="faint">{formatValue(search.more_names, 'count')} more names</p> : null}
    </div>
  );
}

const MOST_ROWS = 5000;

/** The canvas as a table, for those who cannot see it. */
function TwinTab({ model, canvas }: { model: Model; canvas: Canvas | null }) {
  const span = model.span.value;
  const news = model.news.value;
  const layout = model.layout.value;
  const path = model.path.value;
  const lines = useMemo(() => (canvas === null ? [] : sceneOf(layout, canvas.frameNow(), model.store).lines), [span, news, canvas, layout, model.scroll.value, model.size.value]);
  const table = useMemo((): Table => {
    const boxes = lines.flatMap((line) => line.boxes.flat()).slice(0, MOST_ROWS);
    return {
      title: 'What is in view', shape: 'table',
      columns: [
        { name: 'name', unit: '', role: 'key' }, { name: 'rank', unit: '', role: 'key' }, { name: 'lane', unit: '', role: 'key' },
        { name: 'row', unit: '', role: 'value' }, { name: 'start', unit: 'ns', role: 'value' }, { name: 'length', unit: 'ns', role: 'value' }, { name: 'events', unit: 'count', role: 'value' },
        ...(path ? [{ name: 'critical path', unit: '', role: 'value' } as const] : [])],
      rows: boxes.map((box) => [
        model.store.name(box.name) ?? '', box.lane.rank, box.lane.title, box.row + 1, Math.round(box.start), Math.round(box.end - box.start), box.count,
        ...(path ? [isOnPath(path, box.lane.lane, box.row, box) ? 'on it' : ''] : [])]),
    };
  }, [lines, path]);
  const counters = useMemo((): Table => {
    const entries = lines.map(({ entry }) => counterOf(entry)).filter((one) => one !== undefined);
    return {
      title: 'Counters in view', shape: 'table',
      columns: [{ name: 'counter', unit: '', role: 'key' }, { name: 'rank', unit: '', role: 'key' }, { name: 'lowest to highest', unit: '', role: 'value' }],
      rows: entries.map((counter) => {
        const found = reading(counter, canvas!.frameNow(), model.store, span.from, span.to);
        return [counter.name, counter.rank, found ? readingWords(found) : 'no value'];
      }),
    };
  }, [lines]);
  return (
    <div class="stack">
      <p class="faint">Times are as exact as this zoom shows them. Zoom in for exact times. What is folded, hidden or scrolled out of view is not counted here.</p>
      <TableCard table={table} maxRows={8} />
      {counters.rows.length > 0 && <TableCard table={counters} maxRows={8} />}
    </div>
  );
}
