// What the parts of every recording share.

// samples are numbers that between them fall into every plural category.
const samples = [1, 2, 5, 0, 3, 11, 21, 1e6, 1.5, 0.5, 100]

// bySample gives, for each plural category of the locale, a number that falls into it.
export function bySample(locale) {
  const rules = new Intl.PluralRules(locale)
  const out = {}
  for (const n of samples) out[rules.select(n)] ??= n
  for (const c of rules.resolvedOptions().pluralCategories) {
    if (!(c in out)) throw new Error(`${locale}: no sample is ${c}`)
  }
  return out
}

const digits = new Set(['integer', 'group', 'decimal', 'fraction', 'infinity', 'nan', 'exponentSeparator',
  'exponentMinusSign', 'exponentInteger'])

const signs = { minusSign: '-', plusSign: '+', percentSign: '%' }

// pattern turns the parts of a formatted number into a pattern.
export function pattern(parts) {
  let out = ''
  let inNumber = false
  for (const p of parts) {
    if (digits.has(p.type)) {
      if (!inNumber) out += '{n}'
      inNumber = true
      continue
    }
    inNumber = false
    if (p.type === 'literal') out += p.value
    else if (p.type in signs) out += `{${signs[p.type]}}`
    else if (p.type === 'currency') out += '{c}'
    else out += `{${p.type[0]}:${p.value}}`
  }
  return out
}

// numberPattern is the pattern of one number under options.
export function numberPattern(locale, options, n) {
  return pattern(new Intl.NumberFormat(locale, options).formatToParts(n))
}

// distinct gives each value of a list a place, and the list as places.
export class Distinct {
  values = []
  places = new Map()
  place(value) {
    const key = JSON.stringify(value)
    if (!this.places.has(key)) this.places.set(key, this.values.push(value) - 1)
    return this.places.get(key)
  }
}
