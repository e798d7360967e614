// The search: names by regular expression or plain text, ignoring case unless a capital letter is typed. Every view marks matches, and
// their weight is next to the field.

import { type JSX, createContext } from 'preact';
import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import type { AnswerOf } from '../host/protocol.ts';
import { withOperation } from './actions.ts';
import { useAnswer, useApp, useStore } from './app_context.ts';
import { type Unit, counted, percent, withUnit } from './format.ts';
import { MenuButton } from './menu_box.tsx';
import { sentence } from './panel.tsx';

export interface Search {
  /** By function: 1 if its name matches; null without a search. */
  readonly matches: Uint8Array | null;
  readonly answer: AnswerOf<'search'> | null;
  readonly unit: Unit;
  readonly fault: string | null;
}

const NONE: Search = { matches: null, answer: null, unit: 'samples', fault: null };
export const SearchContext = createContext<Search>(NONE);

export function useSearch(): Search {
  return useContext(SearchContext);
}

/** Returns which rows of a table match by their functions; null without a search. */
export function matchOf({ matches }: Search, labelOf: (row: number) => number): ((row: number) => boolean) | null {
  return matches === null ? null : (row) => matches[labelOf(row)] === 1;
}

/**
 * Returns which texts contain the search; null without a search. Only the engine reads regular expressions, and only for functions: the search
 * for everything else is plain text, with the same smart case.
 */
export function matchOfText(search: string): ((text: string) => boolean) | null {
  if (search === '') return null;
  const folded = (text: string): string => (/\p{Lu}/u.test(search) ? text : text.toLowerCase());
  return (text) => folded(text).includes(folded(search));
}

/** Requests the matches of the state's search. */
export function useSearchAnswer(): Search {
  const { search } = useStore();
  const { answer, unit, isOld, fault } = useAnswer('search', search === '' ? null : { kind: 'search', text: search });
  if (search === '') return NONE;
  return { matches: fault === null ? (answer?.matches ?? null) : null, answer: isOld ? null : answer, unit, fault };
}

const PAUSE_MS = 150;

export function SearchBox(): JSX.Element {
  const app = useApp();
  const state = useStore();
  const search = useSearch();
  const [typed, setTyped] = useState(state.search);
  const timer = useRef(0);
  const sent = useRef(state.search);
  // Text from elsewhere, such as a link. Text that the field itself sent may come back after the user has typed more, and must not replace the newer text.
  useEffect(() => {
    if (state.search === sent.current) return;
    sent.current = state.search;
    clearTimeout(timer.current);
    setTyped(state.search);
  }, [state.search]);
  const seek = useSeek();
  const apply = useApply();
  const send = (text: string): void => {
    clearTimeout(timer.current);
    sent.current = text;
    if (text === app.store.state.search) return;
    app.store.set({ search: text });
    seek(text, 1, true);
  };
  const type = (text: string): void => {
    setTyped(text);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => send(text), PAUSE_MS);
  };
  return (
    <div class="search" role="search">
      <input
        id="search"
        type="search"
        placeholder="Search"
        aria-label="Search functions by name or regular expression, and other names by text"
        title="A regular expression if one matches, otherwise plain text. In any case, unless a capital letter is typed; (?-i) at the start tells small letters from capital ones"
        aria-describedby="search-result"
        aria-invalid={search.fault !== null}
        spellcheck={false}
        autocomplete="off"
        value={typed}
        onInput={(event) => type(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') type('');
          if (event.key !== 'Enter' || event.isComposing || typed === '') return;
          send(typed);
          if (event.ctrlKey || event.metaKey) apply?.('focus');
          else seek(typed, event.shiftKey ? -1 : 1, false);
        }}
      />
      <span id="search-result" class={search.fault === null ? 'note' : 'fault'} aria-live="polite">
        <Result />
      </span>
      <ApplySearch />
    </div>
  );
}

