// Writes what Node makes of our own compatibility corpus into the corpus itself:
//
//   node conformance/sandbox/record.mjs [FILE...]
//
// Each entry of testdata/compat/*.json is a body, the arguments it is called with,
// and under "node" what this script saw: a value, nothing (undefined), or the name
// and message of an error. Run it with the Node that bodies are written for, 20. What
// bodies are refused on purpose stands under "refused" instead: the sentence they get.
// "node24" is written by hand, after the specification, where Node 20 lacks a feature
// that bodies have.
import {readFileSync, readdirSync, writeFileSync} from 'node:fs';

process.env.TZ = 'UTC';
const folder = new URL('testdata/compat/', import.meta.url);
const files = process.argv.slice(2).length ? process.argv.slice(2) : readdirSync(folder).filter(f => f.endsWith('.json'));
const real = {log: console.log};
for (const method of Object.keys(console)) if (typeof console[method] === 'function') console[method] = () => {};

async function run({body, args = {}}) {
  try {
    let value = new Function(...Object.keys(args), body)(...Object.values(args));
    if (value && typeof value.then === 'function') value = await value;
    const text = JSON.stringify(value);
    return text === undefined ? {type: 'undefined'} : {type: 'value', value: JSON.parse(text)};
  } catch (e) {
    return {type: 'error', name: String(e?.name), message: String(e?.message)};
  }
}

for (const file of files) {
  const path = new URL(file, folder), entries = JSON.parse(readFileSync(path, 'utf8'));
  const lines = [];
  for (const entry of entries) {
    const {id, body, args, refused, node24} = entry;
    lines.push(JSON.stringify({id, body, args, refused, node: refused ? undefined : await run(entry), node24}));
  }
  writeFileSync(path, '[\n' + lines.join(',\n') + '\n]\n');
  real.log(file, lines.length);
}
