// Opens another recording in the app.

import type { JSX } from 'preact';
import type { Opener } from './app_context.ts';
import { type Item, MenuButton } from './menu_box.tsx';

export function OpenerMenu({ opener }: { opener: Opener }): JSX.Element {
  const items: Item[] = [{ id: 'open-files', name: 'Choose files', tells: 'A recording, or symbols for this one', run: () => opener.choose('files') }];
  if (opener.canChooseFolders) items.push({ id: 'open-folder', name: 'Choose a folder', tells: 'A .trace folder, or a folder with symbols', run: () => opener.choose('folder') });
  if (opener.swap !== null) items.push({ id: 'swap', name: 'Swap before and after', run: opener.swap });
  return <MenuButton part="open" name="Open" title="Open another recording, or add symbols" groups={() => [items]} />;
}
