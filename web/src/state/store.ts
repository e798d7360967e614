// The current state, earlier states, and undone states.

import { type State, selectsAlike } from './state.ts';

const MOST = 200;

export class Store {
  #state: State;
  #past: State[] = [];
  #future: State[] = [];
  #gesture = '';
  #steps = 0;
  readonly #listeners = new Set<() => void>();

  constructor(state: State) {
    this.#state = state;
  }

  get state(): State {
    return this.#state;
  }

  get canUndo(): boolean {
    return this.#past.length > 0;
  }

  get canRedo(): boolean {
    return this.#future.length > 0;
  }

  /** The number of undo and redo steps so far, plus the number of undoable changes. */
  get steps(): number {
    return this.#steps;
  }

  /** Changes some fields. The steps of one `gesture`, such as the movement of a brush, are undone together. */
  set(change: Partial<State>, gesture = ''): void {
    const next = { ...this.#state, ...change };
    if (!selectsAlike(next, this.#state)) this.#remember(gesture);
    this.#state = next;
    this.#tell();
  }

  /** Replaces the state, for example by the state of a link. */
  replace(state: State): void {
    if (!selectsAlike(state, this.#state)) this.#remember('');
    this.#state = state;
    this.#tell();
  }

  undo(): void {
    this.#step(this.#past, this.#future);
  }

  redo(): void {
    this.#step(this.#future, this.#past);
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #remember(gesture: string): void {
    const isSame = gesture !== '' && this.#gesture === gesture;
    this.#gesture = gesture;
    if (isSame) return;
    this.#steps += 1;
    this.#past.push(this.#state);
    if (this.#past.length > MOST) this.#past.shift();
    this.#future = [];
  }

  /** The shown view stays; the selection goes back. */
  #step(from: State[], to: State[]): void {
    const found = from.pop();
    if (found === undefined) return;
    this.#steps += 1;
    to.push(this.#state);
    const { tab, tree, flame, search, side, chosen } = this.#state;
    // On another side, functions have different numbers.
    const look = { tab, tree, flame, search, ...(side === found.side ? { chosen } : {}) };
    this.#state = { ...found, ...look };
    this.#gesture = '';
    this.#tell();
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}
