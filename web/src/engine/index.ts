// What the page uses of the engine.

export { PayloadError, RefusedError } from './error.ts';
export { type Exact, compareExact } from './exact.ts';
export type { RowSums } from './keyed.ts';
export { mainThreads, matchBinaries, matchProcesses, matchThreads } from './matcher.ts';
export { type Operation, ofName, ofPattern, operationText } from './operations.ts';
export { NO_STACK, ROOT } from './order.ts';
export { compilePattern, exactPattern } from './pattern.ts';
export { decodePayload, fromBase64, inflate, readPayload } from './payload.ts';
export { type Category, type Profile, binaryName, functionName } from './profile.ts';
export type { Selection } from './selection.ts';
export type { Amount, Effect, View } from './view.ts';
export { type BinaryRow, NO_BINARY, NO_STACK_NAME, binaries } from './views/binaries.ts';
export { type BottomUpNode, BottomUpTree } from './views/bottom_up.ts';
export { type CategoryRow, categories } from './views/categories.ts';
export { type CoreKind, cores } from './views/cores.ts';
export { type FlameChart, type Spans, flameChart, spansOf } from './views/flame_chart.ts';
export { type Boxes, type Frame, flameGraph } from './views/flame_graph.ts';
export { type FunctionRow, functions } from './views/functions.ts';
export { type LineRow, type SourceFile, lines, sourceFiles } from './views/lines.ts';
export { type Neighbour, type Sandwich, sandwich } from './views/sandwich.ts';
export { type StateRow, states } from './views/states.ts';
export { type ProcessRow, processes, threads } from './views/threads.ts';
export { type TimelineLine, density, roundBin, timeline } from './views/timeline.ts';
export { type TransitionRow, transitions } from './views/transitions.ts';
export { Texts } from './text.ts';
export { CallTree, type Part, type SeparateBy, type TreeNode, parts, treeOfPart } from './views/tree.ts';
export { Prepared, Workbench } from './workbench.ts';
