// The parts of the canvases that need no browser: numbers, names, boxes under a point, the brush, and escaping in SVG.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { load } from './command.mjs';

const amounts = await load('canvas/amounts.ts');
const brush = await load('canvas/brush.ts');
const { Camera } = await load('canvas/camera.ts');
const { laneOf } = await load('canvas/lanes.ts');
const { FlameScene, ROW } = await load('canvas/flame_scene.ts');
const { Rows } = await load('canvas/rows.ts');
const { shorterNames } = await load('canvas/shorten.ts');
const palettes = await load('canvas/palettes.ts');
const { TimelineLayout } = await load('canvas/timeline_layout.ts');
const { drawGround } = await load('canvas/timeline_scene.ts');
const { SvgPen, escaped } = await load('canvas/svg.ts');

/** Returns a random number generator with a fixed sequence. */
function random(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

test('ticks are round, inside the range, and no more than asked for', () => {
  const { first, step, count } = amounts.ticks(0, 259_000_000, 10);
  assert.deepEqual([first, step, count], [0, 50_000_000, 6]);
  const next = random(1);
  for (let run = 0; run < 2_000; run += 1) {
    const start = next() * 10 ** (next() * 12);
    const end = start + 10 ** (1 + next() * 11);
    const most = 2 + Math.floor(next() * 20);
    const ticks = amounts.ticks(start, end, most);
    assert.ok(ticks.count <= most + 1, `${ticks.count} of ${most}`);
    assert.ok(ticks.count >= Math.floor(most / 2.5) - 1, `${ticks.count} of ${most}`);
    assert.ok(ticks.first >= start - ticks.step * 1e-6);
    assert.ok(ticks.first + (ticks.count - 1) * ticks.step <= end + ticks.step * 1e-6);
    const digit = ticks.step / 10 ** Math.floor(Math.log10(ticks.step) + 1e-9);
    assert.ok([1, 2, 5].some((round) => Math.abs(digit - round) < 1e-6), `${ticks.step}`);
  }
});

test('ticks of one axis have one unit and differ', () => {
  const cases = [[[1.5e9, 5e8, 2], '1.5 s', '2.0 s'], [[6e8, 2e8, 3], '0.6 s', '0.8 s', '1.0 s'], [[3.5e8, 5e7, 1], '350 ms'], [[104_500_000, 500_000, 1], '104.5 ms'], [[0, 20_000, 1], '0 µs'], [[1_234_000_001, 1, 1], '1.234000001 s']];
  for (const [[first, step, count], ...texts] of cases) {
    assert.deepEqual(texts.map((_, tick) => amounts.tickText(first + tick * step, { first, step, count })), texts);
  }
});

test('weights have every digit, and shares are never called nothing', () => {
  const { weightText, exactTimeText, timeText, shareText, rateText } = amounts;
  const cases = [
    [weightText, [12_340_000, 'ns', '12.34 ms'], [1, 'ns', '0.000001 ms'], [0, 'ns', '0.00 ms'], [101_899_720_000, 'ns', '101,899.72 ms']],
    [weightText, [2 ** 53 - 1, 'ns', '9,007,199,254.740991 ms'], [21_817_132, 'cycles', '21,817,132 cycles']],
    [exactTimeText, [1_234_567_891, '1.234567891 s'], [1_000_000_001, '1.000000001 s'], [250_000, '250 µs'], [0, '0 ns']],
    [timeText, [1_249_000_000, '1.25 s'], [999_999, '1,000 µs']],
    [shareText, [1, 3, '33.3%'], [1, 1_000_000, '<0.1%'], [0, 5, '0.0%'], [0, 0, 'n/a']],
    [rateText, [145_631 / 50_000, 'cycles', '2.91 Gcycles/s'], [0.0000009, 'cycles', '900 cycles/s'], [0.00125, 'samples', '1,250,000 samples/s']],
  ];
  for (const [text, ...rows] of cases) for (const row of rows) assert.equal(text(...row.slice(0, -1)), row.at(-1));
});

test('names lose namespaces first, then arguments, then types', () => {
  const cases = {
    'orchard::Tree::visit(orchard::Branch const&, int) const': ['…::Tree::visit(orchard::Branch const&, int) const', '…::Tree::visit(…)', '…::visit(…)', 'visit(…)', 'visit…'],
    'std::vector<int, std::allocator<int>>::push_back(int&&)': ['…::vector<int, std::allocator<int>>::push_back(int&&)', '…::vector<int, std::allocator<int>>::push_back(…)', '…::vector<…>::push_back(…)', '…::push_back(…)', 'push_back(…)', 'push_back…'],
    '-[NSView drawRect:inContext:]': ['-[… drawRect:inContext:]', '…drawRect:inContext:'],
    'Orchard.Press.squeeze(crate: Orchard.Crate) -> Swift.Int': ['…Press.squeeze(crate: Orchard.Crate) -> Swift.Int', '…Press.squeeze(…)', '…squeeze(…)', 'squeeze(…)', 'squeeze…'],
    'std::function<void (int)>::operator()(int) const': ['…::function<void (int)>::operator()(int) const', '…::function<void (int)>::operator()(…)', '…::function<…>::operator()(…)', '…::operator()(…)', 'operator()(…)', 'operator()…'],
    'apple::operator<(apple::B const&, int)': ['apple::operator<(…)', '…::operator<(…)', 'operator<(…)', 'operator<…'],
    '<core::ops::Range<A> as core::iter::Step>::next': ['<…::Range<…> as …::Step>::next', '…::next', '…next'],
    'core::cmp::<impl core::cmp::Ord for i32>::lt': ['…::cmp::<impl core::cmp::Ord for i32>::lt', '…::<impl core::cmp::Ord for i32>::lt', '<impl …::Ord for i32>::lt', '…::lt', '…lt'],
    '(anonymous namespace)::run()': ['…::run()', '…run()'],
    'core::ops::function::FnOnce::call_once{{vtable.shim}}': ['…::ops::function::FnOnce::call_once{{vtable.shim}}', '…::function::FnOnce::call_once{{vtable.shim}}', '…::FnOnce::call_once{{vtable.shim}}', '…::call_once{{vtable.shim}}', '…call_once{{vtable.shim}}'],
    ...Object.fromEntries(['<redacted>', '0x180009c00', '_dispatch_lane_invoke', 'start', ''].map((name) => [name, []])),
  };
  for (const [name, shorter] of Object.entries(cases)) assert.deepEqual(shorterNames(name), [name, ...shorter], name);
});

test('shorter names end, and get shorter, whatever the name', () => {
  const next = random(7);
  const letters = 'ab:.<>()[]{} -+operator~…𝒳é';
  for (let run = 0; run < 20_000; run += 1) {
    const name = Array.from({ length: Math.floor(next() * 24) }, () => letters[Math.floor(next() * letters.length)]).join('');
    const forms = shorterNames(name);
    assert.equal(forms[0], name);
    for (let at = 1; at < forms.length; at += 1) assert.ok(forms[at].length < forms[at - 1].length && forms[at].includes('…'), `${name}: ${forms}`);
  }
});

test('names are cut without their underscores, and keep four letters', async () => {
  globalThis.document = { createElement: () => ({ getContext: () => ({ measureText: ({ length }) => ({ width: length }) }) }) };
  const { TextWidths } = await load('canvas/text.ts');
  const widths = new TextWidths('');
  const cuts = { __release: ['__release', 9, 'release…', 8, 'rele…', 5, '', 4], 'A::run()': ['…run()', 6, '', 5], 'A::grab(int)': ['grab(…)', 9, 'grab…', 5, '', 4], abc: ['abc', 3, '', 2] };
  for (const [name, fits] of Object.entries(cuts)) for (let at = 0; at < fits.length; at += 2) assert.equal(widths.fit(name, fits[at + 1]), fits[at], `${name} in ${fits[at + 1]}`);
  assert.equal(widths.beginning('press worker #2 (pool)', 14), 'press worker…');
});

/** Returns random boxes as in flame graphs: children within their parents, some of zero width. */
function boxes(seed) {
  const next = random(seed);
  const [depth, start, width] = [[], [], []];
  const grow = (level, from, to) => {
    depth.push(level);
    start.push(from);
    width.push(to - from);
    if (level > 6) return;
    for (let at = from + Math.floor(next() * 3); at < to && next() < 0.8; ) {
      const end = Math.min(to, at + 1 + Math.floor(next() * 40));
      grow(level + 1, at, end);
      at = end + Math.floor(next() * 2);
    }
  };
  grow(0, 0, 200);
  return { count: depth.length, depth: Int32Array.from(depth), start: Float64Array.from(start), width: Float64Array.from(width) };
}

test('the box under a point is the one that a search through all finds', () => {
  for (let seed = 1; seed < 60; seed += 1) {
    const { count, depth, start, width } = boxes(seed);
    const rows = Rows.of(count, depth, start, width);
    const slow = (level, point) => {
      for (let box = 0; box < count; box += 1) {
        if (depth[box] === level && start[box] <= point && point < start[box] + width[box]) return box;
      }
      return -1;
    };
    for (let level = -1; level <= rows.depths; level += 1) {
      for (let point = -0.5; point < 201; point += 0.5) assert.equal(rows.boxAt(level, point), slow(level, point), `${seed} ${level} ${point}`);
    }
    for (let box = 0; box < count; box += 1) {
      assert.equal(rows.parentOf(box), depth[box] === 0 ? -1 : slow(depth[box] - 1, start[box]));
      assert.equal(rows.box[rows.placeOf(box)], box);
      const right = rows.neighbourOf(box, 1);
      if (right >= 0) assert.equal(rows.neighbourOf(right, -1), box);
      const child = rows.widestChild(box);
      const children = [...width.keys()].filter((other) => depth[other] === depth[box] + 1 && slow(depth[box], start[other]) === box);
      assert.equal(child, children.toSorted((a, b) => width[b] - width[a] || a - b)[0] ?? -1);
    }
    for (let from = 0; from < count; from += 7) {
      const level = depth[rows.box[from]];
      assert.equal(rows.soonAfter(start[rows.box[from]] + 9, from, rows.first[level + 1]), rows.after(start[rows.box[from]] + 9, from, rows.first[level + 1]));
    }
  }
});

/** Returns the share of the pixels of a row that the spans of a chart are drawn on; every `merged` spans are one box. */
function drawnShare(spans, { merged = 1, length = 1_000, width = 100, ratio = 1 } = {}) {
  const cells = Array.from({ length: Math.ceil(spans.length / merged) }, (_, cell) => spans.slice(cell * merged, (cell + 1) * merged));
  const count = cells.length;
  const model = {
    key: '', tree: '', unit: 'ns', total: length, range: { start: 0, end: length }, detail: { from: 0, to: length, least: 0 }, title: '', count,
    node: Int32Array.from(cells.keys()), depth: new Int32Array(count), label: new Int32Array(count), self: new Float64Array(count),
    start: Float64Array.from(cells, (cell) => cell[0][0]), width: Float64Array.from(cells, (cell) => cell.at(-1)[1] - cell[0][0]),
    spans: Int32Array.from(cells, (cell) => cell.length), covered: Float64Array.from(cells, (cell) => cell.reduce((sum, [start, end]) => sum + end - start, 0)),
    labels: { names: ['a'], binaries: [''], kinds: Uint8Array.of(0) },
  };
  const [columns, lines] = [width * ratio, (ROW - 1) * ratio];
  const drawn = new Uint8Array(columns * lines);
  const rect = (x, y, width, height) => {
    assert.ok(Math.abs(y + height - (ROW - 1)) < 1e-4, 'each column is filled from below');
    for (let line = Math.round(y * ratio); line < lines; line += 1) {
      for (let column = Math.max(0, Math.round(x * ratio)); column < Math.min(columns, Math.round((x + width) * ratio)); column += 1) drawn[line * columns + column] = 1;
    }
  };
  const nothing = () => {};
  const pen = { fill: nothing, rect, frame: nothing, font: nothing, text: nothing };
  const theme = { boxes: Array(99).fill(''), boxTexts: Array(99).fill(''), changes: Array(99).fill(''), match: '', isForced: false };
  new FlameScene(model, []).draw(pen, { from: 0, to: length, length, scroll: 0 }, { left: 0, top: 0, width, height: 100, ratio }, theme, { fit: () => '' }, { focus: -1, hover: -1 });
  return drawn.reduce((sum, one) => sum + one, 0) / drawn.length;
}

test('spans that are narrower than a pixel are drawn with the share of time that they cover', () => {
  const every = (step, length) => Array.from({ length: 1_000 / step }, (_, at) => [at * step, at * step + length]);
  const within = (share, expected, by) => assert.ok(Math.abs(share - expected) < by, `${share} instead of ${expected}`);
  for (const ratio of [1, 2]) {
    // A pixel is 10 long. A height is a number of pixels.
    within(drawnShare(every(10, 1.1), { ratio }), 0.11, 0.02);
    within(drawnShare(every(4, 0.44), { ratio }), 0.11, 0.04);
    within(drawnShare(every(1, 0.11), { ratio, merged: 5 }), 0.11, 0.02);
    within(drawnShare(every(10, 1.1), { ratio, merged: 5 }), 0.11, 0.02);
    within(drawnShare(every(10, 0), { ratio }), 1 / (ROW - 1) / ratio ** 2, 0.001);
    // Without a gap, columns are full, regardless of the limits of boxes.
    within(drawnShare(every(2, 2), { ratio, merged: 3 }), 1, 0.001);
    within(drawnShare([[0, 4], [4, 36], [36, 41], [41, 1_000]], { ratio }), 0.99, 0.011);
    // A gap marks the end of a wide span.
    within(drawnShare([[0, 500]], { ratio }), 0.49, 0.001);
  }
});

test('a timeline writes its part of the recording, its scales, and the numbers of threads with one name', () => {
  const bins = { start: 0, bin: 1, layers: [], full: 1, fullText: '2 cores' };
  const tracks = ['com.orchard.pool (0x2a1)', 'com.orchard.pool (0x2a2)'].map((label, id) => ({ id: String(id), label, detail: '3.00 ms', kind: 'thread', bins }));
  const textsIn = (margin, visible, recorded) => {
    const model = { unit: 'ns', range: { start: 0, end: 3e6 }, recorded, overview: null, tracks };
    const [texts, bars] = [[], []];
    const keep = { text: (text) => texts.push(text), rect: (x, _, width) => width === 3 && bars.push(x) };
    const pen = new Proxy({}, { get: (_, name) => (...words) => (keep[name]?.(...words), () => {}) });
    const theme = new Proxy({}, { get: (_, name) => (name === 'tones' ? {} : '') });
    drawGround(pen, { model, layout: new TimelineLayout(model), visible, scroll: 0, brush: null, margin, width: 900, height: 60, ratio: 1, pointer: -1, focus: -1 }, theme, { of: (text) => 6 * text.length, beginning: (text, width) => text.slice(0, width / 6) });
    assert.deepEqual(bars, [margin - 5], 'the scroll bar covers nothing');
    return texts;
  };
  const whole = { start: 0, end: 3e6 };
  const wide = textsIn(240, whole, 446e6);
  for (const text of ['3 ms of 446 ms recorded', 'time shown', 'height: 2 cores', '3.00 ms', 'com.orchard.pool (0x2a1)', 'com.orchard.pool (0x2a2)']) assert.ok(wide.includes(text), `${text}: ${wide}`);
  const narrow = textsIn(120, whole, 446e6);
  for (const text of ['3 ms of 446 ms', 'com.orcha (0x2a1)', 'com.orcha (0x2a2)']) assert.ok(narrow.includes(text), `${text}: ${narrow}`);
  assert.ok(textsIn(240, { start: 0, end: 1e6 }, null).includes('1 ms of 3 ms'));
  assert.ok(textsIn(240, whole, null).includes('3 ms'));
});

test('a timeline first has the height of its busy rows, and cuts none', () => {
  const thread = (isMinor) => ({ kind: 'thread', label: '', isMinor });
  const usual = (kinds, most) => new TimelineLayout({ overview: null, range: { start: 0, end: 1 }, tracks: kinds.map((kind) => (kind === 'lane' ? { kind, label: '' } : thread(kind === 'minor'))) }).usual(most);
  const cases = [[['busy', 'busy'], 300, 88], [['busy', 'busy'], 87, 56], [['busy', 'minor', 'busy', 'minor', 'lane'], 300, 120], [['busy', 'lane', 'lane'], 300, 100], [['busy', 'lane', 'lane'], 90, 90], [['lane'], 300, 46]];
  for (const [kinds, most, height] of cases) assert.equal(usual(kinds, most), height, `${kinds} in ${most}`);
});

test('a brush is drawn, moved and resized within the recording', () => {
  const range = { start: 100, end: 1_100 };
  const before = { start: 300, end: 500 };
  assert.equal(brush.gripAt(null, 300, 1, true), 'new');
  assert.equal(brush.gripAt(before, 303, 1, false), 'start');
  assert.equal(brush.gripAt(before, 496, 1, false), 'end');
  assert.equal(brush.gripAt(before, 400, 1, false), 'new');
  assert.equal(brush.gripAt(before, 400, 1, true), 'move');
  assert.equal(brush.gripAt(before, 600, 1, true), 'new');
  // A finger is less exact, and still moves a short brush by its middle.
  assert.deepEqual([280, 322, 480, 522].map((time) => brush.gripAt(before, time, 1, false, true)), ['start', 'start', 'end', 'end']);
  assert.deepEqual([282, 308, 316, 326].map((time) => brush.gripAt({ start: 300, end: 330 }, time, 1, true, true)), ['start', 'start', 'move', 'end']);
  // Even a very thin selection can be widened in both directions.
  assert.equal(brush.gripAt({ start: 300, end: 300 }, 299, 1, true), 'start');
  assert.equal(brush.gripAt({ start: 300, end: 300 }, 301, 1, true), 'end');
  assert.deepEqual(brush.dragged('new', before, 700, 600, range), { start: 600, end: 700 });
  assert.deepEqual(brush.dragged('new', null, 50, 9_999, range), range);
  assert.deepEqual(brush.dragged('start', before, 302, 252, range), { start: 250, end: 500 });
  assert.deepEqual(brush.dragged('start', before, 300, 700, range), { start: 500, end: 700 });
  assert.deepEqual(brush.dragged('end', before, 500, 200, range), { start: 200, end: 300 });
  assert.deepEqual(brush.dragged('move', before, 400, 2_000, range), { start: 900, end: 1_100 });
  // 8 ns a pixel: steps of 5 ns.
  const snap = brush.snapTo(8);
  assert.deepEqual(brush.dragged('new', null, 601, 698.7, range, snap), { start: 600, end: 700 });
  const odd = { start: 301, end: 503 };
  assert.deepEqual(brush.dragged('start', odd, 301, 337.2, range, snap), { start: 335, end: 503 }, 'the other edge stays');
  assert.deepEqual(brush.dragged('end', odd, 503, 549.1, range, snap), { start: 301, end: 550 });
  assert.deepEqual(brush.dragged('move', odd, 400, 453, range, snap), { start: 355, end: 557 }, 'the length stays');
  assert.deepEqual(brush.dragged('new', null, 50, 9_999, range, snap), range);
  assert.deepEqual(brush.moved(before, -900, range), { start: 100, end: 300 });
  assert.deepEqual(brush.resized(before, -500, 10, range), { start: 300, end: 310 });
  assert.deepEqual(brush.resized(before, 5_000, 10, range), { start: 300, end: 1_100 });
  assert.deepEqual(brush.rounded({ start: 1.2, end: 1.3 }), { start: 1, end: 2 });
});

test('a camera stays within its range, and zooms around the pointer', () => {
  const camera = new Camera();
  camera.range = { start: 100, end: 1_100 };
  camera.most = 50;
  camera.go({ from: 0, to: 500, scroll: 90 }, false);
  assert.deepEqual([camera.from, camera.to, camera.scroll], [100, 600, 50]);
  camera.go(camera.zoomed(0.5, 225), false);
  assert.deepEqual([camera.from, camera.to], [162.5, 412.5]);
  assert.equal((225 - 162.5) / 250, (225 - 100) / 500);
  camera.go(camera.zoomed(100, 225), false);
  assert.deepEqual([camera.from, camera.to, camera.isWhole], [100, 1_100, true]);
  camera.go({ from: 300, to: 400 }, true);
  assert.equal(camera.step(1_000), true);
  assert.equal(camera.from, 100);
  assert.equal(camera.step(1_090), true);
  assert.ok(camera.from > 200 && camera.from < 300);
  assert.equal(camera.step(9_000), false);
  assert.deepEqual([camera.from, camera.to], [300, 400]);
});

test('bars of one level never overlap, and open ones last until the end', () => {
  const next = random(3);
  for (let run = 0; run < 200; run += 1) {
    const start = Float64Array.from({ length: 30 }, () => Math.floor(next() * 100));
    const end = start.map((start) => (next() < 0.1 ? Infinity : start + Math.floor(next() * 30)));
    const spans = { start, end, names: Array.from(start, String) };
    const { rows, levels, leftOut, index } = laneOf(spans, 120);
    assert.equal(index.length + leftOut, 30);
    assert.equal(new Set(index).size, index.length);
    for (let level = 0; level < levels; level += 1) {
      for (let at = rows.first[level]; at < rows.first[level + 1]; at += 1) {
        const span = index[rows.box[at]];
        assert.equal(rows.start[at], start[span]);
        assert.equal(rows.end[at], Math.min(end[span], 120));
        if (at + 1 < rows.first[level + 1]) assert.ok(rows.end[at] <= rows.start[at + 1]);
      }
    }
  }
});

test('what overlaps too often is left out, and counted', () => {
  const start = new Float64Array(40).fill(5);
  const { levels, leftOut, index } = laneOf({ start, end: start.map((start) => start + 10), names: Array.from(start, String) }, 120);
  assert.deepEqual([levels, leftOut, index.length], [12, 28, 12]);
});

test('an SVG holds names as text', () => {
  assert.equal(escaped(`<script>alert("1")</script>&'`), '&#60;script&#62;alert(&#34;1&#34;)&#60;/script&#62;&#38;&#39;');
  assert.equal(escaped('a\u0000b\u001bc\ud800d\udc00e\u{1F600}\ufffe'), 'a\ufffdb\ufffdc\ufffdd\ufffde\u{1F600}\ufffd');
  const pen = new SvgPen(100, 50, '</title><script>');
  pen.fill('rgba(21, 24, 29, 0.68)');
  pen.rect(0, 0, 10.126, 5);
  pen.font(12, 400, '"A" & B');
  pen.text('</text><image href=x onerror=alert(1)>', 1, 2, 'center');
  pen.clip(0, 0, 10, 10)();
  const svg = pen.finish();
  assert.equal(svg.match(/<(?!\/?(svg|title|rect|text)\b)/), null);
  assert.match(svg, /<rect x="0" y="0" width="10.13" height="5" fill="rgb\(21,24,29\)" fill-opacity="0.68"\/>/);
  assert.equal(svg.split('<svg').length, svg.split('</svg>').length);
});

/** Returns the contrast of two colours by WCAG 2. */
function contrast(a, b) {
  const luminance = (color) => {
    const [red, green, blue] = [1, 3, 5]
      .map((at) => parseInt(color.slice(at, at + 2), 16) / 255)
      .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const [light, dark] = [luminance(a), luminance(b)].toSorted((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

test('every text stands out from what it stands on', () => {
  assert.equal(contrast('#000000', '#ffffff'), 21);
  for (const { base, changes, changeText, tones } of [palettes.LIGHT, palettes.DARK]) {
    const check = (text, ground, least = 4.5) => assert.ok(contrast(text, ground) >= least, `${text} on ${ground}: ${contrast(text, ground)}`);
    for (const kind of ['own', 'system', 'runtime', 'kernel', 'unknown', 'idle']) {
      for (const shade of base[kind]) {
        check(base[`${kind}-text`], shade);
        // Marked boxes have a line around them.
        check(base.hover, shade, 3);
        // Waiting recedes on purpose.
        if (kind !== 'idle') check(shade, base.background, 3);
      }
    }
    for (const change of changes) {
      check(changeText, change);
      check(base.hover, change, 3);
      check(change, base.background, 3);
    }
    for (const ground of [base.background, base.raised]) {
      check(base.text, ground);
      check(base.dim, ground);
      check(base.accent, ground, 3);
    }
    check(base.matchText, base.match);
    // The length of the selected time is written on the accent colour.
    check(base.background, base.accent);
    for (const tone of ['signpost', 'region', 'hang', 'risk']) check(base.laneText, tones[tone]);
    for (const tone of ['cpu', 'running', 'runnable', 'hang', 'risk']) check(tones[tone], base.background, tone === 'cpu' ? 2.5 : 2);
  }
});
