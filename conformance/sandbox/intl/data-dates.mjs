// Patterns of dates and times of a locale, for every combination of fields.
import { Distinct } from './data-common.mjs'

const at = (month, day, hour) => new Date(Date.UTC(2021, month, day, hour, 8, 9, 45))
const probe = at(2, 5, 7)

// The values that each field takes in the tables; the Go code counts in this order.
export const dateFields = {
  weekday: [undefined, 'narrow', 'short', 'long'],
  era: [undefined, 'short'],
  year: [undefined, 'numeric', '2-digit'],
  month: [undefined, 'numeric', '2-digit', 'narrow', 'short', 'long'],
  day: [undefined, 'numeric', '2-digit'],
}
export const timeFields = {
  hour: [undefined, 'numeric', '2-digit'],
  minute: [undefined, 'numeric', '2-digit'],
  second: [undefined, 'numeric', '2-digit'],
  fractionalSecondDigits: [undefined, 1, 2, 3],
  timeZoneName: [undefined, 'short', 'long', 'shortOffset'],
  dayPeriod: [undefined, 'short'],
  hour12: [true, false],
}

function combinations(fields) {
  let out = [{}]
  for (const [name, values] of Object.entries(fields)) {
    out = out.flatMap(o => values.map(v => v === undefined ? o : { ...o, [name]: v }))
  }
  return out
}

const isEmpty = o => Object.keys(o).every(k => k === 'hour12')

export function dates(locale) {
  const r = new Recorder(locale)
  const dateCombos = combinations(dateFields)
  const timeCombos = combinations(timeFields)
  const glues = new Distinct()
  const date = dateCombos.map(o => isEmpty(o) || crashes(locale, o) ? 0 : r.place(o))
  const time = timeCombos.map(o => isEmpty(o) ? 0 : r.place(o))
  const glue = dateCombos.map((o, i) => date[i] === 0 ? 0 : glues.place(r.glue(o, date[i])))
  const weekday = dateFields.weekday.slice(1).map(weekday =>
    runs(timeCombos.map((o, i) => isEmpty(o) ? 0 : r.placeAround(time[i], { weekday, ...o }))))
  return {
    dates: {
      ...r.names(), ...r.styles(glues), ...cycles(locale),
      date: runs(date), time: runs(time), glue: runs(glue), weekday,
      glues: glues.values, patterns: r.patterns.values,
    },
    dayPeriods: dayPeriods(locale),
  }
}

// crashes are the formats that this Node ends its process on.
function crashes(locale, o) { return locale === 'de-CH' && o.era && (!o.year || /numeric|digit/.test(o.month)) }

// runs writes a list of places, a repeated one as place*times.
function runs(places) {
  const out = []
  for (let i = 0, j; i < places.length; i = j) {
    for (j = i; j < places.length && places[j] === places[i];) j++
    out.push(j - i > 1 ? `${places[i]}*${j - i}` : `${places[i]}`)
  }
  return out.join(' ')
}

function cycles(locale) {
  const of = o => new Intl.DateTimeFormat(locale, { hour: 'numeric', ...o }).resolvedOptions().hourCycle
  return { cycle: of({}), cycle12: of({ hour12: true }), cycle24: of({ hour12: false }) }
}

// dayPeriods are the names of the hours, and of noon and midnight to the minute.
function dayPeriods(locale) {
  const out = {}
  for (const dayPeriod of ['narrow', 'short', 'long']) {
    const name = (hour, minute) => new Intl.DateTimeFormat(locale,
      { hour: 'numeric', minute: minute === undefined ? undefined : 'numeric', dayPeriod, hour12: true, timeZone: 'UTC' })
      .formatToParts(new Date(Date.UTC(2021, 2, 5, hour, minute ?? 0))).find(p => p.type === 'dayPeriod')?.value ?? ''
    const hours = Array.from({ length: 24 }, (_, h) => name(h, 30))
    out[dayPeriod] = [...hours, name(12, 0), name(0, 0)]
  }
  return out
}

class Recorder {
  constructor(locale) {
    this.locale = locale
    this.patterns = new Distinct()
    this.vectors = { month: new Distinct(), weekday: new Distinct(), era: new Distinct(), dayPeriod: new Distinct() }
    this.patterns.place('')
  }

  format(options, date) {
    return new Intl.DateTimeFormat(this.locale, { timeZone: 'UTC', ...options }).formatToParts(date)
  }

  place(options) { return this.patterns.place(this.pattern(options)) }

