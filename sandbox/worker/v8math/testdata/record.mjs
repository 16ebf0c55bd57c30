// Writes what Node's Math gives for edges and for numbers by chance:
//
//   node sandbox/worker/v8math/testdata/record.mjs [FOLDER]
//
// testdata/edges.txt.gz has a line for each call, its arguments and its result as the
// hexadecimal bits of a double. testdata/chance.json has the SHA-256 of the results, in
// the order of the calls, of many numbers by chance of many kinds; the test makes the
// same numbers. Where a digest differs, a FOLDER gets all results, in one file for each
// function and kind, for go test -results FOLDER to say which. Run it with Node 20 on
// x86: others differ.
import {createHash} from 'node:crypto';
import {writeFileSync} from 'node:fs';
import {gzipSync} from 'node:zlib';

const count = 20000;
const one = 'acos acosh asin asinh atan atanh cbrt cos cosh exp expm1 log log10 log1p log2 sin sinh tan tanh'.split(' ');
const two = 'atan2 hypot pow'.split(' ');

// Marsaglia's xorshift with 128 bits, the same in the test.
function chance() {
  let x = 123456789, y = 362436069, z = 521288629, w = 88675123;
  return () => {
    const t = x ^ x << 11;
    x = y, y = z, z = w;
    w = (w ^ w >>> 19 ^ t ^ t >>> 8) | 0;
    return w >>> 0;
  };
}

const view = new DataView(new ArrayBuffer(8));
function fromBits(high, low) {
  view.setUint32(0, high), view.setUint32(4, low);
  return view.getFloat64(0);
}

// Each kind makes a number of two words by chance, by operations that are exact or
// rounded once.
const kinds = {
  bits: (a, b) => fromBits(a, b),
  money: a => (a | 0) / 100,
  percent: a => 1 + a % 20000 / 10000,
  rate: a => 1 + a % 1000 / 1200000,
  degrees: a => a % 72001 * Math.PI / 18000,
  small: a => a % 201 - 100,
  whole: (a, b) => (a >>> 11) * 4294967296 + b,
  unit: (a, b) => ((a >>> 11) * 4294967296 + b) / 4503599627370496 - 1,
  near: (a, b) => (((a >>> 11) * 4294967296 + b) / 4503599627370496 - 1) * 20,
  far: (a, b) => (((a >>> 11) * 4294967296 + b) / 4503599627370496 - 1) * 760,
  one: (a, b) => 1 + ((a | 0) / 4294967296) / 2 ** (b % 50),
  tiny: (a, b) => fromBits(a & 0x800fffff | 0x38000000 + (a >>> 20 & 0x7f) * 0x00100000, b),
  scale: (a, b) => fromBits(a & 0x800fffff | 0x3c000000 + (a >>> 20 & 0x7f) * 0x00100000, b),
};
// What the second argument of a power is, where the first is of a kind.
const second = {money: 'small', percent: 'small', rate: 'small', degrees: 'near', small: 'small', whole: 'unit', unit: 'near', near: 'near', far: 'unit', one: 'whole', tiny: 'unit', scale: 'near', bits: 'scale'};

const edges = [0, 5e-324, 1e-310, 2.2250738585072014e-308, 1e-300, 2 ** -60, 2 ** -54, 2 ** -28, 2 ** -27, 1e-5, 0.01, 0.1, 0.125, 0.126, 0.25, 0.3, 1 / 3,
  0.4375, 0.5, 0.6744, Math.SQRT1_2, 0.75, 0.855469, 0.975, 0.99, 1 - 2 ** -53, 1, 1 + 2 ** -52, 1.01, 1.1875, 1.5, 1.1, 2, 2.4375, 2.5, Math.E, 3, 5, 7, 10, 12, 22, 36, 37, 56,
  90, 99, 100, 180, 360, 365, 709, 709.782712893384, 709.7827128933841, 710.4758600739439, 710.47586007394398, 745.1332191019411, 745.2, 1000, 1024, 1074, 1075, 1e5, 823549.6, 823550, 105414350, 105414360,
  2 ** 28, 2 ** 31, 2 ** 31 + 1, 2 ** 32, 1e10, 2 ** 53 - 1, 2 ** 53, 2 ** 54, 2 ** 63, 2 ** 64, 1e22, 1e100, 1e300, 1.7976931348623157e308, Infinity];
for (let i = 1; i <= 16; i++) edges.push(i * Math.PI / 4, i * Math.PI / 6);
for (let i = 1; i <= 30; i++) edges.push(10 ** i, 10 ** -i);
// Near multiples of half of pi, where reduction loses most.
edges.push(6381956970095103 * 2 ** 797, 5.319372648326541e+255, 1e22, 22, 355, 103993, 833719, 5419351, 42781604, 657408909, 6134899525417045);

const bits = x => {
  view.setFloat64(0, Number.isNaN(x) ? NaN : x);
  return view.getBigUint64(0).toString(16).padStart(16, '0');
};
const all = [...new Set(edges.flatMap(x => [x, -x]).map(bits)), bits(NaN)].map(b => fromBits(parseInt(b.slice(0, 8), 16), parseInt(b.slice(8), 16)));
const lines = [];
for (const f of one) for (const x of all) lines.push([f, bits(x), '-', bits(Math[f](x))].join(' '));
const few = [...new Set([0, 5e-324, 1e-300, 0.1, 0.5, 1 - 2 ** -53, 1, 1 + 2 ** -52, 1.05, 1.5, 2, 3, 10, 1000, 1074, 1075, 2 ** 33, 2 ** 53 - 1, 2 ** 53, 2 ** 65, 1e300, Infinity].flatMap(x => [x, -x]).map(bits)), bits(NaN)]
  .map(b => fromBits(parseInt(b.slice(0, 8), 16), parseInt(b.slice(8), 16)));
for (const f of two) for (const x of few) for (const y of few) lines.push([f, bits(x), bits(y), bits(Math[f](x, y))].join(' '));
const home = new URL('./', import.meta.url);
writeFileSync(new URL('edges.txt.gz', home), gzipSync(lines.join('\n') + '\n', {level: 9}));

const digests = {};
for (const f of [...one, ...two]) {
  digests[f] = {};
  for (const kind in kinds) {
    const next = chance(), results = Buffer.alloc(8 * count);
    for (let i = 0; i < count; i++) {
      const [a, b, c, d] = [next(), next(), next(), next()];
      const x = kinds[kind](a, b), y = kinds[f === 'pow' ? second[kind] : kind](c, d);
      const r = one.includes(f) ? Math[f](x) : Math[f](x, y);
      results.writeDoubleLE(Number.isNaN(r) ? NaN : r, 8 * i);
    }
    digests[f][kind] = createHash('sha256').update(results).digest('hex');
    if (process.argv[2]) writeFileSync(`${process.argv[2]}/${f}.${kind}`, results);
  }
}
writeFileSync(new URL('chance.json', home), JSON.stringify(digests, null, 1) + '\n');
