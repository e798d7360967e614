// Exports that tests make.

/** An export with one sample for each address of a binary. */
export function exportOf(uuid, addresses) {
  const binary = `<binary id="9" name="App" UUID="${uuid}" arch="arm64" load-addr="0x100000000" path="/App"/>`;
  const column = (name) => `<col><mnemonic>${name}</mnemonic></col>`;
  const rows = addresses.map((address, at) => {
    const [number, at0x] = [100 + 4 * at, `0x${(0x100000000 + address).toString(16)}`];
    const frame = `<frame id="${number + 2}" name="${at0x}" addr="${at0x}">${at === 0 ? binary : '<binary ref="9"/>'}</frame>`;
    return `<row><sample-time id="${number}">${1e6 * at}</sample-time><weight id="${number + 1}">1000000</weight><backtrace id="${number + 3}">${frame}</backtrace></row>`;
  });
  const schema = `<schema name="time-profile">${['time', 'weight', 'stack'].map(column).join('')}</schema>`;
  return `<?xml version="1.0"?>\n<trace-query-result>\n<node xpath='//trace-toc[1]/run[1]/data[1]/table[1]'>${schema}${rows.join('\n')}</node></trace-query-result>\n`;
}
