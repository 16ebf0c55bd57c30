(function ({define, parseURL, changeURL, unescape}) {
  const wellFormed = value => {
    let out = '';
    for (const char of String(value)) {
      const code = char.codePointAt(0);
      out += code >= 0xD800 && code <= 0xDFFF ? '\uFFFD' : char;
    }
    return out;
  };
  const decode = text => unescape(text.replaceAll('+', ' '));
  const encode = text => encodeURIComponent(text).replace(/%20|[!'()~]/g,
    c => c === '%20' ? '+' : '%' + c.charCodeAt(0).toString(16).toUpperCase());
  const fail = (message, code) => {
    const error = new TypeError(message);
    error.code = code;
    throw error;
  };
  const needed = (args, ...names) => {
    if (args.length >= names.length) return;
    const list = names.map(n => `"${n}"`).join(' and ');
    fail(`The ${list} argument${names.length > 1 ? 's' : ''} must be specified`, 'ERR_MISSING_ARGS');
  };

  class URLSearchParams {
    #list = []; #changed = () => {};
    constructor(init = '') {
      if (init === null) init = '';
      if (typeof init !== 'object' && typeof init !== 'function') return this.#parse(String(init).replace(/^\?/, ''));
      const make = init[Symbol.iterator];
      if (make === undefined || make === null) {
        for (const key of Reflect.ownKeys(init)) {
          if (typeof key === 'symbol' || !Object.getOwnPropertyDescriptor(init, key).enumerable) continue;
          this.#list.push([wellFormed(key), wellFormed(init[key])]);
        }
        return;
      }
      if (typeof make !== 'function') fail('Query pairs must be iterable', 'ERR_ARG_NOT_ITERABLE');
      for (const pair of init) {
        if (Object(pair) !== pair || typeof pair[Symbol.iterator] !== 'function') {
          fail('Each query pair must be an iterable [name, value] tuple', 'ERR_INVALID_TUPLE');
        }
        const [...parts] = pair;
        if (parts.length !== 2) fail('Each query pair must be an iterable [name, value] tuple', 'ERR_INVALID_TUPLE');
        this.#list.push(parts.map(wellFormed));
      }
    }
    #parse(text) {
      this.#list = wellFormed(text).split('&').filter(part => part !== '').map(part => {
        const at = part.indexOf('=');
        return at < 0 ? [decode(part), ''] : [decode(part.slice(0, at)), decode(part.slice(at + 1))];
      });
      return this;
    }
    // A URL follows its parameters, and they follow it.
    static bind(params, changed) { params.#changed = changed; }
    static fill(params, text) { params.#parse(text); }
    get size() { return this.#list.length; }
    append(name, value) {
      needed(arguments, 'name', 'value');
      this.#list.push([wellFormed(name), wellFormed(value)]);
      this.#changed();
    }
    delete(name, value) {
      needed(arguments, 'name');
      const [key, only] = [wellFormed(name), value === undefined ? undefined : wellFormed(value)];
      this.#list = this.#list.filter(([k, v]) => k !== key || only !== undefined && v !== only);
      this.#changed();
    }
    get(name) {
      needed(arguments, 'name');
      const key = wellFormed(name), found = this.#list.find(([k]) => k === key);
      return found ? found[1] : null;
    }
    getAll(name) {
      needed(arguments, 'name');
      const key = wellFormed(name);
      return this.#list.filter(([k]) => k === key).map(([, v]) => v);
    }
    has(name, value) {
      needed(arguments, 'name');
      const [key, only] = [wellFormed(name), value === undefined ? undefined : wellFormed(value)];
      return this.#list.some(([k, v]) => k === key && (only === undefined || v === only));
    }
    set(name, value) {
      needed(arguments, 'name', 'value');
      const key = wellFormed(name), text = wellFormed(value), at = this.#list.findIndex(([k]) => k === key);
      if (at < 0) this.#list.push([key, text]);
      else {
        this.#list[at][1] = text;
        this.#list = this.#list.filter(([k], i) => k !== key || i === at);
      }
      this.#changed();
    }
    sort() {
      this.#list.sort(([a], [b]) => a < b ? -1 : a > b ? 1 : 0);
      this.#changed();
    }
    forEach(callback, thisArg) {
      if (typeof callback !== 'function') fail('The "callback" argument must be of type function.', 'ERR_INVALID_ARG_TYPE');
      for (let i = 0; i < this.#list.length; i++) callback.call(thisArg, this.#list[i][1], this.#list[i][0], this);
    }
    *entries() { for (let i = 0; i < this.#list.length; i++) yield [...this.#list[i]]; }
    *keys() { for (let i = 0; i < this.#list.length; i++) yield this.#list[i][0]; }
    *values() { for (let i = 0; i < this.#list.length; i++) yield this.#list[i][1]; }
    toString() { return this.#list.map(([k, v]) => `${encode(k)}=${encode(v)}`).join('&'); }
  }
  const {bind, fill} = URLSearchParams;
  delete URLSearchParams.bind;
  delete URLSearchParams.fill;
  define(URLSearchParams.prototype, {[Symbol.iterator]: URLSearchParams.prototype.entries});

  class URL {
    #parts; #params;
    constructor(input, base) {
      needed(arguments, 'url');
      const text = wellFormed(input), against = base === undefined ? undefined : wellFormed(base);
      const parts = parseURL(text, against);
      if (!parts) {
        const error = new TypeError('Invalid URL');
        error.code = 'ERR_INVALID_URL';
        error.input = text;
        if (against !== undefined) error.base = against;
        throw error;
      }
      this.#parts = parts;
    }
    static canParse(input, base) {
      needed(arguments, 'url');
      return !!parseURL(wellFormed(input), base === undefined ? undefined : wellFormed(base));
    }
    static createObjectURL() { throw new TypeError('URL.createObjectURL is not available in bodies'); }
    #change(name, value) {
      const parts = changeURL(this.#parts.href, name, wellFormed(value));
      if (!parts) return false;
      this.#parts = parts;
      if (this.#params) fill(this.#params, parts.search.replace(/^\?/, ''));
      return true;
    }
    get href() { return this.#parts.href; }
    set href(value) { if (!this.#change('href', value)) fail('Invalid URL', 'ERR_INVALID_URL'); }
    get origin() { return this.#parts.origin; }
    get protocol() { return this.#parts.protocol; }
    set protocol(value) { this.#change('protocol', value); }
    get username() { return this.#parts.username; }
    set username(value) { this.#change('username', value); }
    get password() { return this.#parts.password; }
    set password(value) { this.#change('password', value); }
    get host() { return this.#parts.host; }
    set host(value) { this.#change('host', value); }
    get hostname() { return this.#parts.hostname; }
    set hostname(value) { this.#change('hostname', value); }
    get port() { return this.#parts.port; }
    set port(value) { this.#change('port', value); }
    get pathname() { return this.#parts.pathname; }
    set pathname(value) { this.#change('pathname', value); }
    get search() { return this.#parts.search; }
    set search(value) { this.#change('search', value); }
    get hash() { return this.#parts.hash; }
    set hash(value) { this.#change('hash', value); }
    get searchParams() {
      if (!this.#params) {
        this.#params = new URLSearchParams(this.#parts.search);
        bind(this.#params, () => {
          const parts = changeURL(this.#parts.href, 'search', this.#params.toString());
          if (parts) this.#parts = parts;
        });
      }
      return this.#params;
    }
    toString() { return this.#parts.href; }
    toJSON() { return this.#parts.href; }
  }
  for (const c of [URL, URLSearchParams]) {
    for (const name of Object.getOwnPropertyNames(c.prototype)) {
      if (name !== 'constructor') Object.defineProperty(c.prototype, name, {enumerable: true});
    }
    Object.defineProperty(c.prototype, Symbol.toStringTag, {value: c.name, configurable: true});
  }
  define(globalThis, {URL, URLSearchParams});
})
