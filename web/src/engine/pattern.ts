// Regular expressions with the same meaning in the command's `regex` crate and in JavaScript.
//
// This parses a pattern like Rust and rewrites it for JavaScript: `.` matches everything except a line feed, `\d`, `\w`, `\s` and `\b` are
// Unicode classes, and `(?i)` at the start folds case by Unicode's simple rules. Syntax with different meanings in the two, or in only one
// of them, is rejected with an explanation. `web/README.md` lists the subset.

import { RefusedError } from './error.ts';

const WORD = '\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}';
const SPACE = '\\p{White_Space}';
const CLASSES: Readonly<Record<string, string>> = { d: '\\p{Nd}', w: WORD, s: SPACE };
const CONTROLS: Readonly<Record<string, number>> = { a: 7, f: 12, n: 10, r: 13, t: 9, v: 11 };
const LONGEST = 1_000;
const MOST_REPEATS = 1_000;
const DEEPEST = 50;

/** The pattern for JavaScript, which matches any part of a text. */
export function compilePattern(pattern: string): RegExp {
  const { source, flags } = new Translator(pattern).translate();
  return new RegExp(source, flags);
}

/** The pattern of a search, in smart case: without capital letters, it ignores case unless it contains a flag. */
export function searchPattern(pattern: string): string {
  const translator = new Translator(pattern);
  translator.translate();
  if (translator.saysCase || translator.hasCapital) return pattern;
  // Flags are at the start: here the pattern has no flags, or `s`.
  return pattern.startsWith('(?s)') ? `(?si)${pattern.slice(4)}` : `(?i)${pattern}`;
}

/** The pattern of a search for a literal text, also in smart case. */
export function plainPattern(text: string): string {
  return /\p{Uppercase}/u.test(text) ? escaped(text) : `(?i)${escaped(text)}`;
}

/** A pattern that matches exactly this text. */
export function exactPattern(text: string): string {
  return `^${escaped(text)}$`;
}

function escaped(text: string): string {
  return text.replace(/[\\.+*?()|[\]{}^$]/gu, '\\$&');
}

class Translator {
  readonly #chars: readonly string[];
  #at = 0;
  #dot = '[^\\n]';
  /** Flags determine whether case matters. */
  saysCase = false;
  /** True if it contains a literal capital letter, not one as in `\W`. */
  hasCapital = false;

  constructor(pattern: string) {
    this.#chars = Array.from(pattern);
    if (this.#chars.length - this.#flagLength() > LONGEST) throw refused(`it is longer than ${LONGEST} characters`);
    if (/\p{Cs}/u.test(pattern)) throw refused('it contains half a character (an unpaired surrogate)');
  }

  translate(): { source: string; flags: string } {
    const flags = this.#flags();
    const source = this.#alternatives(0);
    if (this.#at < this.#chars.length) throw refused('it closes a group that is not open');
    return { source, flags };
  }

  /** `(?i)`, `(?-i)`, `(?s)` or two of them, at the start. */
  #flags(): string {
    const flags = this.#chars.slice(0, this.#flagLength()).join('');
    this.#at = flags.length;
    this.saysCase = flags.includes('i');
    if (flags.includes('s')) this.#dot = '[^]';
    return this.saysCase && !flags.includes('-i') ? 'iu' : 'u';
  }

  #flagLength(): number {
    return /^\(\?(i|s|is|si|-i|s-i)\)/.exec(this.#chars.slice(0, 6).join(''))?.[0].length ?? 0;
  }

  #alternatives(depth: number): string {
    if (depth > DEEPEST) throw refused('its groups are nested too deeply');
    let source = '';
    for (;;) {
      const next = this.#chars[this.#at];
      if (next === undefined || next === ')') return source;
      if (next === '|') {
        this.#at += 1;
        source += '|';
      } else {
        source += this.#repeated(depth);
      }
    }
  }

  #repeated(depth: number): string {
    const { source, isAssertion } = this.#atom(depth);
    const repeat = this.#repeat();
    if (repeat === '') return source;
    if (isAssertion) throw refused('a position, such as ^ or \\b, cannot be repeated');
    if (this.#repeat() !== '') throw refused('a repetition is repeated; put the inner one into a group');
    return source + repeat;
  }

