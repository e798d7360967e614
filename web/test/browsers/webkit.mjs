// Drives the GTK port of WebKit by WebDriver: its MiniBrowser on an Xvfb screen.

import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { addressOf } from './address.mjs';
import { splitKeys } from './keys.mjs';

const LIBRARIES = '/usr/lib/x86_64-linux-gnu';

export async function launchWebKit({ width, height, isDark }) {
  const screen = await startScreen();
  const port = await freePort();
  // Disables compositing, which would run in software without a GPU. This halves the processor time of a case.
  const environment = { ...process.env, DISPLAY: screen.display, GTK_THEME: isDark ? 'Adwaita:dark' : 'Adwaita', NO_AT_BRIDGE: '1', WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1', LIBGL_ALWAYS_SOFTWARE: '1', WEBKIT_DISABLE_COMPOSITING_MODE: '1' };
  const driver = spawn('WebKitWebDriver', [`--port=${port}`], { env: environment, stdio: 'ignore' });
  try {
    const session = await newSession(port);
    const browser = new WebKit(session, () => {
      driver.kill();
      screen.kill();
    });
    await browser.resize(width, height);
    browser.isWorn = false;
    return browser;
  } catch (error) {
    driver.kill();
    screen.kill();
    throw error;
  }
}

/** Starts an invisible X server. */
async function startScreen() {
  const server = spawn('Xvfb', ['-displayfd', '3', '-screen', '0', '3000x3000x24', '-nolisten', 'tcp'], { stdio: ['ignore', 'ignore', 'ignore', 'pipe'] });
  const display = await new Promise((resolve, reject) => {
    server.once('error', reject);
    server.once('exit', () => reject(new Error('Xvfb ended')));
    server.stdio[3].setEncoding('utf8').once('data', (text) => resolve(`:${text.trim()}`));
  });
  return { display, kill: () => server.kill() };
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

async function newSession(port) {
  const version = readdirSync(LIBRARIES).filter((name) => name.startsWith('webkit2gtk-4')).map((name) => join(LIBRARIES, name, 'MiniBrowser')).find(existsSync);
  const capabilities = { alwaysMatch: { 'webkitgtk:browserOptions': { binary: version, args: ['--automation'] } } };
  const base = `http://127.0.0.1:${port}/session`;
  for (let tries = 0; ; tries += 1) {
    try {
      const { sessionId } = await send('POST', base, { capabilities });
      return (method, path, body) => send(method, `${base}/${sessionId}/${path}`, body);
    } catch (error) {
      // The driver starts to listen a moment after its start.
      if (tries === 50 || error.cause?.code !== 'ECONNREFUSED') throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

async function send(method, url, body) {
  const response = await fetch(url, { method, body: body === undefined ? undefined : JSON.stringify(body) });
  const { value } = await response.json();
  if (!response.ok) throw new Error(`${method} ${url}: ${value.error}: ${value.message}`);
  return value;
}

/** Keys that WebDriver encodes without a letter: https://www.w3.org/TR/webdriver2/#keyboard-actions */
const KEYS = {
  Control: '\ue009', Shift: '\ue008', Alt: '\ue00a', Meta: '\ue03d', Enter: '\ue007', Escape: '\ue00c', Backspace: '\ue003', Delete: '\ue017', Tab: '\ue004',
  ArrowLeft: '\ue012', ArrowUp: '\ue013', ArrowRight: '\ue014', ArrowDown: '\ue015', Home: '\ue011', End: '\ue010', PageUp: '\ue00e', PageDown: '\ue00f',
  F10: '\ue03a',
};

/** WebDriver has no access to the console, so a script before all others records messages. */
const RECORDER = `{
  globalThis.said = [];
  for (const level of ['log', 'info', 'warn', 'error']) console[level] = (...words) => globalThis.said.push(words.map(String).join(' '));
  addEventListener('error', (event) => globalThis.said.push(String(event.message)));
  addEventListener('unhandledrejection', (event) => globalThis.said.push(String(event.reason)));
  document.addEventListener('securitypolicyviolation', (event) => globalThis.said.push(event.violatedDirective + ' refuses ' + event.blockedURI));
}`;

/** Returns the page with that script, and with a content security policy that allows it. */
function withRecorder(page) {
  const hash = `'sha256-${createHash('sha256').update(RECORDER).digest('base64')}'`;
  const allowed = page.replace('script-src ', `script-src ${hash} `);
  return allowed.replace(/(<meta charset="utf-8">(?:\s*<meta http-equiv[^>]*>)?)/, (head) => `${head}<script>${RECORDER}</script>`);
}

/** True if a key is typed with Shift, which the driver then presses itself. */
function isShifted(key) {
  return key.length === 1 && !/[a-z0-9 \-=[\];'\\,./`]/.test(key);
}

/** The maximum size of the window's frame in pixels. */
const LARGEST_FRAME = 200;

class WebKit {
  name = 'webkit';
  /**
   * After Shift was held once, the driver types `8` for `*` from then on. After a resize or another mouse button, clicks may be lost.
   * Such a browser is not reused.
   */
  isWorn = false;
  #send;
  #end;
  #pages = null;
  #frame = [0, 0];

  constructor(send, end) {
    this.#send = send;
    this.#end = end;
  }

  /** Returns the messages since the last call. */
  get messages() {
    return this.run(() => globalThis.said ?? []);
  }

  async open(path, fragment) {
    this.#pages ??= await mkdtemp(join(tmpdir(), 'webkit-'));
    const page = join(this.#pages, basename(path));
    await writeFile(page, withRecorder(await readFile(path, 'utf8')));
    await this.#send('POST', 'url', { url: addressOf(page, fragment) });
  }

  run(work, argument) {
    const script = `const done = arguments[arguments.length - 1];
      Promise.resolve(arguments[0]).then(${work}).then((value) => done({ value: value ?? null }), (error) => done({ error: String(error) }));`;
    return this.#send('POST', 'execute/async', { script, args: [argument ?? null] }).then(({ value, error }) => {
      if (error !== undefined) throw new Error(error);
      return value;
    });
  }

  press(keys) {
    const { held, key } = splitKeys(keys);
    this.isWorn ||= held.length > 0 || isShifted(key);
    const values = [...held, key].map((name) => KEYS[name] ?? name);
    return this.#act([{ type: 'key', id: 'keys', actions: [...values.map((value) => ({ type: 'keyDown', value })), ...values.reverse().map((value) => ({ type: 'keyUp', value }))] }]);
  }

  type(text) {
    this.isWorn ||= Array.from(text).some(isShifted);
    return this.#act([{ type: 'key', id: 'keys', actions: Array.from(text).flatMap((value) => [{ type: 'keyDown', value }, { type: 'keyUp', value }]) }]);
  }

  async choose(selector, paths) {
    const [element] = Object.values(await this.#send('POST', 'element', { using: 'css selector', value: selector }));
    await this.#send('POST', `element/${element}/value`, { text: paths.join('\n') });
  }

  move(x, y) {
    return this.#point([], [{ type: 'pointerMove', x: Math.round(x), y: Math.round(y), duration: 0 }]);
  }

  down() {
    return this.#point([], [{ type: 'pointerDown', button: 0 }]);
  }

  up() {
    return this.#point([], [{ type: 'pointerUp', button: 0 }]);
  }

  click(x, y, { button = 'left', count = 1, held = [] } = {}) {
    this.isWorn ||= button !== 'left' || count > 1;
    const number = { left: 0, middle: 1, right: 2 }[button];
    const clicks = Array.from({ length: count }, () => [{ type: 'pointerDown', button: number }, { type: 'pointerUp', button: number }]).flat();
    return this.#point(held, [{ type: 'pointerMove', x: Math.round(x), y: Math.round(y), duration: 0 }, ...clicks]);
  }

  async wheel(x, y, dx, dy, held = []) {
    const scroll = { type: 'scroll', x: Math.round(x), y: Math.round(y), deltaX: dx, deltaY: dy, duration: 0 };
    await this.#act([{ type: 'wheel', id: 'wheel', actions: [...held.map(() => ({ type: 'pause' })), scroll] }, this.#holding(held, 1)].filter(Boolean));
  }

  /** Waits until the page has this size. The window has a frame, has a minimum size, and changes with a delay. */
  async resize(width, height) {
    this.isWorn = true;
    const wanted = [width, height];
    let last = null;
    for (let round = 0; round < 5; round += 1) {
      const outer = wanted.map((size, side) => size + this.#frame[side]);
      await this.#send('POST', 'window/rect', { x: 0, y: 0, width: outer[0], height: outer[1] });
      const inner = await this.#settled(wanted);
      if (wanted.every((size, side) => size === inner[side])) return;
      const isStuck = last !== null && [...outer, ...inner].every((size, place) => size === last[place]);
      if (isStuck) return;
      last = [...outer, ...inner];
      this.#frame = wanted.map((size, side) => Math.min(Math.max(outer[side] - inner[side], 0), LARGEST_FRAME));
    }
  }

  /** Returns the size of the page as soon as it is the expected one, or the current size after a timeout. */
  #settled(size) {
    return this.run(async (size) => {
      for (let tries = 0; tries < 15 && (innerWidth !== size[0] || innerHeight !== size[1]); tries += 1) await new Promise((resolve) => setTimeout(resolve, 20));
      return [innerWidth, innerHeight];
    }, size);
  }

  async screenshot(path) {
    await writeFile(path, Buffer.from(await this.#send('GET', 'screenshot'), 'base64'));
  }

  async close() {
    await this.#send('DELETE', '').catch(() => {});
    this.#end();
    if (this.#pages !== null) await rm(this.#pages, { recursive: true });
  }

  #point(held, actions) {
    const pauses = held.map(() => ({ type: 'pause' }));
    const pointer = { type: 'pointer', id: 'mouse', parameters: { pointerType: 'mouse' }, actions: [...pauses, ...actions] };
    return this.#act([pointer, this.#holding(held, actions.length)].filter(Boolean));
  }

  #holding(held, ticks) {
    if (held.length === 0) return null;
    this.isWorn = true;
    const values = held.map((name) => KEYS[name]);
    const wait = Array.from({ length: ticks }, () => ({ type: 'pause' }));
    return { type: 'key', id: 'keys', actions: [...values.map((value) => ({ type: 'keyDown', value })), ...wait, ...values.map((value) => ({ type: 'keyUp', value }))] };
  }

  #act(actions) {
    return this.#send('POST', 'actions', { actions });
  }
}
