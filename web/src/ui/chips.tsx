// The selections and operations, each with its effect and a button to remove it.

import type { JSX } from 'preact';
import type { AnswerOf, Effect, Operation, TreePlace } from '../host/protocol.ts';
import { counterOf, countersOf } from '../state/counters.ts';
import { processName, threadName } from '../state/names.ts';
import { type State, cleared } from '../state/state.ts';
import { type App, useAnswer, useApp, useStore } from './app_context.ts';
import { type Unit, percent, timeText, withUnit } from './format.ts';
import { counterName } from './counter_name.ts';

interface Chip {
  readonly id: string;
  readonly text: string;
  /** A longer text, shown if the pointer rests on the chip. */
  readonly title?: string;
  readonly effect?: string;
  readonly without: Partial<State>;
}

const NAMES: Record<Operation['kind'], string> = {
  'root-at-place': 'focus on subtree',
  'prune-place': 'drop subtree',
  'charge-place': 'merge into caller only at',
  'root-at': 'focus on',
  focus: 'keep samples with',
  'focus-leaves': 'keep samples that end in',
  prune: 'drop samples with',
  'prune-leaves': 'drop samples that end in',
  charge: 'merge into callers',
  collapse: 'collapse',
  'charge-binary': 'merge library',
  'flatten-binary': 'collapse library',
  binary: 'samples through',
  'leaf-binary': 'samples that end in',
  'charge-system': 'merge system code',
  'hide-system': 'hide system code',
  'flatten-recursion': 'collapse recursion',
  'skip-idle': 'skip waiting',
  invert: 'inverted',
};

export function Chips(): JSX.Element {
  const app = useApp();
  const state = useStore();
  const { answer, unit, isOld, fault } = useAnswer('totals', { kind: 'totals' });
  // The old answer would show effects of other operations.
  const known = isOld ? [] : [answer?.before, answer].filter((one) => one !== undefined && one !== null);
  const chips = [...selectionChips(app, state), ...operationChips(state, known.map(({ effects }) => effects), unit)];
  const left = leftText(answer, unit);
  return (
    <>
      <p class="only-read" aria-live="polite">
        {isOld ? '' : [...chips.map(({ text }) => text), left || 'Everything is selected.'].join('; ')}
      </p>
      {chips.length > 0 && <ChipList chips={chips} fault={fault} left={left} isOld={isOld} />}
    </>
  );
}

/** The weight that selections and operations leave, for each recording. */
function leftText(answer: AnswerOf<'totals'> | null, unit: Unit): string {
  if (answer === null) return '';
  const of = ({ total, whole }: Pick<AnswerOf<'totals'>, 'total' | 'whole'>): string =>
    total.weight === whole.weight ? '' : `${withUnit(total.weight, unit)} left, ${percent(total.weight, whole.weight)} of ${withUnit(whole.weight, unit)}`;
  if (answer.before === undefined) return of(answer);
  const [before, after] = [of(answer.before), of(answer)];
  return before === '' && after === '' ? '' : `before: ${before || 'all'}; after: ${after || 'all'}`;
}

function ChipList(props: { chips: readonly Chip[]; fault: string | null; left: string; isOld: boolean }): JSX.Element {
  const { chips, fault, left, isOld } = props;
  const app = useApp();
  const state = useStore();
  return (
    <section class="chips" aria-label="What is selected" data-part="chips">
      <ul>
        {chips.map((chip) => (
          <li key={chip.id} class="chip" data-chip={chip.id}>
            <span class="chip-text" title={chip.title ?? chip.text}>
              {chip.text}
            </span>
            {chip.effect !== undefined && <span class="chip-effect">{chip.effect}</span>}
            <button type="button" class="chip-remove" aria-label={`Remove: ${chip.text}`} onClick={() => app.store.set(chip.without)}>
              ×
            </button>
          </li>
        ))}
      </ul>
      <button type="button" data-part="clear" onClick={() => app.store.set(cleared(state))}>
        Clear all
      </button>
      {fault !== null && <span class="fault">{fault}</span>}
      {left !== '' && (
        <span class={`note${isOld ? ' is-old' : ''}`} data-part="left">
          {left}
        </span>
      )}
    </section>
  );
}

