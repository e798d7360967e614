// Source lines, by weight, and within their file if the page contains its text.

import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { AnswerOf, SourceFile } from '../../host/protocol.ts';
import { type ReadingNotes, useAnswer, useApp, useStore } from '../app_context.ts';
import { Share, functionColumns, textColumn, titleOfWeight, weightColumns } from '../cells.tsx';
import { type Unit, inScale, percent, plainShare, scaleOf, ungrouped } from '../format.ts';
import { Choice, Notice, Panel, Pending, Select } from '../panel.tsx';
import { matchOf, useSearch } from '../search.tsx';
import { Table, type TableColumn } from '../table.tsx';

export function SourceView(): JSX.Element {
  const { answer, unit, isOld, fault } = useAnswer('view', { kind: 'lines' });
  const { names, opener, notes } = useApp();
  const { sources } = names.tables;
  const [mode, setMode] = useState<'files' | 'lines'>(sources.length > 0 ? 'files' : 'lines');
  const [path, setPath] = useState<string | null>(null);
  if (answer === null) return <Pending fault={fault} />;
  if (answer.files.length === 0) {
    const open = opener === null ? 'open the recording together with the dSYM of the app, and save the report again,' : 'drop the dSYM of the app';
    const how = notes === null ? '--dsym adds those from debug symbols, and --source adds the source text' : `${open} to add those from debug symbols`;
    return <Notice>No source lines are known. Some recordings contain them; {how}.</Notice>;
  }
  const file = answer.files.find((one) => one.path === path) ?? answer.files[0]!;
  const controls = (
    <>
      <Choice
        label="Source"
        value={mode}
        options={[
          { id: 'files', name: 'Files' },
          { id: 'lines', name: 'Heaviest lines' },
        ]}
        onChange={setMode}
      />
      {mode === 'files' && (
        <Select
          label="File"
          value={file.path}
          options={answer.files.map((one) => ({ value: one.path, name: `${one.path} · ${percent(one.self_weight, answer.total.weight)}` }))}
          onChange={setPath}
        />
      )}
    </>
  );
  return <Panel controls={controls}>{mode === 'files' ? <FileText answer={answer} unit={unit} file={file} isOld={isOld} /> : <Lines answer={answer} unit={unit} isOld={isOld} />}</Panel>;
}

function Lines({ answer, unit, isOld }: { answer: AnswerOf<'lines'>; unit: Unit; isOld: boolean }): JSX.Element {
  const app = useApp();
  const state = useStore();
  const search = useSearch();
  const labelOf = (row: number): number => answer.label[row]!;
  const placeOf = (row: number): string => {
    const path = answer.path[row];
    if (path == null) return '';
    const name = path.slice(path.lastIndexOf('/') + 1);
    return answer.line[row] === 0 ? name : `${name}:${answer.line[row]}`;
  };
  const columns = [
    ...weightColumns({ sums: answer.sums, total: answer.total.weight, unit }, 'self'),
    { ...textColumn('line', 'minmax(8rem, 1fr)', placeOf), isMinor: false },
    ...functionColumns(app.names, labelOf),
  ];
  return (
    <Table
      id="lines"
      label="Source lines"
      columns={columns}
      count={answer.label.length}
      isOld={isOld}
      target={(row) => ({ label: labelOf(row) })}
      isChosen={(row) => labelOf(row) === state.chosen}
      isMatch={matchOf(search, labelOf)}
      onChoose={(row) => app.store.set({ chosen: labelOf(row) })}
    />
  );
}

function withoutText(notes: ReadingNotes | null): string {
  if (notes === null) return 'This page does not contain the source text; --source adds it.';
  return 'This page does not read source files; reports that the command writes with --source contain them.';
}

/** The text of a file with the weights of its lines; if the text is missing, only the lines that have weights. */
function FileText({ answer, unit, file, isOld }: { answer: AnswerOf<'lines'>; unit: Unit; file: SourceFile; isOld: boolean }): JSX.Element {
  const app = useApp();
  const { sources } = app.names.tables;
  const source = sources.find(({ path }) => path === file.path);
  const rows = useMemo(() => {
    const known = new Map(Array.from(file.line, (line, row): [number, number] => [line, row]));
    if (source === undefined || !('text' in source)) return Array.from(file.line, (line, row) => ({ line, row, text: '' }));
    return source.text.split(/\r?\n/).map((text, index) => ({ line: index + 1, row: known.get(index + 1) ?? -1, text }));
  }, [file, source]);
  // The file opens at its heaviest line.
  const heaviest = Array.from(file.sums.self, (weight, row) => ({ weight, row })).reduce((best, one) => (one.weight > best.weight ? one : best)).row;
  const scale = scaleOf(answer.total.weight, unit);
  const total = answer.total.weight;
  const at = (place: number): number => rows[place]!.row;
  const weight = (place: number, values: ArrayLike<number | bigint>): string => (at(place) < 0 ? '' : inScale(values[at(place)]!, scale));
  const numbers = (id: string, values: ArrayLike<number | bigint>): TableColumn => ({
    id,
    title: `${titleOfWeight(id)} ${scale.unit}`,
    isNumber: true,
    isMinor: true,
    width: '6rem',
    cell: (place) => weight(place, values),
    text: (place) => ungrouped(weight(place, values)),
  });
  const missing = source === undefined ? withoutText(app.notes) : 'missing' in source ? source.missing : null;
  return (
    <>
      {missing !== null && <Notice>{missing}</Notice>}
      <Table
        key={file.path}
        id="source"
        label={`Lines of ${file.path}`}
        count={rows.length}
        isOld={isOld}
        hasOneOrder
        target={() => ({ label: null })}
        isChosen={(place) => at(place) === heaviest}
        columns={[
          {
            id: 'self-share',
            title: 'self %',
            isNumber: true,
            width: '5.6rem',
            cell: (place) => at(place) >= 0 && <Share part={file.sums.self[at(place)]!} total={total} />,
            text: (place) => (at(place) < 0 ? '' : plainShare(file.sums.self[at(place)]!, total)),
          },
          numbers('self', file.sums.self),
          numbers('all', file.sums.all),
          {
            id: 'line',
            title: 'line',
            isNumber: true,
            width: '4rem',
            cell: (place) => <code class="code dim">{rows[place]!.line}</code>,
            text: (place) => String(rows[place]!.line),
          },
          {
            id: 'text',
            title: file.path,
            width: 'minmax(12rem, 1fr)',
            cell: (place) => <code class="code">{rows[place]!.text}</code>,
            text: (place) => rows[place]!.text,
          },
        ]}
      />
    </>
  );
}
