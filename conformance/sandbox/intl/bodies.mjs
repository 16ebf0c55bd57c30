// Runs whole bodies in Node, each zone in a process of its own, and keeps what they
// give, or throw:
//   node conformance/sandbox/intl/bodies.mjs
// writes testdata/bodies.json.
import fs from 'node:fs'
import path from 'node:path'
import vm from 'node:vm'
import { execFileSync } from 'node:child_process'

const self = new URL(import.meta.url).pathname
const zones = ['UTC', 'America/New_York', 'Europe/Dublin', 'Asia/Kathmandu']
const now = Date.UTC(2024, 2, 10, 5, 6, 7, 89)

const bodies = [
  // Dates as text
  'return String(new Date(1.72e12))', 'return new Date(-1e13).toString()', 'return new Date(0).toTimeString()', 'return `${new Date(1.7e12)}`',
  'return new Date(-62198755200000).toISOString()', 'return JSON.stringify({d: new Date(-62198755200000)})', 'return new Date(8.64e15).toISOString()',
  'return new Date(-62167219200000).toISOString()', 'return new Date(-8.64e15).toISOString()', 'return new Date(NaN).toString()', 'return new Date(NaN).toISOString()',
  "return isNaN(new Date('2024-03-10T05:06:07,5Z'))", "return Date.parse('2024-03-10T05:06:07,5Z') + ''", "return new Date('2024-03-10T05:06:07.5Z').getTime()",
  "return new Date('March 7, 2024 10:00').getTime()", 'return Date.length + Date.name', 'return new Date(2024, 0, 31).getTime()', 'return new Date(new Date(5)).getTime()',
  'class D extends Date { twice() { return 2 * this.getTime() } } const d = new D(21); return [d.twice(), d instanceof D, d instanceof Date, d.constructor.name]',
  'return new Date(0).constructor === Date', 'return Object.prototype.toString.call(new Date(0))', 'return new Date(0) instanceof Date', 'return typeof Date()',
  'return Date.prototype.constructor === Date', 'return new Date(0).toDateString()', 'return new Date(0).toUTCString()', 'return [new Date(0)] + ""', 'return new Date(0).toJSON()',
  'return Reflect.construct(Date, [7]).getTime()', 'return Date.UTC(2024, 1)', 'return Object.keys(Date).length', 'const { parse } = Date; return parse("2024-01-01")',
  'return Date.prototype.toString.call({})', 'return Date.prototype.toISOString.call(5)', 'return new (Date.bind(null, 3))().getTime()',
  // Methods
  'return (1234567.891).toLocaleString()', "return (1234.5).toLocaleString('de-DE')", "return (0.256).toLocaleString('en-US', { style: 'percent' })", 'return 12345678901234567890n.toLocaleString()',
  "return 12345678901234567890n.toLocaleString('de')", "return (1e21).toLocaleString('fr')", "return new Number(5).toLocaleString()", "return Number.prototype.toLocaleString.call('5')",
  "return BigInt.prototype.toLocaleString.call(5)", 'return [1234.5, null, undefined, ["a", 2000], new Date(0)].toLocaleString("de")', 'const a = [1]; a.push(a); return a.toLocaleString()',
  'return new Float64Array([1234.5, 2]).toLocaleString()', 'return new Date(0).toLocaleString()', "return new Date(0).toLocaleDateString('de-DE')", "return new Date(0).toLocaleTimeString('en-GB')",
  "return new Date(0).toLocaleDateString('ja-JP', { dateStyle: 'full' })", "return new Date(0).toLocaleDateString('en', { timeStyle: 'short' })", "return new Date(0).toLocaleTimeString('en', { dateStyle: 'short' })",
  "return new Date(0).toLocaleTimeString('en', { hour: '2-digit' })", "return new Date(0).toLocaleDateString('sv-SE')", "return new Date(NaN).toLocaleString()", "return new Date(0).toLocaleString('en-US', { timeZone: 'Asia/Tokyo' })",
  "return new Date(0).toLocaleString('en-US', { timeZoneName: 'short' })", "return new Date(0).toLocaleString('en-US', { timeZone: 'Nowhere/Land' })", "return new Date(0).toLocaleDateString('en_US')",
  "return new Date(0).toLocaleDateString(undefined, { month: 'long', day: 'numeric' })", "return new Date(0).toLocaleDateString([], { weekday: 'long' })", "return new Date(0).toLocaleString(['xx', 'de'])",
  "return new Date(0).toLocaleString('en', null)", "return (5).toLocaleString('en', null)", "return Date.prototype.toLocaleString.call({})", "return 'a'.localeCompare('B')", "return 'ä'.localeCompare('z', 'de')",
  "return 'ä'.localeCompare('z', 'sv')", "return 'a'.localeCompare('A', undefined, { sensitivity: 'base' })", "return ['10', '9', '1', 'a2', 'a10'].sort((a, b) => a.localeCompare(b, undefined, { numeric: true }))",
  "return ['Z', 'a', 'z', 'ä', 'A'].sort((a, b) => a.localeCompare(b, 'de', { caseFirst: 'upper' }))", "return 'a'.localeCompare('b', 'xx_y')", "return 'a'.localeCompare('b', 'en', { sensitivity: 'x' })",
  "return String.prototype.localeCompare.call(null, 'a')", "return 'istanbul'.toLocaleUpperCase('tr')", "return 'ISTANBUL İ'.toLocaleLowerCase('tr-TR')", "return 'I'.toLocaleLowerCase('en')", "return 'straße'.toLocaleUpperCase()",
  "return 'i'.toLocaleUpperCase(['az', 'en'])", "return 'a'.toLocaleUpperCase('e_')", "return 'a'.toLocaleUpperCase(null)", "return 'a'.toLocaleUpperCase(5)",
  // Intl
  'return typeof Intl', 'return String(Intl)', "return Object.prototype.toString.call(new Intl.NumberFormat())", 'return Intl.NumberFormat.name + Intl.NumberFormat.length', 'return Object.keys(Intl).length',
  'return Intl.NumberFormat("de").format(1234.5)', 'return new Intl.NumberFormat("de") instanceof Intl.NumberFormat', 'return Intl.NumberFormat("de") instanceof Intl.NumberFormat', 'return Intl.PluralRules("en")', 'return Intl.ListFormat("en")',
  'return [1, 2000].map(new Intl.NumberFormat("en").format)', 'const f = new Intl.NumberFormat("en"); return f.format === f.format', "return new Intl.NumberFormat('en').format('1234567890123456789.12')", "return new Intl.NumberFormat('en').format('abc')",
  'return new Intl.NumberFormat("en").format(Symbol())', 'return new Intl.NumberFormat("en").format(null)', 'return new Intl.NumberFormat("en").format(true)', 'return new Intl.NumberFormat("en").format()', 'return new Intl.NumberFormat("en").format([5])',
  'return new Intl.NumberFormat("en").format({ valueOf: () => 12345 })', 'return new Intl.NumberFormat("en").format(-0)', 'return Intl.NumberFormat.prototype.formatToParts.call({}, 1)', 'return new Intl.NumberFormat(5).resolvedOptions().locale',
  'return new Intl.NumberFormat([5])', 'return new Intl.NumberFormat(null)', 'return new Intl.NumberFormat("en", null)', 'return new Intl.NumberFormat("en", 5).format(1)', 'return new Intl.NumberFormat("en", { style: "currency" })',
  'return new Intl.NumberFormat("en", { get style() { throw new TypeError("mine") } })', 'return new Intl.NumberFormat("en", { style: { toString: () => "percent" } }).format(0.5)', 'return new Intl.NumberFormat("en", { maximumFractionDigits: "1" }).format(1.25)',
  'return new Intl.NumberFormat("en", { maximumFractionDigits: null }).format(1.25)', 'return new Intl.NumberFormat("en", { useGrouping: 0 }).format(12345)', 'return new Intl.NumberFormat("en", { useGrouping: null }).format(12345)', 'return new Intl.NumberFormat("en", { useGrouping: "" }).format(12345)',
  'class F extends Intl.NumberFormat { twice(n) { return this.format(2 * n) } } const f = new F("de"); return [f.twice(600), f instanceof F]', 'return new Intl.NumberFormat("en").formatToParts(1234.5)', 'return Object.getOwnPropertyNames(new Intl.NumberFormat("en")).length',
  'return new Intl.DateTimeFormat("en").format(0)', 'return new Intl.DateTimeFormat("en", { dateStyle: "long", timeStyle: "long" }).format(new Date(0))', 'return new Intl.DateTimeFormat("en").format(NaN)',
  'return new Intl.DateTimeFormat().resolvedOptions().timeZone', 'return Intl.DateTimeFormat().resolvedOptions()', 'return [0, 1e12].map(Intl.DateTimeFormat("de").format)', 'return new Intl.DateTimeFormat("en").formatToParts(0)', 'return new Intl.DateTimeFormat("en", { timeZone: "utc" }).resolvedOptions().timeZone',
  'return new Intl.DateTimeFormat("en", { timeZone: "Asia/Kolkata" }).resolvedOptions().timeZone', 'return new Intl.DateTimeFormat("en", { dateStyle: "full", year: "numeric" })', 'return new Intl.DateTimeFormat("en-u-hc-h23", { hour: "numeric" }).resolvedOptions()', 'return new Intl.DateTimeFormat("en", { hour: "numeric", hour12: 0 }).format(0)',
  'return new Intl.PluralRules("en").select(1)', 'return new Intl.PluralRules("en", { type: "ordinal" }).select("22")', 'return new Intl.PluralRules("fr").select(1n)', 'return new Intl.RelativeTimeFormat("en", { numeric: "auto" }).format(-1, "day")', 'return new Intl.RelativeTimeFormat("de").format("3", "weeks")',
  'return new Intl.RelativeTimeFormat("en").formatToParts(-10, "day")', 'return new Intl.RelativeTimeFormat("en").format(1, "foo")', 'return new Intl.RelativeTimeFormat("en").format(Infinity, "day")', 'return new Intl.ListFormat("en").format(["a", "b", "c"])', 'return new Intl.ListFormat("en", { type: "disjunction" }).formatToParts(new Set(["a", "b"]))',
  'return new Intl.ListFormat("en").format([1])', 'return new Intl.ListFormat("en").format("abc")', 'return new Intl.ListFormat("en").format()', 'return new Intl.ListFormat("en").format(5)', 'return new Intl.ListFormat("en", null)', 'return new Intl.ListFormat("en", 5)', 'return ["b", "a", "C"].sort(new Intl.Collator("en").compare)',
  'return ["b", "a", "C"].sort(Intl.Collator("en", { caseFirst: "upper" }).compare)', 'const c = new Intl.Collator(); return c.compare === c.compare', 'return new Intl.Collator("en", null)', 'return new Intl.Collator("de").resolvedOptions()', 'return Intl.Collator.supportedLocalesOf(["en", "xx", "de-DE"])', 'return Intl.getCanonicalLocales(["EN-us", "de"])',
  'return Intl.getCanonicalLocales([5])', 'return Intl.getCanonicalLocales()', 'return Intl.supportedValuesOf("x")', 'return Intl.supportedValuesOf("unit").length', 'return Intl.supportedValuesOf("currency").length', 'return Intl.supportedValuesOf("timeZone").length', 'return Object.getOwnPropertyDescriptor(Intl.NumberFormat.prototype, "format").set',
  'return typeof Object.getOwnPropertyDescriptor(Intl.NumberFormat.prototype, "format").get', 'return Intl.NumberFormat.prototype[Symbol.toStringTag]', 'return Intl.DateTimeFormat.prototype.constructor === Intl.DateTimeFormat', 'Intl = 5; return Intl', 'Intl.NumberFormat = 5; return Intl.NumberFormat', 'return "Intl" in globalThis', 'return Object.keys(globalThis).includes("Intl")',
  "Object.prototype.style = 'percent'; return (0.5).toLocaleString('en', {})", "Object.prototype.style = 'percent'; return (0.5).toLocaleString('en')", "Array.prototype[Symbol.iterator] = null; return (1234.5).toLocaleString(['de'])",
]

