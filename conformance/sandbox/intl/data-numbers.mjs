// Numbers, currencies, units and compact forms of a locale.
import { bySample, numberPattern } from './data-common.mjs'

export function numbers(locale) {
  return {
    number: { ...symbols(locale), ...grouping(locale) },
    patterns: patterns(locale),
    compact: compact(locale),
    currencies: currencies(locale),
    currencyNames: currencyNames(locale),
    units: units(locale),
    perUnits: perUnits(locale),
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
  const currency = { style: 'currency', currency: 'EUR', currencyDisplay: 'code' }
  // A code is a word, and words are kept from digits: that space is not the pattern's.
  const close = list => list.map(p => p.replace('{c}\u00a0{n}', '{c}{n}'))
  const dollar = { ...currency, currency: 'USD', currencyDisplay: 'narrowSymbol' }
  return {
    decimal: signed({}),
    percent: signed({ style: 'percent' }),
    currency: signed(dollar),
    accounting: signed({ ...dollar, currencySign: 'accounting' }),
    // Where the pattern itself has the space, the symbol has it too.
    currencyWord: close(signed(currency)),
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

// magnitudes gives, for 10^3 to 10^14 and each plural category, the digits that are
// not written and the pattern of the rest.
function magnitudes(locale, options) {
  const format = new Intl.NumberFormat(locale, options)
  const out = []
  for (let power = 3; power < 15; power++) {
    const entry = {}
    for (const [category, n] of Object.entries(compactSamples(locale, power))) {
      const parts = format.formatToParts(n * 10 ** power)
      const written = parts.filter(p => p.type === 'integer').map(p => p.value).join('').length
      entry[category] = `${power + 1 - written}|${numberPattern(locale, options, n * 10 ** power)}`
    }
    out.push(entry)
  }
  return out
}

function compactSamples(locale, power) {
  const rules = new Intl.PluralRules(locale, { notation: 'compact' })
  const out = {}
  const written = power % 3
  for (const n of [1, 2, 5, 3, 1.1, 1.5, 2.1]) {
    if (written === 0 || Number.isInteger(n)) out[plural(locale, n * 10 ** written)] ??= n
  }
  void rules
  return out
}

// plural is the category of the digits that stay; those of the whole number differ in
// some languages, and ICU looks at these.
function plural(locale, n) {
  return new Intl.PluralRules(locale).select(n)
}

// currencies are symbol and narrow symbol where they differ from the code.
function currencies(locale) {
  const out = {}
  for (const currency of Intl.supportedValuesOf('currency')) {
    const of = currencyDisplay => part(locale, { style: 'currency', currency, currencyDisplay }, 1, 'currency')
    out[currency] = [of('symbol'), of('narrowSymbol')].join('|')
  }
  return out
}

function currencyNames(locale) {
  const samples = bySample(locale)
  const out = { patterns: {}, names: {} }
  for (const currency of Intl.supportedValuesOf('currency')) {
    const names = []
    for (const [category, n] of Object.entries(samples)) {
      const options = { style: 'currency', currency, currencyDisplay: 'name', minimumFractionDigits: 0 }
      names.push(part(locale, options, n, 'currency'))
      const found = numberPattern(locale, options, n)
      out.patterns[category] ??= found
      if (found !== out.patterns[category]) console.error(locale, currency, category, found)
    }
    out.names[currency] = new Set(names).size === 1 ? names[0] : names.join('|')
  }
  out.names['|'] = Object.keys(samples).join('|')
  return out
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
  const out = { suffixes: {}, whole: {} }
  for (const below of names) {
    out.suffixes[below] = widths.map(w => suffix(locale, below, w))
    for (const above of names) {
      const whole = widths.map(w => unit(locale, `${above}-per-${below}`, w))
      if (whole.some((p, i) => differs(locale, p, above, widths[i], out.suffixes[below][i]))) {
        out.whole[`${above}-per-${below}`] = whole
      }
    }
  }
  return out
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
