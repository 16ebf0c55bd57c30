// Asks Node for the answers that the tests compare with:
//   node conformance/sandbox/intl/cases.mjs
// writes testdata/*.json, one case a line: what is made, for which locale, with which
// options, what it is asked, and the answer or the error.
import fs from 'node:fs'
import path from 'node:path'

const folder = path.join(path.dirname(new URL(import.meta.url).pathname), 'testdata')
const locales = ['en-US', 'en-GB', 'de-DE', 'fr-FR', 'es-ES', 'ja-JP']
const more = ['en', 'en-AU', 'en-CA', 'en-IE', 'en-IN', 'en-NZ', 'de', 'de-AT', 'de-CH', 'fr', 'fr-BE', 'fr-CA', 'fr-CH',
  'es', 'es-AR', 'es-CO', 'es-MX', 'es-US', 'ja', 'it', 'it-IT', 'nl', 'nl-NL', 'nl-BE', 'pt', 'pt-BR', 'pt-PT', 'sv', 'sv-SE']

// A small generator of numbers, so that the cases are the same each time.
let state = 12345
function random(n) {
  state = (state * 1103515245 + 12345) % 2147483648
  return Math.floor(state / 2147483648 * n)
}
const pick = list => list[random(list.length)]

function answer(ask) {
  try { return { want: ask() } } catch (e) { return { error: `${e.name}: ${e.message}` } }
}

// numbers cross as text, since JSON has no NaN, no -0 and no BigInt.
const shown = n => Object.is(n, -0) ? '-0' : String(n)

const values = [0, -0, 1, -1, 2, 5, 0.5, 0.055, -0.4, 1.005, 12.3456, 99.995, 123.456, 999, 999.5, 1000, 1234.5, 9999, -1234.567,
  9999.99, 12345, 99999, 999999, 1234567.891, 1e6, 2.5e6, 1.5e9, 12345678901, 1e12, 1.23e15, 1e21, 1e-7, 0.000123, NaN, Infinity, -Infinity,
  123456789012345680000n, 9007199254740993n]

function number(locale, options, list) {
  for (const value of list) {
    const made = () => new Intl.NumberFormat(locale, options)
    add('number', { locale, options, value: shown(value), big: typeof value === 'bigint' || undefined,
      ...answer(() => [made().format(value), compactParts(made().formatToParts(value))]) })
  }
  add('number', { locale, options, resolved: true, ...answer(() => new Intl.NumberFormat(locale, options).resolvedOptions()) })
}

const compactParts = parts => parts.map(p => `${p.type}${p.unit ? '/' + p.unit : ''}=${p.value}`).join('|')

