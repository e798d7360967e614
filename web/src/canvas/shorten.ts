// Shortens names of functions: first it drops outer namespaces, then arguments, then the enclosing type or namespace, and finally the end.

/** A name and its shorter forms, longest first, without duplicates. Each shorter form has an ellipsis. */
export function shorterNames(name: string): string[] {
  const found = [name];
  const add = (text: string): void => {
    const shorter = text.includes('…') ? text : `${text}…`;
    if (text !== '' && shorter.length < found[found.length - 1]!.length) found.push(shorter);
  };
  if (/^[-+]\[/.test(name)) {
    // Objective-C: the selector is more informative than the class.
    const space = name.indexOf(' ');
    if (space > 0) add(`${name[0]}[…${name.slice(space)}`);
    if (space > 0) add(`…${name.slice(space + 1).replace(/\]$/, '')}`);
    return found;
  }
  for (const shorter of withoutNamespaces(name)) add(shorter);
  const bare = withoutArguments(found[found.length - 1]!);
  add(bare);
  const lean = collapse(bare, '<', '>');
  add(lean);
  // In Rust, the brackets contain a type and its trait.
  const [, type, method] = /^(?:…::)?(<.*>)(::.*)$/.exec(lean) ?? [];
  if (type !== undefined) add(type.replace(/\b(\w+::)+/g, '…::') + method);
  const last = lastOf(lean);
  add(last);
  // A name that is cut at its end should begin with its most specific part.
  const core = last.replace(/^…(::)?/, '');
  add(core.includes('…') ? core : `…${core}`);
  add(core.replace(/([^…]{4})\(…?\)$/, '$1'));
  return found;
}

/** `f(int, char) const` becomes `f(…)`, and `(anonymous namespace)::f()` stays unchanged. */
function withoutArguments(name: string): string {
  const open = argumentsAt(name);
  if (open < 0) return name;
  const close = partner(name, open, '(', ')');
  if (close < 0) return name;
  const inside = close - open > 1 ? '…' : '';
  const rest = name.slice(close + 1);
  // Swift writes the result after the arguments; C++ writes `const` or clone suffixes there.
  return `${name.slice(0, open)}(${inside})${/^ (in|block|closure)\b/.test(rest) ? rest : ''}`;
}

/** The bracket that opens the arguments: the first one after a name. `operator()` is a name. */
function argumentsAt(name: string): number {
  let depth = 0;
  for (let at = 0; at < name.length; at += 1) {
    const letter = name[at];
    if (letter === '<' && !isOperator(name, at)) depth += 1;
    else if (letter === '>' && depth > 0 && name[at - 1] !== '-' && !isOperator(name, at)) depth -= 1;
    else if (letter === '(' && depth === 0 && at > 0) {
      const isCall = name.startsWith('operator()', at - 8);
      if (isCall) at += 1;
      else if (/[\w<>~=+\-*/%!&|^\])$]/.test(name[at - 1]!)) return at;
    }
  }
  return -1;
}

function isOperator(name: string, at: number): boolean {
  return /operator[<>=-]*$/.test(name.slice(Math.max(0, at - 11), at));
}

/** The position of the matching closing bracket; -1 for none. */
function partner(name: string, open: number, opens: string, closes: string): number {
  let depth = 0;
  for (let at = open; at < name.length; at += 1) {
    if (name[at] === opens) depth += 1;
    else if (name[at] === closes && (closes !== '>' || name[at - 1] !== '-')) {
      depth -= 1;
      if (depth === 0) return at;
    }
  }
  return -1;
}

/** `vector<int, alloc<int>>` becomes `vector<…>`. A `<` at the start of a name, as in `<impl …>` and `<redacted>`, stays. */
function collapse(name: string, opens: string, closes: string): string {
  let found = '';
  for (let at = 0; at < name.length; at += 1) {
    const letter = name[at]!;
    found += letter;
    if (letter !== opens || at === 0 || name.startsWith('<impl ', at) || isOperator(name, at) || !/[\w:]/.test(name[at - 1]!)) continue;
    const end = partner(name, at, opens, closes);
    if (end < 0) continue;
    found += `…${closes}`;
    at = end;
  }
  return found;
}

/** `a::b::C::d(int)` becomes `…::b::C::d(int)` and `…::C::d(int)`, and `App.C.d(…)` becomes `…C.d(…)`. Types and the innermost namespace stay. */
function withoutNamespaces(name: string): string[] {
  const found: string[] = [];
  let from = 0;
  for (const { at, mark } of cutsOf(name).slice(0, -1)) {
    const part = name.slice(from, at - Math.max(1, mark.length));
    // A Swift name begins with its module.
    const isModule = mark === '' && from === 0;
    if (!isModule && /(>|(^|\s)[A-Z]\w*)$/.test(part)) break;
    found.push(`…${mark}${name.slice(at)}`);
    from = at;
  }
  return found;
}

/** `a::b::c(…)` becomes `…::c(…)`, and `A.B.c(…)` becomes `…c(…)`, since four dots would look like a mistake. */
function lastOf(name: string): string {
  const last = cutsOf(name).at(-1);
  return last === undefined ? name : `…${last.mark}${name.slice(last.at)}`;
}

/** The places after the separators of a name's path that are not in brackets, and the part of each separator that is kept. */
function cutsOf(name: string): { readonly at: number; readonly mark: string }[] {
  const open = argumentsAt(name);
  const path = open < 0 ? name : name.slice(0, open);
  const found: { at: number; mark: string }[] = [];
  let depth = path[0] === '<' ? 1 : 0;
  for (let at = 1; at < path.length - 1; at += 1) {
    const letter = path[at]!;
    if ('<([{'.includes(letter)) depth += 1;
    else if ('>)]}'.includes(letter) && depth > 0) depth -= 1;
    else if (depth === 0 && letter === ':' && path[at + 1] === ':') found.push({ at: at + 2, mark: '::' });
    else if (depth === 0 && letter === '.' && /\w/.test(path[at - 1]!) && /[a-zA-Z_]/.test(path[at + 1]!)) found.push({ at: at + 1, mark: '' });
    if (depth === 0 && path.startsWith('operator', at) && path[at - 1] === ':') break;
  }
  return found.filter(({ at }) => at < path.length);
}