  // placeAround is the place of a pattern with {0} for the pattern of the time in it.
  placeAround(time, options) {
    return this.patterns.place(this.pattern(options).replace(this.patterns.values[time], '{0}'))
  }

  pattern(options) {
    const format = new Intl.DateTimeFormat(this.locale, { timeZone: 'UTC', ...options })
    return format.formatToParts(probe).map(p => p.type === 'literal' ? p.value : `{${this.token(format, p)}}`).join('')
  }

  token(format, { type, value }) {
    const over = values => values.map(d => format.formatToParts(d).find(p => p.type === type).value)
    const list = (letter, values) => letter + this.vectors[type].place(over(values))
    switch (type) {
      case 'year': return value === '2021' ? 'y' : value === '21' ? 'yy' : fail(type, value)
      case 'day': return value === '5' ? 'd' : value === '05' ? 'dd' : fail(type, value)
      case 'hour': return value === '7' ? 'h' : value === '07' ? 'hh' : fail(type, value)
      case 'minute': return value === '8' ? 'm' : value === '08' ? 'mm' : fail(type, value)
      case 'second': return value === '9' ? 's' : value === '09' ? 'ss' : fail(type, value)
      case 'fractionalSecond': return 'S'
      case 'timeZoneName': return value === 'UTC' || value.startsWith('GMT') ? 'z' : 'zzzz'
      case 'month':
        if (value === '3') return 'M'
        if (value === '03') return 'MM'
        return list('L', Array.from({ length: 12 }, (_, m) => at(m, 5, 7)))
      case 'weekday': return list('E', Array.from({ length: 7 }, (_, d) => at(2, 7 + d, 7)))
      case 'era': return list('G', [new Date(Date.UTC(-100, 2, 5)), probe])
      case 'dayPeriod': {
        const names = over([1, 4, 7, 11, 13, 15, 19, 22].map(hour => at(2, 5, hour)))
        const isHalf = new Set(names.slice(0, 4)).size === 1 && new Set(names.slice(4)).size === 1 && names[0] !== names[4]
        return isHalf ? 'a' + this.vectors.dayPeriod.place([names[0], names[4]]) : 'B'
      }
      default: return fail(type, value)
    }
  }

  glue(dateOptions, datePlace) {
    const time = { hour: 'numeric', minute: 'numeric', second: 'numeric', hour12: false }
    const both = this.pattern({ ...dateOptions, ...time })
    const glue = both.replace(this.patterns.values[datePlace], '{1}').replace(this.pattern(time), '{0}')
    if (!isGlue(glue) && !alone(dateOptions)) console.error(this.locale, dateOptions, glue, both)
    return isGlue(glue) ? glue : '{1} {0}'
  }

  // styles are the patterns of dateStyle, timeStyle and what joins them.
  styles(glues) {
    const styles = ['full', 'long', 'medium', 'short']
    const out = { dateStyles: {}, timeStyles: {}, styleGlues: {} }
    for (const dateStyle of styles) {
      out.dateStyles[dateStyle] = this.pattern({ dateStyle })
      const time = this.pattern({ timeStyle: 'short' })
      const glue = this.pattern({ dateStyle, timeStyle: 'short' })
        .replace(out.dateStyles[dateStyle], '{1}').replace(time, '{0}')
      if (!isGlue(glue)) console.error(this.locale, dateStyle, glue)
      out.styleGlues[dateStyle] = glue
    }
    for (const timeStyle of styles) {
      out.timeStyles[timeStyle] = [{}, { hour12: true }, { hour12: false }].map(o => this.pattern({ timeStyle, ...o }))
    }
    return out
  }

  // eraNames are asked for each width: the tables hold one width of era only.
  names() {
    const eras = Object.fromEntries(['narrow', 'short', 'long'].map(era => [era,
      [new Date(Date.UTC(-100, 2, 5)), probe].map(d =>
        this.format({ era, year: 'numeric' }, d).find(p => p.type === 'era').value)]))
    const lists = name => this.vectors[name].values
    return { months: lists('month'), weekdays: lists('weekday'), eras, halves: lists('dayPeriod') }
  }
}

const isGlue = g => g.includes('{1}') && g.includes('{0}') && g.replace('{1}', '').replace('{0}', '').match(/[{}]/) === null
// With only one of these there is no pattern to compare with.
const alone = o => ['weekday', 'era'].includes(Object.keys(o).join())

function fail(type, value) { throw new Error(`${type} is ${value}`) }
