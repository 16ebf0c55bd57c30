// Numbers, currencies, units and compact forms of a locale.
import { bySample, numberPattern } from './data-common.mjs'

export function numbers(locale) {
  return {
    number: { ...symbols(locale), ...grouping(locale) },
    patterns: patterns(locale),
    compact: compact(locale),
    currencies: currencies(locale),
    ...currencyNames(locale),
    units: units(locale),
    ...perUnits(locale),
  }
}

function part(locale, options, n, type) {
  return new Intl.NumberFormat(locale, options).formatToParts(n).find(p => p.type === type)?.value ?? ''
}

function symbols(locale) {
  return {
    decimal: part(locale, {}, 1.5, 'decimal'),
    group: part(locale, { useGrouping: 'always' }, 1e4, 'group'),
    minus: part(locale, {}, -1, 'minusSign'),
    plus: part(locale, { signDisplay: 'always' }, 1, 'plusSign'),
    percent: part(locale, { style: 'percent' }, 1, 'percentSign'),
    exponent: part(locale, { notation: 'scientific' }, 1, 'exponentSeparator'),
    nan: part(locale, {}, NaN, 'nan'),
    infinity: part(locale, {}, Infinity, 'infinity'),
    currencyDecimal: part(locale, { style: 'currency', currency: 'EUR' }, 1.5, 'decimal'),
    currencyGroup: part(locale, { style: 'currency', currency: 'EUR', useGrouping: 'always' }, 1e4, 'group'),
  }
}

function grouping(locale) {
  const widths = new Intl.NumberFormat(locale, { useGrouping: 'always' }).formatToParts(1e12)
    .filter(p => p.type === 'integer').map(p => p.value.length)
  const first = new Intl.NumberFormat(locale).formatToParts(1000).some(p => p.type === 'group')
  return { primary: widths.at(-1), secondary: widths.at(-2), minGrouping: first ? 1 : 2 }
}

function patterns(locale) {
  const signed = options => [1, -1, 2].map(n =>
    numberPattern(locale, { ...options, signDisplay: n === 2 ? 'always' : 'auto' }, n))
  const dollar = { style: 'currency', currency: 'USD', currencyDisplay: 'narrowSymbol' }
  return {
    decimal: signed({}),
    percent: signed({ style: 'percent' }),
    percentCompact: signed({ style: 'percent', notation: 'compact' }), // has a space of its own
    currency: signed(dollar),
    accounting: signed({ ...dollar, currencySign: 'accounting' }),
  }
}

function compact(locale) {
  const out = {}
  for (const compactDisplay of ['short', 'long']) {
    out[compactDisplay] = magnitudes(locale, { notation: 'compact', compactDisplay })
    out[compactDisplay + 'Currency'] = magnitudes(locale,
      { notation: 'compact', compactDisplay, style: 'currency', currency: 'USD', currencyDisplay: 'narrowSymbol' })
  }
  return out
}

// magnitudes gives, for 10^3 to 10^20 and each plural category, the digits that are
// not written and the pattern of the rest; under =1 that of 1 alone if it has its own.
function magnitudes(locale, options) {
  const format = new Intl.NumberFormat(locale, options)
  const out = []
  for (let power = 3; power <= 20; power++) {
    const of = n => {
      const value = BigInt(n * 10) * 10n ** BigInt(power - 1)
      const written = format.formatToParts(value).filter(p => p.type === 'integer').map(p => p.value).join('').length || 1
      return `${power + 1 - written}|${numberPattern(locale, options, value)}`
    }
    const entry = {}
    const leading = n => n * 10 ** (Number(of(n).match(/^\d+/)) === power ? 0 : power - Number(of(n).match(/^\d+/)))
    for (const n of [1.1, 1.5, 2.1, 2, 5, 3, 1]) entry[plural(locale, leading(n))] ??= of(n)
    entry.other ??= of(2)
    if (leading(1) === 1 && entry[plural(locale, 1)] !== of(1)) entry['=1'] = of(1)
    out.push(entry)
  }
  return out
}

// plural is the category of the digits that stay; those of the whole number differ in
// some languages, and ICU looks at these.
function plural(locale, n) {
  return new Intl.PluralRules(locale).select(n)
}

