// Time zones: their names for Node, and how each locale calls them.
import { execFileSync } from 'node:child_process'

const kinds = ['short', 'long', 'shortGeneric', 'longGeneric']
const winter = new Date(Date.UTC(2025, 0, 15))
const summer = new Date(Date.UTC(2025, 6, 15))

// names are those that Go knows, which is where the offsets come from.
function goNames() {
  const root = execFileSync('go', ['env', 'GOROOT'], { encoding: 'utf8' }).trim()
  return execFileSync('unzip', ['-Z1', `${root}/lib/time/zoneinfo.zip`], { encoding: 'utf8' })
    .split('\n').filter(n => n && !n.endsWith('/'))
}

function canonical(zone) {
  try { return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone } catch { return undefined }
}

const all = goNames().map(n => [n, canonical(n)]).filter(([, c]) => c)
const canonicals = [...new Set(all.map(([, c]) => c))].sort()

function name(locale, zone, timeZoneName, date) {
  return new Intl.DateTimeFormat(locale, { timeZone: zone, timeZoneName }).formatToParts(date)
    .find(p => p.type === 'timeZoneName').value
}

const offset = (zone, date) => name('en', zone, 'longOffset', date)

// standardFirst are the two half-years, that with the smaller offset first.
function standardFirst(zone) {
  const minutes = d => {
    const m = offset(zone, d).match(/GMT(?:([+-])(\d+):(\d+))?/)
    return m[1] ? (m[1] === '-' ? -1 : 1) * (60 * +m[2] + +m[3]) : 0
  }
  return minutes(winter) <= minutes(summer) ? [winter, summer] : [summer, winter]
}

// namesOf are standard and daylight name, short and long, each '' where it is the offset.
function namesOf(locale, zone) {
  const [standard, daylight] = standardFirst(zone)
  return [['short', standard], ['short', daylight], ['long', standard], ['long', daylight]].map(([kind, date]) => {
    const found = name(locale, zone, kind, date)
    return found === name(locale, zone, kind + 'Offset', date) ? '' : found
  })
}

const probes = ['en-US', 'en-GB', 'en-AU', 'en-CA', 'en-IN', 'en-NZ', 'en-ZA', 'de', 'de-AT', 'fr', 'fr-CA', 'es', 'es-MX', 'ja', 'it', 'pt', 'pt-PT', 'sv', 'nl']

// groups are the sets of zones that all locales call the same.
function makeGroups() {
  const groups = new Map()
  for (const zone of canonicals) {
    const key = JSON.stringify(probes.map(l => namesOf(l, zone)))
    if (!groups.has(key)) groups.set(key, [])
    groups.get(key).push(zone)
  }
  return [...groups.values()]
}

const groups = makeGroups()

export function zones() {
  const links = {}
  for (const [n, c] of all) if (n !== c) links[n] = c
  return { groups: groups.map(g => g.join(' ')), links, supported: { zones: Intl.supportedValuesOf('timeZone').join(' ') } }
}

// zoneNames are the names of each group, by its place, and how an offset is written.
export function zoneNames(locale) {
  const out = {}
  groups.forEach((zones, i) => {
    const names = [...namesOf(locale, zones[0]), ...generics(locale, zones)]
    if (names.some(n => n)) out[i] = names.join('|')
  })
  for (const zone of canonicals) {
    const group = groups.findIndex(g => g.includes(zone))
    if (JSON.stringify(namesOf(locale, zone)) !== JSON.stringify(namesOf(locale, groups[group][0]))) {
      console.error(locale, zone, 'is not named as its group')
    }
  }
  out.offset = ['Europe/London', 'Etc/GMT-1', 'Etc/GMT+5'].map(z => name(locale, z, 'shortOffset', winter)).join('|')
  return out
}

// generics are the names without regard to daylight saving, if the group shares them.
function generics(locale, zones) {
  return ['shortGeneric', 'longGeneric'].map(kind => {
    const found = new Set(zones.map(z => name(locale, z, kind, winter)))
    return found.size === 1 ? [...found][0] : ''
  })
}
