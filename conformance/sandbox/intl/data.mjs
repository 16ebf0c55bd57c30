// Records what Node knows about locales, for bodies that run without Node:
//   node conformance/sandbox/intl/data.mjs
// writes sandbox/worker/intl/cldr/data. Every pattern there is read off an answer of
// Intl: a formatter is asked with known values, and its parts are turned back into a
// pattern, with {x} for a part x. A locale that has a base holds only what differs.
import fs from 'node:fs'
import path from 'node:path'
import { dates } from './data-dates.mjs'
import { zones, zoneNames } from './data-zones.mjs'
import { words, plurals } from './data-words.mjs'
import { numbers, currencyCodes, fractionDigits } from './data-numbers.mjs'

const folder = path.join(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname),
  '../../../sandbox/worker/intl/cldr/data')

const bases = ['en', 'de', 'fr', 'es', 'ja', 'it', 'nl', 'pt', 'sv']
const regions = ['en-US', 'en-GB', 'en-AU', 'en-CA', 'en-IE', 'en-IN', 'en-NZ', 'de-DE', 'de-AT', 'de-CH',
  'fr-FR', 'fr-BE', 'fr-CA', 'fr-CH', 'es-ES', 'es-AR', 'es-CO', 'es-MX', 'es-US', 'ja-JP', 'it-IT',
  'nl-NL', 'nl-BE', 'pt-BR', 'pt-PT', 'sv-SE']

export const locales = [...bases, ...regions]

function record(locale) {
  return { plurals: plurals(locale), ...numbers(locale), ...words(locale), ...dates(locale), zones: zoneNames(locale) }
}

// less is what a region's record says beyond that of its base: entries of the second
// level, whole; null for one that only the base has.
function less(record, base) {
  const out = {}
  for (const [part, entries] of Object.entries(record)) {
    const changed = Object.entries(entries).filter(([k, v]) => JSON.stringify(v) !== JSON.stringify(base[part][k]))
    const gone = Object.keys(base[part]).filter(k => !(k in entries)).map(k => [k, null])
    if (changed.length + gone.length) out[part] = Object.fromEntries([...changed, ...gone])
  }
  return out
}

// lines is JSON with one line for each entry of the first two levels, so that a
// change of Node's answers reads as a change of these lines.
function lines(value) {
  const inner = v => Object.entries(v).map(([k, x]) => `  ${JSON.stringify(k)}: ${JSON.stringify(x)}`).join(',\n')
  const outer = Object.entries(value).map(([k, v]) =>
    `${JSON.stringify(k)}: ` + (v && typeof v === 'object' && !Array.isArray(v) && Object.keys(v).length ? `{\n${inner(v)}\n}` : JSON.stringify(v)))
  return `{\n${outer.join(',\n')}\n}\n`
}

// known lists the tags that Node has data for: a request for one of them that we lack
// must fail, where one that Node lacks too falls back as there.
function known() {
  const out = []
  const letters = [...'abcdefghijklmnopqrstuvwxyz']
  const languages = letters.flatMap(a => letters.flatMap(b => [a + b, ...letters.map(c => a + b + c)]))
  const codes = [...letters.flatMap(a => letters.map(b => (a + b).toUpperCase())), '419', '001', '150']
  for (const l of Intl.NumberFormat.supportedLocalesOf(languages.filter(l => canonical(l)))) {
    const found = codes.filter(r => {
      const tag = `${l}-${r}`
      return canonical(tag) === tag && new Intl.NumberFormat(tag).resolvedOptions().locale === tag
    })
    out.push([l, ...found].join(' '))
  }
  return out
}

function canonical(tag) {
  try { return Intl.getCanonicalLocales(tag)[0] } catch { return '' }
}

const files = {}
const all = {}
for (const l of bases) files[`${l}.json`] = lines(all[l] = record(l))
for (const l of regions) files[`${l}.json`] = lines(less(record(l), all[l.split('-')[0]]))
files['world.json'] = lines({ ...zones(), fractionDigits: fractionDigits(), currencies: currencyCodes() })
files['known.txt'] = known().join('\n') + '\n'

fs.mkdirSync(folder, { recursive: true })
for (const f of fs.readdirSync(folder)) if (!(f in files)) fs.unlinkSync(path.join(folder, f))
for (const [name, text] of Object.entries(files)) fs.writeFileSync(path.join(folder, name), text)