// known are the codes that Node has a name for; named are those of today.
const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']
const namer = new Intl.DisplayNames('en', { type: 'currency', fallback: 'none' })
const known = letters.flatMap(a => letters.flatMap(b => letters.map(c => a + b + c))).filter(c => namer.of(c))
const named = Intl.supportedValuesOf('currency')

export function currencyCodes() {
  return { named: named.join(' '), others: known.filter(c => !named.includes(c)).join(' ') }
}

// currencies are symbol and narrow symbol where they differ from the code.
function currencies(locale) {
  const out = {}
  for (const currency of known) {
    const of = currencyDisplay => part(locale, { style: 'currency', currency, currencyDisplay }, 1, 'currency')
    const symbols = [of('symbol'), of('narrowSymbol')]
    if (symbols.some(s => s !== currency)) out[currency] = symbols.join('|')
  }
  return out
}

// fractionDigits are those of the currencies that have another number than two.
export function fractionDigits() {
  const of = currency => new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits
  return Object.fromEntries(known.map(c => [c, of(c)]).filter(([, n]) => n !== 2))
}

function currencyNames(locale) {
  const samples = bySample(locale)
  const currencyPatterns = {}
  const currencyNames = {}
  for (const currency of named) {
    const names = []
    for (const [category, n] of Object.entries(samples)) {
      const options = { style: 'currency', currency, currencyDisplay: 'name', minimumFractionDigits: 0 }
      names.push(part(locale, options, n, 'currency'))
      const found = numberPattern(locale, options, n)
      currencyPatterns[category] ??= found
      if (found !== currencyPatterns[category]) console.error(locale, currency, category, found)
    }
    currencyNames[currency] = new Set(names).size === 1 ? names[0] : names.join('|')
  }
  currencyNames['|'] = Object.keys(samples).join('|')
  return { currencyPatterns, currencyNames }
}

const widths = ['short', 'narrow', 'long']

function unit(locale, name, unitDisplay) {
  const out = {}
  for (const [category, n] of Object.entries(bySample(locale))) {
    out[category] = numberPattern(locale, { style: 'unit', unit: name, unitDisplay }, n)
  }
  return joined(out)
}

// joined drops the categories that are as "other".
function joined(byCategory) {
  const out = {}
  for (const [category, p] of Object.entries(byCategory)) {
    if (category === 'other' || p !== byCategory.other) out[category] = p
  }
  return out
}

function units(locale) {
  const out = {}
  for (const u of Intl.supportedValuesOf('unit')) out[u] = widths.map(w => unit(locale, u, w))
  return out
}

// perUnits are the units "per" another. Most are made of the two with a pattern for the
// second; those that are not are kept whole.
function perUnits(locale) {
  const names = Intl.supportedValuesOf('unit')
  const perSuffixes = {}
  const perUnits = {}
  for (const below of names) {
    perSuffixes[below] = widths.map(w => suffix(locale, below, w))
    for (const above of names) {
      if (above === 'percent') continue // Intl takes it; nobody means it
      const whole = widths.map(w => unit(locale, `${above}-per-${below}`, w))
      if (whole.some((p, i) => differs(locale, p, above, widths[i], perSuffixes[below][i]))) {
        perUnits[`${above}-per-${below}`] = whole
      }
    }
  }
  return { perSuffixes, perUnits }
}

const probe = 'gigabyte'

// suffix is what "per below" does to a unit's own text: its pattern with {0} for that.
function suffix(locale, below, width) {
  const alone = unit(locale, probe, width).other.match(/\{u:([^}]*)\}/)[1]
  const both = unit(locale, `${probe}-per-${below}`, width).other.match(/\{u:([^}]*)\}/)?.[1] ?? ''
  return both.replace(alone, '{0}')
}

function differs(locale, whole, above, width, suffix) {
  const made = {}
  for (const [category, p] of Object.entries(unit(locale, above, width))) {
    made[category] = p.replace(/\{u:([^}]*)\}/, (_, text) => `{u:${suffix.replace('{0}', text)}}`)
  }
  return JSON.stringify(joined({ ...made })) !== JSON.stringify(whole)
}