export function selectionChips({ names }: App, state: State): Chip[] {
  const chips: Chip[] = [];
  const { time, threads, processes, mainOnly, states, during, metric } = state;
  if (time !== null) {
    const text = `${timeText(time.start)} – ${timeText(time.end)}`;
    chips.push({ id: 'time', text, effect: timeText(time.end - time.start), without: { time: null } });
  }
  for (const id of processes ?? []) {
    chips.push({ id: `process-${id}`, text: processName(names, id), without: { processes: without(processes, id) } });
  }
  if ((threads?.length ?? 0) > 4) chips.push({ id: 'threads', text: `${threads!.length} threads`, without: { threads: null } });
  else {
    for (const id of threads ?? []) {
      chips.push({ id: `thread-${id}`, text: threadName(names, id), without: { threads: without(threads, id) } });
    }
  }
  if (mainOnly) chips.push({ id: 'main', text: 'only main threads', without: { mainOnly: false } });
  if (states !== 'running') {
    const text = states === 'all' ? 'all thread states' : `state ${states.join(', ')}`;
    chips.push({ id: 'states', text, without: { states: 'running' } });
  }
  if (during !== null) {
    const text = `during ${[...during.names, ...(during.hangs ? ['hangs'] : [])].join(during.needsAll ? ' and ' : ', ')}`;
    chips.push({ id: 'during', text, without: { during: null } });
  }
  const counter = counterOf(metric);
  if (counter !== null) {
    const named = countersOf(names.tables.series[state.series]!).find(({ number }) => number === counter);
    chips.push({ id: 'metric', text: `weighted by ${counterName(counter, named?.name ?? null)}`, without: { metric: 'weight' } });
  }
  if (metric === 'samples') chips.push({ id: 'metric', text: 'samples counted, not weighted', without: { metric: 'weight' } });
  return chips;
}

function without(list: readonly number[] | null, id: number): readonly number[] | null {
  const rest = (list ?? []).filter((one) => one !== id);
  return rest.length === 0 ? null : rest;
}

/** `sides` contains the effects in each displayed recording. */
function operationChips(state: State, sides: readonly (readonly Effect[])[], unit: Unit): Chip[] {
  return state.operations.map((operation, index) => {
    const texts = sides.flatMap((effects) => {
      const effect = effects[index];
      return effect === undefined ? [] : [effectText(effect, (weight) => withUnit(weight, unit))];
    });
    return {
      id: `op-${index}`,
      text: operationName(operation),
      title: wholeText(operation),
      ...(texts.length === 0 ? {} : { effect: texts.every((text) => text === texts[0]) ? `${texts[0]}${texts.length > 1 ? ' in each' : ''}` : `before ${texts[0]}; after ${texts[1]}` }),
      without: { operations: state.operations.filter((_, place) => place !== index) },
    };
  });
}

export function operationName(operation: Operation): string {
  const name = NAMES[operation.kind];
  if ('pattern' in operation) return `${name} ${plainName(operation.pattern)}`;
  if ('binary' in operation) return `${name} ${operation.binary}`;
  if ('names' in operation) return `${name} ${operation.names.join(', ')}`;
  if ('place' in operation) return `${name} ${placeName(operation.place)}`;
  return name;
}

/** Both ends of a path, with an arrow for its direction. */
function placeName({ direction, path }: TreePlace): string {
  const arrow = direction === 'down' ? '›' : '‹';
  const [first, last] = [path[0]!.name, path[path.length - 1]!.name];
  if (path.length === 1) return direction === 'down' ? last : `${arrow} ${last}`;
  return `${first} ${arrow} ${path.length > 2 ? `… ${arrow} ` : ''}${last}`;
}

/** The complete path of a place, one function per line. */
function wholeText(operation: Operation): string {
  if (!('place' in operation)) return operationName(operation);
  const { direction, path } = operation.place;
  const names = path.map(({ name, binary }) => (binary === null ? name : `${name} (${binary})`));
  return [`${NAMES[operation.kind]}, ${direction === 'down' ? 'top down' : 'bottom up'}:`, ...names].join('\n');
}

/** The name that a pattern matches exactly, or else the pattern. */
function plainName(pattern: string): string {
  const inner = /^\^(.*)\$$/s.exec(pattern)?.[1];
  const isLiteral = inner !== undefined && !/(^|[^\\])[.*+?()[\]{}|]/.test(inner) && !/\\[A-Za-z0-9]/.test(inner);
  return isLiteral ? inner.replace(/\\(.)/gs, '$1') : `/${pattern}/`;
}

function effectText(effect: Effect, text: (weight: Effect['removed']['weight']) => string): string {
  const said: string[] = [];
  if (Number(effect.removed.samples) > 0) said.push(`−${text(effect.removed.weight)}`);
  if (Number(effect.moved.samples) > 0) said.push(`${text(effect.moved.weight)} moved`);
  if (said.length === 0) said.push(Number(effect.changed_samples) > 0 ? 'stacks changed' : 'no effect');
  return said.join(', ');
}
