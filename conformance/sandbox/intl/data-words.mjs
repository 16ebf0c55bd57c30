// Lists, relative times and plural categories of a locale.
import { bySample, pattern } from './data-common.mjs'

export function plurals(locale) {
  const of = type => new Intl.PluralRules(locale, { type }).resolvedOptions().pluralCategories.join(' ')
  return { cardinal: of('cardinal'), ordinal: of('ordinal') }
}

export function words(locale) {
  return { lists: lists(locale), relative: relative(locale) }
}

// lists are the texts between two items, and after the first, in between and before
// the last of more.
function lists(locale) {
  const out = {}
  for (const type of ['conjunction', 'disjunction', 'unit']) {
    for (const style of ['long', 'short', 'narrow']) {
      const format = new Intl.ListFormat(locale, { type, style })
      const between = n => format.format(Array(n).fill('|')).split('|').slice(1, -1)
      out[`${type} ${style}`] = [between(2)[0], ...between(4)]
    }
  }
  return out
}

const units = ['second', 'minute', 'hour', 'day', 'week', 'month', 'quarter', 'year']

function relative(locale) {
  const out = {}
  for (const unit of units) {
    for (const style of ['long', 'short', 'narrow']) out[`${unit} ${style}`] = relativeUnit(locale, unit, style)
  }
  return out
}

function relativeUnit(locale, unit, style) {
  const always = new Intl.RelativeTimeFormat(locale, { style })
  const auto = new Intl.RelativeTimeFormat(locale, { style, numeric: 'auto' })
  const out = { future: {}, past: {}, named: {} }
  for (const [category, n] of Object.entries(bySample(locale))) {
    out.future[category] = pattern(always.formatToParts(n, unit))
    out.past[category] = pattern(always.formatToParts(-n || -0, unit))
  }
  for (const n of [-2, -1, 0, 1, 2]) {
    const parts = auto.formatToParts(n, unit)
    if (parts.length === 1 && parts[0].type === 'literal') out.named[n] = parts[0].value
  }
  return out
}
