// Writes cases.json: patterns and texts made by chance, always the same ones, and
// what the engine that runs this script finds in them.
//
//   node sandbox/worker/regex/testdata/record.mjs [COUNT [SEED]]
import {writeFileSync} from 'node:fs';

let state = Number(process.argv[3] ?? 1);
const chance = n => {
  state = state + 0x6D2B79F5 | 0;
  let t = Math.imul(state ^ state >>> 15, 1 | state);
  t = t + Math.imul(t ^ t >>> 7, 61 | t) ^ t;
  return ((t ^ t >>> 14) >>> 0) % n;
};
const pick = list => list[chance(list.length)];

const chars = ['a', 'b', 'c', 'A', 'B', 'k', 's', 'K', 'ſ', 'ß', 'é', 'É', '1', '-', ' ', '\n', '\r', '\u2028', '😀', '\ud83d', '_', 'Σ', 'ς', 'σ'];
const text = () => Array.from({length: chance(9)}, () => pick(chars)).join('');
const letters = ['a', 'b', 'c', 'k', 's', 'é', 'σ', '1', '😀'];

function atom(depth, u, v) {
  const list = [
    () => pick(letters), () => pick(letters), () => pick(letters), () => '.', () => '\\w', () => '\\W', () => '\\s', () => '\\d', () => '\\D',
    () => `[${pick(letters)}${pick(letters)}]`, () => `[^${pick(letters)}]`, () => `[${pick(['a-c', 'A-Z', 'k-s', '\\w', '\\s1', '\\W'])}]`,
    () => `[^${pick(['a-c', 'A-Z', 'k-s', '\\w', '\\d'])}]`,
    () => '\\b', () => '\\B', () => '^', () => '$', () => `\\${1 + chance(3)}`,
    () => u || v ? pick(['\\p{L}', '\\P{L}', '\\p{Lu}', '\\P{Lu}', '\\p{Ll}', '\\p{Script=Greek}', '\\p{Emoji}', '\\u{1F600}', '\\p{ASCII}']) : pick(['\\x61', '\\u0061', '\\cJ', '\\07', ']', '{', '\\c', '\\k']),
    () => v ? pick(['[\\w--[a-b]]', '[\\p{L}&&[a-z]]', '[^\\p{Lu}]', '[\\q{ab|c|}k]', '[[a-k]--[b]]', '[^[a-c]1]', '[\\p{L}--\\p{Ll}]']) : 'b',
  ];
  if (depth > 0) {
    const inner = () => pattern(depth - 1, u, v);
    list.push(() => `(${inner()})`, () => `(${inner()})`, () => `(?:${inner()})`, () => `(?=${inner()})`, () => `(?!${inner()})`,
      () => `(?<=${inner()})`, () => `(?<!${inner()})`, () => `(${inner()})`);
  }
  return pick(list)();
}
function pattern(depth, u, v) {
  const alternatives = Array.from({length: 1 + (chance(4) === 0)}, () =>
    Array.from({length: 1 + chance(3)}, () => {
      const a = atom(depth, u, v);
      return a + pick(['', '', '', '*', '+', '?', '*?', '+?', '??', '{2}', '{1,2}', '{0,2}?', '{1,}']);
    }).join(''));
  return alternatives.join('|');
}

const units = s => Array.from({length: s.length}, (_, i) => s.charCodeAt(i));
const cases = [];
const count = Number(process.argv[2] ?? 800);
while (cases.length < count) {
  const mode = chance(4), flags = ['', '', 'u', 'v'][mode] + (chance(3) === 0 ? 'i' : '') + (chance(4) === 0 ? 'm' : '') + (chance(4) === 0 ? 's' : '');
  const source = pattern(2, mode === 2, mode === 3), input = text();
  const c = {source: units(source), flags, input: units(input)};
  try {
    const m = new RegExp(source, flags + 'd').exec(input);
    c.slots = m && m.indices.map(p => p ?? [-1, -1]).flat();
  } catch (e) {
    if (chance(8)) continue; // most of the refused ones are alike
    c.error = e.message.slice(e.message.lastIndexOf(': ') + 2);
  }
  cases.push(c);
}
writeFileSync(new URL(process.env.CASES ?? 'cases.json', import.meta.url), '[\n' + cases.map(c => JSON.stringify(c)).join(',\n') + '\n]\n');