const numberOptions = [
  {}, { style: 'percent' }, { style: 'percent', maximumFractionDigits: 1 }, { style: 'percent', minimumFractionDigits: 2 },
  ...['USD', 'EUR', 'JPY', 'GBP', 'CHF', 'CAD', 'KWD', 'INR', 'BTC'].map(currency => ({ style: 'currency', currency })),
  ...['code', 'name', 'narrowSymbol'].map(currencyDisplay => ({ style: 'currency', currency: 'USD', currencyDisplay })),
  { style: 'currency', currency: 'EUR', currencyDisplay: 'name' }, { style: 'currency', currency: 'CAD', currencyDisplay: 'narrowSymbol' },
  { style: 'currency', currency: 'EUR', currencySign: 'accounting' }, { style: 'currency', currency: 'USD', currencySign: 'accounting', signDisplay: 'exceptZero' },
  { style: 'currency', currency: 'USD', currencySign: 'accounting', currencyDisplay: 'code' }, { style: 'currency', currency: 'EUR', minimumFractionDigits: 0 },
  { style: 'currency', currency: 'USD', notation: 'compact' }, { style: 'currency', currency: 'EUR', notation: 'compact', compactDisplay: 'long' },
  { style: 'currency', currency: 'USD', maximumFractionDigits: 0 }, { style: 'currency', currency: 'EUR', currencyDisplay: 'code', signDisplay: 'always' },
  ...['kilometer', 'liter', 'celsius', 'byte', 'megabyte', 'day', 'hour', 'percent', 'kilometer-per-hour', 'liter-per-kilometer', 'mile-per-gallon', 'meter-per-second', 'byte-per-second']
    .flatMap(unit => ['short', 'long', 'narrow'].map(unitDisplay => ({ style: 'unit', unit, unitDisplay }))),
  { style: 'unit', unit: 'kilobyte', notation: 'compact' },
  { notation: 'compact' }, { notation: 'compact', compactDisplay: 'long' }, { notation: 'scientific' }, { notation: 'engineering' },
  { notation: 'compact', maximumFractionDigits: 1 }, { notation: 'compact', minimumFractionDigits: 1 }, { notation: 'compact', maximumSignificantDigits: 3 },
  { notation: 'scientific', maximumFractionDigits: 2 }, { notation: 'engineering', minimumFractionDigits: 1, maximumFractionDigits: 1 },
  { notation: 'compact', style: 'percent' }, { notation: 'compact', useGrouping: true },
  { minimumFractionDigits: 2 }, { maximumFractionDigits: 0 }, { minimumFractionDigits: 2, maximumFractionDigits: 2 }, { maximumFractionDigits: 20 },
  { minimumSignificantDigits: 3 }, { maximumSignificantDigits: 3 }, { minimumSignificantDigits: 2, maximumSignificantDigits: 5 }, { minimumIntegerDigits: 4 },
  { minimumIntegerDigits: 2, minimumFractionDigits: 1 },
  { useGrouping: false }, { useGrouping: true }, { useGrouping: 'always' }, { useGrouping: 'min2' }, { useGrouping: 'auto' }, { useGrouping: 'true' },
  ...['auto', 'never', 'always', 'exceptZero', 'negative'].map(signDisplay => ({ signDisplay })),
  { signDisplay: 'always', style: 'percent' }, { signDisplay: 'exceptZero', notation: 'compact' },
  ...['ceil', 'floor', 'expand', 'trunc', 'halfCeil', 'halfFloor', 'halfExpand', 'halfTrunc', 'halfEven'].map(roundingMode => ({ roundingMode, maximumFractionDigits: 1 })),
  { roundingIncrement: 5, minimumFractionDigits: 2, maximumFractionDigits: 2 }, { roundingIncrement: 25, maximumFractionDigits: 0, minimumFractionDigits: 0 },
  { trailingZeroDisplay: 'stripIfInteger', minimumFractionDigits: 2 }, { roundingPriority: 'morePrecision', maximumFractionDigits: 1, maximumSignificantDigits: 3 },
  { roundingPriority: 'lessPrecision', maximumFractionDigits: 1, maximumSignificantDigits: 3 }, { numberingSystem: 'latn' },
]

const badNumberOptions = [{ style: 'foo' }, { style: 'currency' }, { style: 'currency', currency: 'US' }, { style: 'unit' }, { style: 'unit', unit: 'foo' },
  { minimumFractionDigits: 101 }, { minimumFractionDigits: 5, maximumFractionDigits: 2 }, { maximumSignificantDigits: 0 }, { minimumIntegerDigits: 0 },
  { notation: 'x' }, { compactDisplay: 'x' }, { signDisplay: 'x' }, { useGrouping: 'x' }, { currencyDisplay: 'x' }, { roundingMode: 'x' }, { unitDisplay: 'x' },
  { roundingIncrement: 3 }, { roundingIncrement: 5 }, { minimumSignificantDigits: 5, maximumSignificantDigits: 2 }, { localeMatcher: 'x' }]

const instants = [Date.UTC(2024, 0, 31, 15, 4, 5, 678), Date.UTC(2021, 2, 5, 7, 8, 9, 45), Date.UTC(1999, 11, 31, 23, 59, 59, 999), Date.UTC(2024, 6, 4, 0, 0, 0),
  Date.UTC(2023, 8, 15, 12, 0, 0), Date.UTC(2024, 1, 29, 12, 30, 0, 5), 0, Date.UTC(-43, 2, 15, 6, 0), Date.UTC(2025, 4, 12, 21, 45, 30)]

const zonesOfCases = ['UTC', 'America/New_York', 'Europe/Berlin', 'Europe/London', 'Asia/Tokyo', 'America/Los_Angeles', 'Asia/Kolkata', 'Europe/Madrid', 'Europe/Paris',
  'Australia/Sydney', 'Europe/Dublin', 'America/Sao_Paulo', 'Asia/Kathmandu', 'Etc/UTC', 'Asia/Shanghai', 'america/chicago', 'GMT', 'Africa/Johannesburg', 'Pacific/Auckland']

function date(locale, options, value) {
  if (locale === 'de-CH') delete options.era // some of them end this Node's process
  const made = () => new Intl.DateTimeFormat(locale, { timeZone: 'UTC', ...options })
  add('date', { locale, options: { timeZone: 'UTC', ...options }, value: shown(value),
    ...answer(() => [made().format(value), compactParts(made().formatToParts(value))]) })
}

