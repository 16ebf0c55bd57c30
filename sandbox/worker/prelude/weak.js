(function ({define}) {
  // The interpreter holds objects only. Symbols of a body live as long as the body,
  // so holding them here keeps nothing longer.
  const symbols = new WeakMap();
  const {get: find, set: keep} = WeakMap.prototype;
  const usable = key => typeof key === 'symbol' && Symbol.keyFor(key) === undefined;
  const beside = holder => {
    let map = find.call(symbols, holder);
    if (!map) keep.call(symbols, holder, map = new Map());
    return map;
  };
  const extend = (proto, adder) => {
    const {get, has, delete: remove} = proto, add = proto[adder];
    const methods = {
      has(key) { return usable(key) ? beside(this).has(key) : has.call(this, key); },
      delete(key) { return usable(key) ? beside(this).delete(key) : remove.call(this, key); },
    };
    if (get) methods.get = {get(key) { return usable(key) ? beside(this).get(key) : get.call(this, key); }}.get;
    define(proto, methods);
    define(proto, adder === 'set'
      ? {set(key, value) { return usable(key) ? (beside(this).set(key, value), this) : add.call(this, key, value); }}
      : {add(key) { return usable(key) ? (beside(this).set(key, true), this) : add.call(this, key); }});
  };
  extend(WeakMap.prototype, 'set');
  extend(WeakSet.prototype, 'add');
})
