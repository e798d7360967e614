// One interface to all browsers in which the page is tested.
//
//   const browser = await launch('firefox', { width: 1280, height: 800 });
//
//   open(path, fragment)        a file of this machine, by a file: URL
//   run(function, argument)     runs a function in the page and returns its result, by JSON
//   press('Control+z')          a key, after keys that are held
//   type(text)
//   move(x, y), down(), up(), click(x, y, { button, count, held }), wheel(x, y, dx, dy, held)
//   choose(selector, paths)     files for an input; Chromium can also choose a folder
//   resize(width, height), screenshot(path), close()
//   messages                    every console message and every uncaught error; await it

import { launchChromium } from './chromium.mjs';
import { launchFirefox } from './firefox.mjs';
import { launchWebKit } from './webkit.mjs';

const LAUNCHERS = { chromium: launchChromium, firefox: launchFirefox, webkit: launchWebKit };
export const BROWSERS = Object.keys(LAUNCHERS);

/** Starts a browser with one empty page. */
export function launch(name, { width = 1280, height = 800, isDark = false } = {}) {
  return LAUNCHERS[name]({ width, height, isDark });
}
