(function ({define}) {
  const need = value => {
    if (typeof value !== 'function') throw new TypeError('Object.prototype.__defineGetter__: Expecting function');
  };
  const find = (object, key, kind) => {
    for (let o = Object(object); o !== null; o = Object.getPrototypeOf(o)) {
      const found = Object.getOwnPropertyDescriptor(o, key);
      if (found) return found[kind];
    }
  };
  define(Object.prototype, {
    __defineGetter__(key, get) {
      need(get);
      Object.defineProperty(this, key, {get, enumerable: true, configurable: true});
    },
    __defineSetter__(key, set) {
      need(set);
      Object.defineProperty(this, key, {set, enumerable: true, configurable: true});
    },
    __lookupGetter__(key) { return find(this, key, 'get'); },
    __lookupSetter__(key) { return find(this, key, 'set'); },
  });
})
