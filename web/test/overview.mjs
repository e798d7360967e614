// Compares the engine's overview with the command's: shares of owners, the heaviest functions with threads, callers and triggers, and the
// reasons for which main threads wait.
//
//   node test/overview.mjs [FILE …]
//
// Without files, the test uses all fixtures, and real recordings if `TRACEPARSE_CORPUS` is set.

import assert from 'node:assert/strict';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, jsonOf, loadEngine, pageOf, payloadOf } from './command.mjs';

const engine = await loadEngine();
const files = process.argv.length > 2 ? process.argv.slice(2) : [...fixtures(), ...corpus()];
let [series, answers, failed] = [0, 0, 0];
for (const file of files) {
  const { page } = await pageOf([file]);
  if (page === undefined) continue;
  const profile = await engine.decodePayload(payloadOf(page));
  for (const states of ['running', 'all']) {
    try {
      await compare(profile, file, states);
    } catch (error) {
      failed += 1;
      console.log(`${file}, ${states} states: ${error.message}`);
    }
  }
}
console.log(`${series} series and ${answers} functions of ${files.length} files compared, ${failed} failed`);
if (answers === 0) failed += 1;
process.exitCode = failed > 0 ? 1 : 0;

async function compare(profile, file, states) {
  const { json, error } = await jsonOf([file], ['--view', 'overview', ...(states === 'all' ? ['--state', 'all'] : [])]);
  assert.equal(error, undefined);
  for (const told of json.overview) {
    const view = new engine.Workbench(profile).view({ states });
    const found = engine.overview(view, told.series, told.answers.length);
    const { no_stack: noStack, ...shares } = told.shares;
    assert.deepEqual(found.shares, { ...shares, noStack });
    assert.equal(found.answersIn, told.answers_in);
    assert.deepEqual(found.answers.map((answer) => written(profile, answer, found.answersIn)), told.answers.map((answer) => expected(answer, told.answers_in)));
    assert.deepEqual(found.wait === null ? null : writtenWait(profile, found.wait), told.wait === null ? null : expectedWait(told.wait));
    series += 1;
    answers += told.answers.length;
  }
}

function written(profile, answer, answersIn) {
  const name = (id) => engine.functionName(profile, id);
  const thread = profile.threads[answer.thread];
  return {
    function: name(answer.label),
    binary: engine.binaryName(profile, answer.label),
    weight: answer.weight,
    samples: answer.samples,
    thread: [thread.name, thread.tid, answer.onThread.weight, answer.onThread.samples],
    // Callers are shown only for functions in the user's code.
    ...(answersIn === 'own' ? { callers: answer.callers.map(name), origin: answer.origin } : {}),
  };
}

function expected(answer, answersIn) {
  const { function: name, binary, weight, samples, heaviest_thread: on, callers, origin } = answer;
  const thread = [on.thread, on.tid, on.all_weight, on.samples];
  return { function: name, binary, weight, samples, thread, ...(answersIn === 'own' ? { callers, origin } : {}) };
}

function writtenWait(profile, wait) {
  const name = (id) => (id === null ? null : engine.functionName(profile, id));
  return { tid: profile.threads[wait.thread].tid, function: name(wait.label), samples: wait.samples, waiting: wait.waiting, asked_by: name(wait.askedBy) };
}

function expectedWait(wait) {
  return {
    tid: wait.thread.tid,
    function: wait.function,
    samples: wait.thread.samples,
    waiting: wait.waiting.samples,
    asked_by: wait.asked_by,
  };
}

function fixtures() {
  const found = readdirSync(join(ROOT, 'fixtures'), { recursive: true }).map((path) => join(ROOT, 'fixtures', path));
  return found.filter((path) => /input\.xml$|demo\.sample\.txt$/.test(path)).sort();
}

function corpus() {
  const folder = process.env.TRACEPARSE_CORPUS;
  if (folder === undefined || !existsSync(folder)) return [];
  const found = ['xctrace', 'other/sample', 'inputs/sample'].flatMap((name) => {
    const at = join(folder, name);
    return existsSync(at) ? readdirSync(at, { recursive: true }).map((path) => join(at, path)) : [];
  });
  return found.filter((path) => /\.(xml|zip|txt)$/.test(path) && statSync(path).isFile()).sort();
}
