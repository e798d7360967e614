// The complete page.

import type { JSX } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Side } from '../host/protocol.ts';
import { namesOfSide, stateOnSide } from '../state/sides.ts';
import type { State } from '../state/state.ts';
import type { Store } from '../state/store.ts';
import { type App, AppContext, type Opener, type ReadingNotes, useApp, useStore } from './app_context.ts';
import { Busy } from './busy.tsx';
import { Timelines } from './diff/timelines.tsx';
import { ChosenBar } from './chosen.tsx';
import { Chips } from './chips.tsx';
import { KeysDialog, RecordingDialog } from './dialogs.tsx';
import { Filters } from './filters.tsx';
import { Header } from './header.tsx';
import { pressKey } from './keys.ts';
import { Menu, type OpenMenu } from './menu.tsx';
import type { MenuTarget } from './menu_target.ts';
import { Seen } from './seen.ts';
import type { Shown } from './shown.ts';
import { SearchContext, useSearchAnswer } from './search.tsx';
import { Tabs } from './tabs.tsx';
import { Timeline } from './timeline.tsx';
import { View } from './view.tsx';

export function Application(props: Shown & { opener?: Opener; notes?: ReadingNotes | null }): JSX.Element {
  const { client, store, address, greetings, opener = null, notes = null } = props;
  const side = useSide(store);
  const names = namesOfSide(props.names, side);
  const [menu, setMenu] = useState<OpenMenu | null>(null);
  const [dialog, setDialog] = useState<'keys' | 'recording' | null>(null);
  const [said, setSaid] = useState<Sentence>({ text: '' });
  const seen = useMemo(() => new Seen(), []);
  const app = useMemo((): App => {
    const say = (text: string): void => setSaid({ text });
    return {
      client,
      names,
      store,
      opener,
      notes,
      address,
      seen,
      say,
      change: (change, gesture) => store.set(change, gesture),
      showSide: (side, change = {}, chosen) => {
        if (names.sides === undefined) return;
        const { state } = store;
        const shown = stateOnSide(chosen === undefined ? state : { ...state, chosen }, names.sides, side);
        store.set({ ...shown.state, ...change });
        if (shown.lost.length > 0) say(`Not found in that recording: the selected ${shown.lost.join(' and ')}. All are shown.`);
      },
      openMenu: (target, x, y) => setMenu({ target, x, y }),
      ...aiming(store),
      openDialog: setDialog,
    };
  }, [client, names, store, seen, opener, notes]);
  useEffect(() => greetings.listen((text) => setSaid({ text })), [greetings]);
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (!event.defaultPrevented && pressKey(app, event)) event.preventDefault();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [app]);
  return (
    <AppContext.Provider value={app}>
      <Page />
      <Said said={said} onGone={() => setSaid({ text: '' })} />
      {menu !== null && <Menu menu={menu} onClose={() => setMenu(null)} />}
      {dialog === 'keys' && <KeysDialog onClose={() => setDialog(null)} />}
      {dialog === 'recording' && <RecordingDialog onClose={() => setDialog(null)} />}
    </AppContext.Provider>
  );
}

/** A highlighted row is the target. Another row or box stays the target while the same function is chosen in the same tree. */
function aiming(store: Store): Pick<App, 'aim' | 'aimAtRow' | 'aimed'> {
  let highlighted: (() => MenuTarget | null) | null = null;
  let last: { readonly target: MenuTarget; readonly state: State } | null = null;
  const isSame = (then: State, now: State): boolean => then.operations === now.operations && then.side === now.side && then.tab === now.tab && then.tree === now.tree && then.flame === now.flame;
  return {
    aim: (target) => (last = { target, state: store.state }),
    aimAtRow: (row) => (highlighted = row),
    aimed: () => {
      const { state } = store;
      const row = highlighted?.() ?? null;
      // Rows of threads and similar items are neither.
      if (row !== null && ((row.label !== null && row.label >= 0) || row.binary !== undefined)) return row;
      const isThere = last !== null && last.target.label === state.chosen && isSame(last.state, state);
      return isThere ? last!.target : { label: state.chosen };
    },
  };
}

/** The displayed side. If it changes, everything is drawn again. */
function useSide(store: Store): Side {
  const [, draw] = useState<Side>(store.state.side);
  useEffect(() => store.subscribe(() => draw(store.state.side)), [store]);
  return store.state.side;
}

function Page(): JSX.Element {
  const { side } = useStore();
  const { sides } = useApp().names;
  const search = useSearchAnswer();
  return (
    <SearchContext.Provider value={search}>
      <div class="page">
        <Header />
        <Filters />
        {/* Sums of runs have no times. */}
        {sides?.facts.comparison == null && (side === 'compared' ? <Timelines /> : <Timeline key={side} />)}
        {/* Below the timeline, so that the first chip does not move it during a double click. */}
        <Chips />
        <Tabs />
        <Main />
        <ChosenBar />
        <Busy />
      </div>
    </SearchContext.Provider>
  );
}

function Main(): JSX.Element {
  const { tab, side } = useStore();
  useEffect(() => {
    document.documentElement.dataset['tab'] = tab;
  }, [tab]);
  return (
    <div id="view" class="view" role="tabpanel" aria-labelledby={`tab-${tab}`}>
      <View key={`${side} ${tab}`} tab={tab} side={side} />
    </div>
  );
}

const SAID_MS = 4_000;

/** An announcement; repeating the same text makes a new one, which stays as long. */
interface Sentence {
  readonly text: string;
}

/** The last announcement, visible and for screen readers. */
function Said({ said, onGone }: { said: Sentence; onGone: () => void }): JSX.Element {
  const { text } = said;
  useEffect(() => {
    if (text === '') return;
    const timer = setTimeout(onGone, Math.max(SAID_MS, 60 * text.length));
    return () => clearTimeout(timer);
  }, [said]);
  return (
    <div class={`said${text === '' ? '' : ' is-shown'}`} role="status" aria-live="polite" data-part="said">
      {text}
    </div>
  );
}