// Each body has a realm of its own, since it may poison it, and the same clock.
const prelude = `const D = Date; globalThis.Date = new Proxy(D, {
    construct: (t, a, n) => Reflect.construct(t, a.length ? a : [${now}], n), apply: () => new D(${now}).toString() })
  Object.defineProperty(D.prototype, 'constructor', { value: Date, enumerable: false })
  const { stringify } = JSON`

function run() {
  return bodies.map(body => {
    const out = vm.runInNewContext(`(() => { ${prelude}
      let out
      try { out = { value: new Function(${JSON.stringify(body)})() ?? null } } catch (e) { out = { error: e.name + ': ' + e.message } }
      delete Object.prototype.style
      return stringify(out) })()`)
    return { body, zone: process.env.TZ, ...JSON.parse(out) }
  })
}

if (process.argv[2] === 'run') {
  console.log(JSON.stringify(run()))
} else {
  const out = zones.flatMap((TZ, i) => {
    const all = JSON.parse(execFileSync(process.execPath, [self, 'run'], { encoding: 'utf8', env: { ...process.env, TZ } }))
    return all.filter(c => i === 0 || /Date/.test(c.body)) // only these depend on the zone
  })
  const list = out.map(c => JSON.stringify(c)).join(',\n')
  fs.writeFileSync(path.join(path.dirname(self), 'testdata', 'bodies.json'), `[\n${list}\n]\n`)
  console.log(out.length, 'bodies')
}
