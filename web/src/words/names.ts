// Names from recordings, shortened for places where the whole does not fit.

const PAIRS: Record<string, string> = { '<': '>', '(': ')' };

/** Leaves out what stands in brackets, nested ones too; "operator<" and "->" are not brackets. */
function withoutBrackets(name: string): string {
  let out = '';
  const open: string[] = [];
  for (let i = 0; i < name.length; ++i) {
    const letter = name[i]!;
    const closing = PAIRS[letter];
    if (closing !== undefined) open.push(closing);
    else if (letter === open.at(-1)) open.pop();
    else if (open.length === 0) out += letter;
  }
  return open.length === 0 ? out : name;
}

const IS_CPP = /^void |^\w+::|^\w+\(.*\)$/;

/** "void at::native::(anonymous namespace)::indexSelect<int, 2>(int*)" → "at::native::indexSelect". */
export function shortName(name: string): string {
  if (!IS_CPP.test(name) || !/[<(]/.test(name)) return name;
  const plain = withoutBrackets(name.replaceAll('(anonymous namespace)::', '').replaceAll('->', '→'))
    .replaceAll('→', '->').replace(/^void /, '').trim();
  return plain === '' ? name : plain;
}

const IN_FOLDERS = /^.*\/([^/]+\(\d+\): .*)$/;

/** "a/long/way/to/train.py(41): step" → "…/train.py(41): step": the end says more than the begin. Shorter ones stay. */
export function shortPlace(name: string, most: number): string {
  const base = name.length > most ? IN_FOLDERS.exec(name)?.[1] : undefined;
  return base === undefined ? name : `…/${base}`;
}

/** Short names where they differ; names that would read the same keep what tells them apart. */
export function shortNames(names: readonly string[]): (name: string) => string {
  const whole = new Map<string, string>();
  const alike = new Set<string>();
  for (const name of names) {
    const short = shortName(name);
    if (whole.has(short) && whole.get(short) !== name) alike.add(short);
    whole.set(short, name);
  }
  return (name) => {
    const short = shortName(name);
    return alike.has(short) ? name.replace(/^void /, '').replaceAll('(anonymous namespace)::', '').replaceAll('at::native::', '') : short;
  };
}

/** A name of a run without the endings of its file, its middle left out where it is long: what tells runs apart stands at the ends. */
export function shortRun(name: string, most: number): string {
  const bare = name.replace(/(\.pt\.trace)?\.json(\.gz)?$/, '');
  const end = Math.ceil((most - 1) * 0.6);
  return bare.length <= most ? bare : `${bare.slice(0, most - 1 - end)}…${bare.slice(-end)}`;
}
