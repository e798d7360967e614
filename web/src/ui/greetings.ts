// Announcements from code outside the page's components, such as that a link was rejected.

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

  /** Receives announcements, including earlier ones. */
  listen(listener: (text: string) => void): void {
    this.#listener = listener;
    if (this.#first !== null) listener(this.#first);
    this.#first = null;
  }
}
