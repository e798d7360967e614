// The page from top to bottom.

import type { JSX } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { FleetDocument } from './document.ts';
import { Head } from './head.tsx';
import { PageContext, pageOf } from './page_context.ts';
import { sectionsOf } from './sections.tsx';

export function FleetPage({ document }: { document: FleetDocument }): JSX.Element {
  const isPrinted = useIsPrinted();
  const page = useMemo(() => pageOf(document, isPrinted), [document, isPrinted]);
  return (
    <PageContext.Provider value={page}>
      <Head />
      <main>
        {sectionsOf(page).map(({ id, Content }) => <section key={id} id={id}><Content /></section>)}
      </main>
      <footer>traceparse {page.words.version}</footer>
    </PageContext.Provider>
  );
}

/** Folded parts cannot be opened on paper. */
function useIsPrinted(): boolean {
  const [isPrinted, setPrinted] = useState(false);
  useEffect(() => {
    const listen = (event: string, value: boolean): void => addEventListener(event, () => setPrinted(value));
    listen('beforeprint', true);
    listen('afterprint', false);
  }, []);
  return isPrinted;
}