/** Goes to a match as soon as the matches are known. */
function useSeek(): (text: string, step: 1 | -1, isTyping: boolean) => void {
  const { seen, say } = useApp();
  const { answer, fault, matches } = useSearch();
  const { search } = useStore();
  const [wanted, want] = useState<{ readonly text: string; readonly step: 1 | -1; readonly isTyping: boolean } | null>(null);
  const last = useRef('');
  useEffect(() => {
    if (wanted === null) return;
    const isKnown = wanted.text === search && (answer !== null || fault !== null);
    if (wanted.text === search && !isKnown) return;
    want(null);
    if (!isKnown) return;
    // A new search starts at the heaviest match.
    const isNew = last.current !== search;
    if (!wanted.isTyping) last.current = search;
    const how = [wanted.step, isNew || wanted.isTyping, wanted.isTyping] as const;
    const isFound = seen.seek(...how) || seen.seekName(matches, matchOfText(search), ...how);
    if (!isFound && !wanted.isTyping && answer !== null && answer.functions > 0) say('Nothing here matches. In the call tree, you can go from match to match.');
  }, [wanted, search, answer, fault]);
  return (text, step, isTyping) => want({ text, step, isTyping });
}

const APPLIED = [
  { kind: 'focus', name: 'Keep samples with a match' },
  { kind: 'root-at', name: 'Focus on matches' },
  { kind: 'prune', name: 'Drop samples with a match' },
  { kind: 'charge', name: 'Merge matches into callers' },
  { kind: 'collapse', name: 'Collapse matches' },
  { kind: 'focus-leaves', name: 'Keep samples that end in a match' },
  { kind: 'prune-leaves', name: 'Drop samples that end in a match' },
] as const;

/** Makes the search an operation, which is case-sensitive, as in the command; null without a match. */
function useApply(): ((kind: (typeof APPLIED)[number]['kind']) => void) | null {
  const { store } = useApp();
  const state = useStore();
  const { answer, fault } = useSearch();
  if (state.search === '' || fault !== null || answer === null || answer.functions === 0) return null;
  return (kind) => store.set({ ...withOperation(state, { kind, pattern: answer.pattern }), search: '' });
}

function ApplySearch(): JSX.Element | null {
  const apply = useApply();
  if (apply === null) return null;
  return (
    <MenuButton
      part="apply-search"
      name="Use as filter"
      title="Apply an operation to the matches"
      groups={() => [APPLIED.map(({ kind, name }) => ({ id: kind, name, run: () => apply(kind) }))]}
    />
  );
}

function Result(): JSX.Element | null {
  const { seen } = useApp();
  const { search, tab } = useStore();
  const { answer, unit, fault } = useSearch();
  const [place, setPlace] = useState('');
  useEffect(() => {
    setPlace('');
    seen.forgetName();
  }, [search, tab]);
  useEffect(() => void (seen.onPlace = setPlace), [seen]);
  const found = place !== '' && <span data-part="match-place">{place}</span>;
  if (fault !== null) return <>{found || sentence(fault)}</>;
  if (answer === null) return null;
  if (answer.functions === 0) return <>{found || 'No function matches.'}</>;
  const { all, total, before } = answer;
  const [functions, plain] = [counted(answer.functions, 'function'), answer.isPlain ? ', as plain text' : ''];
  const share = (one: { readonly all: typeof all; readonly total: typeof total }): string => percent(one.all.weight, one.total.weight);
  const weight = (one: typeof all): string => `(${withUnit(one.weight, unit).replace(' ', '\u00a0')})`;
  const [count, rest] =
    before === undefined
      ? [`${functions}, ${share(answer)}`, ` ${weight(all)}${plain}`]
      : [functions, `, ${share(before)} ${weight(before.all)} before, ${share(answer)} ${weight(all)} after${plain}`];
  // The rest is cut off if there is little space.
  return (
    <span title={count + rest}>
      <span class="count">
        {count}
        {found && ' · '}
        {found}
      </span>
      {rest}
    </span>
  );
}
