// What the page is told to say from outside: that a link was refused.

export class Greetings {
  #first: string | null;
  #listener: ((text: string) => void) | null = null;

  constructor(first: string | null) {
    this.#first = first;
  }

  say(text: string): void {
    if (this.#listener === null) this.#first = text;
    else this.#listener(text);
  }

  /** Hears what is said, and what was said before anybody listened. */
  listen(listener: (text: string) => void): void {
    this.#listener = listener;
    if (this.#first !== null) listener(this.#first);
    this.#first = null;
  }
}