const dateOptions = [
  {}, ...['full', 'long', 'medium', 'short'].flatMap(dateStyle => [{ dateStyle }, ...['full', 'long', 'medium', 'short'].map(timeStyle => ({ dateStyle, timeStyle }))]),
  ...['full', 'long', 'medium', 'short'].flatMap(timeStyle => [{ timeStyle }, { timeStyle, hour12: true }, { timeStyle, hour12: false }, { timeStyle, hourCycle: 'h23' }, { timeStyle, hourCycle: 'h12' }]),
  { weekday: 'long' }, { weekday: 'short' }, { weekday: 'narrow' }, { year: 'numeric' }, { month: 'long' }, { month: 'short' }, { month: 'narrow' }, { day: 'numeric' },
  { year: 'numeric', month: 'long' }, { year: 'numeric', month: 'short' }, { month: 'long', day: 'numeric' }, { month: 'short', day: 'numeric' }, { month: '2-digit', day: '2-digit' },
  { year: 'numeric', month: '2-digit', day: '2-digit' }, { year: '2-digit', month: 'numeric', day: 'numeric' }, { year: 'numeric', month: 'long', day: 'numeric' },
  { weekday: 'long', year: 'numeric', month: 'long', day: 'numeric' }, { weekday: 'short', month: 'short', day: 'numeric' }, { weekday: 'short', day: 'numeric' },
  { hour: 'numeric' }, { hour: '2-digit', minute: '2-digit' }, { hour: 'numeric', minute: 'numeric', second: 'numeric' }, { hour: 'numeric', minute: '2-digit', hour12: true },
  { hour: 'numeric', minute: '2-digit', hour12: false }, { minute: 'numeric', second: '2-digit' }, { minute: '2-digit' }, { second: '2-digit' }, { hour: 'numeric', hourCycle: 'h11' },
  { hour: 'numeric', minute: 'numeric', hourCycle: 'h23' }, { hour: 'numeric', hourCycle: 'h12' },
  { fractionalSecondDigits: 3 }, { second: 'numeric', fractionalSecondDigits: 2 }, { hour: 'numeric', minute: 'numeric', second: 'numeric', fractionalSecondDigits: 1 },
  { era: 'short' }, { era: 'long', year: 'numeric' }, { era: 'narrow', year: 'numeric', month: 'short' }, { era: 'short', year: 'numeric', month: 'long', day: 'numeric' },
  { dayPeriod: 'short' }, { hour: 'numeric', dayPeriod: 'long' }, { hour: 'numeric', minute: 'numeric', dayPeriod: 'short', hour12: true },
  ...['short', 'long', 'shortOffset', 'longOffset'].flatMap(timeZoneName => [{ timeZoneName }, { hour: 'numeric', minute: 'numeric', timeZoneName }]),
  { weekday: 'short', hour: 'numeric' }, { weekday: 'long', hour: 'numeric', minute: '2-digit' }, { month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit' },
  { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric', second: 'numeric' },
  { weekday: 'long', year: 'numeric', month: 'long', day: 'numeric', hour: '2-digit', minute: '2-digit', timeZoneName: 'short' },
]

const badDateOptions = [{ timeZone: 'X/Y' }, { timeZone: '' }, { dateStyle: 'full', year: 'numeric' }, { timeStyle: 'short', hour: 'numeric' }, { dateStyle: 'x' }, { weekday: 'x' },
  { fractionalSecondDigits: 4 }, { month: 'tiny' }, { hourCycle: 'h25' }, { timeZoneName: 'x' }, { formatMatcher: 'x' }, { dateStyle: 'short', timeZoneName: 'short' }]

const fieldWidths = {
  weekday: ['narrow', 'short', 'long'], era: ['narrow', 'short', 'long'], year: ['numeric', '2-digit'], month: ['numeric', '2-digit', 'narrow', 'short', 'long'],
  day: ['numeric', '2-digit'], hour: ['numeric', '2-digit'], minute: ['numeric', '2-digit'], second: ['numeric', '2-digit'], fractionalSecondDigits: [1, 2, 3],
  timeZoneName: ['short', 'long', 'shortOffset', 'longOffset'], dayPeriod: ['narrow', 'short', 'long'], hour12: [true, false], hourCycle: ['h11', 'h12', 'h23'],
}
const chance = { weekday: 3, era: 12, year: 2, month: 2, day: 2, hour: 2, minute: 2, second: 3, fractionalSecondDigits: 8, timeZoneName: 6, dayPeriod: 10, hour12: 5, hourCycle: 8 }

function randomDate() {
  const options = {}
  for (const [field, list] of Object.entries(fieldWidths)) if (random(chance[field]) === 0) options[field] = pick(list)
  // ICU has no patterns for these, and takes those of other fields.
  if (options.era && (!options.year || !options.month)) delete options.era
  // Times with a gap between their fields are refused.
  if (options.hour && !options.minute) delete options.second
  if ((options.hour || options.minute) && !options.second) delete options.fractionalSecondDigits
  if (random(2) === 0) options.timeZone = pick(zonesOfCases)
  if (options.second && options.timeZoneName === 'longOffset') options.timeZoneName = 'shortOffset'
  return options
}

const words = ['a', 'A', 'á', 'Á', 'ä', 'b', 'B', 'ab', 'Ab', 'a b', 'a-b', 'a_b', 'a.b', "a'b", '1', '2', '10', '01', '1a', 'a1', 'a10', 'a2', 'a02', 'é', 'e', 'E', 'ñ', 'n', 'Ñ', 'o', 'ö', 'ø',
  'ß', 'ss', 'æ', 'ae', 'z', 'Z', '', '-', '_', ' ', ',', '.', '!', '?', '(', '@', '*', '/', '#', '%', '+', '<', '$', '€', 'résumé', 'resume', 'Résumé', 'cote', 'coté', 'côte', 'côté', 'a\u0301',
  'file 10', 'file 2', 'file10', 'File2', 'v1.10', 'v1.9', 'co-op', 'coop', 'CO-OP', 'Zürich', 'Zurich', 'zürich', 'Ω', 'я', 'ё', 'あ', 'ア', 'か', 'が', '日本', '亜', '😀', 'Å', 'å', 'v', 'w']
const collations = [{}, { numeric: true }, { sensitivity: 'base' }, { sensitivity: 'accent' }, { sensitivity: 'case' }, { sensitivity: 'variant' }, { caseFirst: 'upper' }, { caseFirst: 'lower' },
  { ignorePunctuation: true }, { numeric: true, sensitivity: 'base' }, { usage: 'search' }, { numeric: true, caseFirst: 'upper', ignorePunctuation: true }, { ignorePunctuation: true, sensitivity: 'base' }]

const relativeUnits = ['second', 'minute', 'hour', 'day', 'week', 'month', 'quarter', 'year']

const files = {}
function add(file, entry) { (files[file] ??= []).push(entry) }

for (const locale of locales) {
  numberOptions.forEach((options, i) => number(locale, options, [-1234.567, values[i % values.length], values[(i * 7 + 3) % values.length]]))
  number(locale, {}, values)
  number(locale, { notation: 'compact' }, values)
  for (const options of dateOptions) date(locale, options, pick(instants))
  for (let i = 0; i < 300; i++) date(locale, randomDate(), pick(instants))
  for (const zone of zonesOfCases) for (const timeZoneName of ['short', 'long']) for (const value of [instants[0], instants[3]]) date(locale, { timeZone: zone, timeZoneName }, value)
}
for (const locale of more) {
  for (let i = 0; i < 40; i++) number(locale, pick(numberOptions), [pick(values)])
  for (let i = 0; i < 25; i++) date(locale, i % 2 ? randomDate() : pick(dateOptions), pick(instants))
}
for (const options of badNumberOptions) number('en-US', options, [1])
for (const options of badDateOptions) date('en-US', options, 0)
for (const value of [NaN, 8.64e15, 8.64e15 + 1, -8.64e15]) date('en-US', {}, value)
for (const locale of [...locales, ...more]) {
  for (let i = 0; i < 8; i++) {
    const options = i === 0 ? {} : i < 4 ? pick(dateOptions) : randomDate()
    add('date', { locale, options: { timeZone: 'UTC', ...options }, resolved: true, ...answer(() => new Intl.DateTimeFormat(locale, { timeZone: 'UTC', ...options }).resolvedOptions()) })
  }
}

for (const locale of [...locales, 'it', 'nl', 'pt', 'pt-PT', 'sv']) {
  for (const type of ['cardinal', 'ordinal']) {
    for (const options of [{ type }, { type, minimumFractionDigits: 1 }, { type, maximumFractionDigits: 0 }]) {
      const rules = new Intl.PluralRules(locale, options)
      add('plural', { locale, options, values: [0, 1, 2, 3, 4, 5, 8, 10, 11, 12, 13, 21, 22, 23, 80, 101, 111, 112, 800, 1000, 1e6, 2e6, 1.5, 0.5, 1.0, 2.1, -1, NaN, Infinity].map(shown),
        want: [0, 1, 2, 3, 4, 5, 8, 10, 11, 12, 13, 21, 22, 23, 80, 101, 111, 112, 800, 1000, 1e6, 2e6, 1.5, 0.5, 1.0, 2.1, -1, NaN, Infinity].map(n => rules.select(n)) })
    }
    add('plural', { locale, options: { type }, resolved: true, want: new Intl.PluralRules(locale, { type }).resolvedOptions() })
  }
  for (const type of ['conjunction', 'disjunction', 'unit']) for (const style of ['long', 'short', 'narrow']) {
    for (const items of [[], ['a'], ['a', 'b'], ['a', 'b', 'c'], ['Anna', 'Bob', 'Carl', 'Dora', 'Eve'], ['padre', 'hijo'], ['x', 'isla'], ['x', 'hielo'], ['siete', 'ocho'], ['7', '8'], ['10', '11'], ['uno', 'hora'], ['Juan', 'Ignacio', 'Ines']]) {
      const format = new Intl.ListFormat(locale, { type, style })
      add('list', { locale, options: { type, style }, items, want: [format.format(items), compactParts(format.formatToParts(items))] })
    }
  }
  for (const unit of relativeUnits) for (const style of ['long', 'short', 'narrow']) for (const numeric of ['always', 'auto']) {
    for (const value of numeric === 'auto' ? [0, -0, 1, -1, 2, -2, 5] : [1, -10, 1.5, -1000, 1e6]) {
      const format = new Intl.RelativeTimeFormat(locale, { style, numeric })
      add('relative', { locale, options: { style, numeric }, value: shown(value), unit: random(4) ? unit : unit + 's',
        want: [format.format(value, unit), compactParts(format.formatToParts(value, unit))] })
    }
  }
}
for (const unit of ['foo', '', 's', 'days', 'decade']) add('relative', { locale: 'en', options: {}, value: '1', unit, ...answer(() => { const f = new Intl.RelativeTimeFormat('en'); return [f.format(1, unit), compactParts(f.formatToParts(1, unit))] }) })

// An order is written as one row of signs for each word, against the words behind it.
const sign = n => n < 0 ? '<' : n > 0 ? '>' : '='
const rows = compare => words.map((a, i) => words.slice(i + 1).map(b => sign(compare(a, b))).join(''))
add('collation', { words })
for (const locale of [...locales, 'sv', 'fr-CA', 'it', 'nl', 'pt']) {
  for (const options of ['en-US', 'ja-JP', 'sv'].includes(locale) ? collations : collations.slice(0, 3)) {
    add('collation', { locale, options, order: rows(new Intl.Collator(locale, options).compare) })
  }
}
for (const locale of ['en', 'de-u-kn', 'fr-u-kf-upper', 'ja']) for (const options of collations) {
  add('collation', { locale, options, resolved: true, want: new Intl.Collator(locale, options).resolvedOptions() })
}

const tags = ['en', 'EN-us', 'en_US', 'de-de', 'fr-Latn-FR', 'zh-hans-cn', 'x', 'i-klingon', 'en-US-u-ca-gregory', 'en-u-nu-latn-ca-gregory', 'en-US-x-private', 'de-1996', 'sl-rozaj-biske', 'en-a-bbb-x-a',
  'iw', 'en-uk', '', 'e', 'abcdefghi', 'en-', '-en', 'en--us', 'en-u', 'en-u-kn-true', 'en-u-kn', 'en-12345678a', 'en-US-US', 'xx', 'en-u-kn-u-kf', 'de-DE-u-co-phonebk', 'es-419', 'root', 'en-GB-oxendict']
for (const tag of tags) add('tag', { tag, ...answer(() => Intl.getCanonicalLocales(tag)[0]) })
for (const tag of ['en-XX', 'de-LU-u-nu-latn', 'xx', 'fr-u-nu-latn', 'en-US-x-a', 'de-DE-1996', 'en-u-hc-h23', 'en-Latn-US']) {
  if (tag !== 'de-LU-u-nu-latn') add('tag', { tag, number: true, ...answer(() => new Intl.NumberFormat(tag).resolvedOptions().locale) })
}

fs.mkdirSync(folder, { recursive: true })
let count = 0
for (const [name, entries] of Object.entries(files)) {
  count += entries.length
  fs.writeFileSync(path.join(folder, name + '.json'), '[\n' + entries.map(e => JSON.stringify(e)).join(',\n') + '\n]\n')
}
console.log(count, 'cases', Object.entries(files).map(([n, e]) => `${n} ${e.length}`).join(', '))