  #repeat(): string {
    const rest = this.#chars.slice(this.#at, this.#at + 16).join('');
    if (rest.startsWith('{')) {
      const found = /^\{([0-9]{1,4})(,?)([0-9]{0,4})\}\??/.exec(rest);
      if (found === null) throw refused('{ must be followed by one or two numbers, as in a{2,5}; write \\{ for the character');
      const [text, least, comma, most] = found;
      const isEmpty = comma === '' && most !== '';
      const limits = [least, most].filter((limit) => limit !== '').map(Number);
      if (isEmpty || limits.some((limit) => limit > MOST_REPEATS) || (limits[1] ?? Infinity) < limits[0]!) {
        throw refused(`a repetition goes from the smaller number to the larger, at most ${MOST_REPEATS}`);
      }
      this.#at += text.length;
      return text;
    }
    const found = /^[*+?]\??/.exec(rest);
    this.#at += found?.[0].length ?? 0;
    return found?.[0] ?? '';
  }

  #atom(depth: number): { source: string; isAssertion: boolean } {
    const char = this.#chars[this.#at++]!;
    const plain = (source: string): { source: string; isAssertion: boolean } => ({ source, isAssertion: false });
    switch (char) {
      case '(':
        return plain(this.#group(depth));
      case '[':
        return plain(this.#class());
      case '.':
        return plain(this.#dot);
      case '^':
      case '$':
        return { source: char, isAssertion: true };
      case '\\':
        return this.#escape();
      case '*':
      case '+':
      case '?':
      case '{':
        throw refused(`there is nothing before ${char}; write \\${char} for the character`);
      default:
        return plain(this.#literal(char.codePointAt(0)!));
    }
  }

  #group(depth: number): string {
    if (this.#chars[this.#at] === '?') {
      if (this.#chars[this.#at + 1] !== ':') {
        throw refused('of groups with (?, only (?:…) is supported, and (?i), (?-i) and (?s) at the start');
      }
      this.#at += 2;
    }
    const inner = this.#alternatives(depth + 1);
    if (this.#chars[this.#at] !== ')') throw refused('a group is not closed');
    this.#at += 1;
    return `(?:${inner})`;
  }

  #escape(): { source: string; isAssertion: boolean } {
    const next = this.#chars[this.#at];
    const places: Readonly<Record<string, string>> = {
      A: '^',
      z: '$',
      b: `(?:(?<=[${WORD}])(?![${WORD}])|(?<![${WORD}])(?=[${WORD}]))`,
      B: `(?:(?<=[${WORD}])(?=[${WORD}])|(?<![${WORD}])(?![${WORD}]))`,
    };
    if (next !== undefined && places[next] !== undefined) {
      this.#at += 1;
      if (this.#chars[this.#at] === '{') throw refused('\\b{…} is not supported');
      return { source: places[next]!, isAssertion: true };
    }
    const inner = next === undefined ? undefined : CLASSES[next.toLowerCase()];
    if (inner !== undefined) {
      this.#at += 1;
      return { source: next === next!.toLowerCase() ? `[${inner}]` : `[^${inner}]`, isAssertion: false };
    }
    return { source: this.#literal(this.#escapedChar()), isAssertion: false };
  }

  /** Reads the character of an escape, after its backslash. */
  #escapedChar(): number {
    const char = this.#chars[this.#at++];
    if (char === undefined) throw refused('there is nothing after its last \\');
    const control = CONTROLS[char];
    if (control !== undefined) return control;
    if (char === 'x' || char === 'u' || char === 'U') return this.#hex({ x: 2, u: 4, U: 8 }[char]);
    if (/^[0-9]$/.test(char)) throw refused('references to groups (\\1) and octal numbers are not supported');
    if (/^[A-Za-z<>]$/.test(char)) throw refused(`\\${char} is not supported`);
    if (char.codePointAt(0)! > 127) throw refused(`${char} does not need a \\`);
    return char.codePointAt(0)!;
  }

  #hex(digits: number): number {
    const rest = this.#chars.slice(this.#at, this.#at + 12).join('');
    const found = /^\{([0-9a-fA-F]{1,8})\}/.exec(rest) ?? new RegExp(`^([0-9a-fA-F]{${digits}})`).exec(rest);
    const code = found === null ? NaN : parseInt(found[1]!, 16);
    if (!(code <= 0x10ffff) || (code >= 0xd800 && code <= 0xdfff)) throw refused('a number after \\x or \\u is not a character');
    this.#at += found![0].length;
    return code;
  }

  /** Reads a class after its opening bracket. */
  #class(): string {
    let source = '[';
    if (this.#chars[this.#at] === '^') {
      source += '^';
      this.#at += 1;
    }
    let isFirst = true;
    for (;;) {
      const char = this.#chars[this.#at];
      if (char === undefined) throw refused('a [ is not closed; write \\[ for the character');
      if (char === ']') {
        if (isFirst) throw refused('a class is empty, or begins with ]; write \\]');
        this.#at += 1;
        return `${source}]`;
      }
      source += this.#classItem(isFirst);
      isFirst = false;
    }
  }

  /** A character, a range or a class such as `\d`. */
  #classItem(isFirst: boolean): string {
    const next = this.#chars[this.#at + 1];
    const inner = this.#chars[this.#at] === '\\' && next !== undefined ? CLASSES[next.toLowerCase()] : undefined;
    if (inner !== undefined) {
      if (next !== next!.toLowerCase()) throw refused(`\\${next} is in a class; write the class the other way round`);
      this.#at += 2;
      if (this.#isRange()) throw refused('a range must be between two characters');
      return inner;
    }
    const low = this.#classChar(isFirst);
    if (!this.#isRange()) return this.#literal(low);
    this.#at += 1;
    const high = this.#classChar(false);
    if (high < low) throw refused('a range goes from the smaller to the larger character');
    if (this.#isRange()) throw refused('a range is followed by -; write \\- for the character');
    return `${this.#literal(low)}-${this.#literal(high)}`;
  }

  #literal(code: number): string {
    const char = String.fromCodePoint(code);
    this.hasCapital ||= /\p{Uppercase}/u.test(char);
    return /^[A-Za-z0-9]$/.test(char) ? char : `\\u{${code.toString(16)}}`;
  }

  /** True if a `-` comes next that is not the last character of the class. */
  #isRange(): boolean {
    return this.#chars[this.#at] === '-' && this.#chars[this.#at + 1] !== ']';
  }

  #classChar(isFirst: boolean): number {
    const char = this.#chars[this.#at++];
    const next = this.#chars[this.#at];
    if (char === undefined) throw refused('a [ is not closed; write \\[ for the character');
    if (char === '\\') return this.#escapedChar();
    if (char === '[') throw refused('a class is inside a class; write \\[ for the character');
    if ((char === '&' || char === '~' || char === '-') && next === char) {
      throw refused(`${char}${char} is not supported in a class; write \\${char} for the character`);
    }
    if (char === '-' && !isFirst && next !== ']') throw refused('a - is in the middle of a class; write \\-');
    return char.codePointAt(0)!;
  }
}

function refused(why: string): RefusedError {
  return new RefusedError(`this regular expression cannot be used: ${why}`);
}
