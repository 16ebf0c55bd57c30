(function ({define}) {
  const proto = Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]()));
  const isObject = value => Object(value) === value;
  const needObject = value => {
    if (!isObject(value)) throw new TypeError('Iterator helper called on a value that is not an object');
    return value;
  };
  const needFunction = (iterator, callback) => {
    if (typeof callback === 'function') return callback;
    close(iterator);
    throw new TypeError(`${String(callback)} is not a function`);
  };
  const close = iterator => { if (iterator.return !== undefined) iterator.return(); };
  const closeAfter = (iterator, thrown) => {
    try { close(iterator); } catch { /* the first error counts */ }
    throw thrown;
  };
  // direct takes next once, as the specification's GetIteratorDirect.
  const direct = iterator => {
    const {next} = needObject(iterator);
    return () => {
      const step = next.call(iterator);
      if (!isObject(step)) throw new TypeError(`Iterator result ${String(step)} is not an object`);
      return step;
    };
  };

  function Iterator() {
    if (new.target === undefined) throw new TypeError("Constructor Iterator requires 'new'");
    if (new.target === Iterator) throw new TypeError('Abstract class Iterator not directly constructable');
  }
  Object.defineProperty(Iterator, 'prototype', {value: proto, writable: false});

  const helperProto = Object.create(proto);
  const wrapProto = Object.create(proto);
  const states = new WeakMap();
  const stateOf = helper => {
    const state = isObject(helper) ? states.get(helper) : undefined;
    if (!state) throw new TypeError('next method called on incompatible receiver ' + String(helper));
    return state;
  };
  // A helper is a generator made inside, so that nobody can reach that.
  const helper = (iterator, generator) => {
    const made = Object.create(helperProto);
    states.set(made, {generator, iterator, started: false});
    return made;
  };
  define(helperProto, {
    next() {
      const state = stateOf(this);
      state.started = true;
      return state.generator.next();
    },
    return() {
      const state = stateOf(this);
      if (!state.started && !state.closed) {
        state.closed = state.started = true;
        state.generator.return();
        close(state.iterator);
        return {value: undefined, done: true};
      }
      return state.generator.return();
    },
  });
  Object.defineProperty(helperProto, Symbol.toStringTag, {value: 'Iterator Helper', configurable: true});

  const count = (iterator, limit) => {
    const number = Number(limit);
    if (Number.isNaN(number) || number < 0) {
      close(iterator);
      throw new RangeError(`${String(limit)} must be positive`);
    }
    return Math.trunc(number);
  };
  // each runs step for every value and closes the iterator when it is left early.
  const each = function* (iterator, step) {
    const next = direct(iterator);
    let finished = false;
    try {
      for (let index = 0, result; ; index++) {
        try { result = next(); } catch (thrown) { finished = true; throw thrown; }
        if (result.done) { finished = true; return; }
        if ((yield* step(result.value, index)) === false) { finished = true; close(iterator); return; }
      }
    } catch (thrown) {
      if (finished) throw thrown;
      finished = true;
      closeAfter(iterator, thrown);
    } finally {
      if (!finished) close(iterator);
    }
  };
  const inner = value => {
    if (!isObject(value)) throw new TypeError(`${String(value)} is not an object`);
    const make = value[Symbol.iterator];
    return make === undefined || make === null ? value : needObject(make.call(value));
  };

  define(proto, {
    map(callback) {
      needFunction(needObject(this), callback);
      return helper(this, each(this, function* (value, index) { yield callback(value, index); }));
    },
    filter(callback) {
      needFunction(needObject(this), callback);
      return helper(this, each(this, function* (value, index) { if (callback(value, index)) yield value; }));
    },
    take(limit) {
      let left = count(needObject(this), limit);
      const all = each(this, function* (value) {
        left--;
        yield value;
        return left > 0;
      });
      const iterator = this;
      return helper(this, (function* () { if (left > 0) yield* all; else close(iterator); })());
    },
    drop(limit) {
      let left = count(needObject(this), limit);
      return helper(this, each(this, function* (value) { if (left > 0) left--; else yield value; }));
    },
    flatMap(callback) {
      needFunction(needObject(this), callback);
      return helper(this, each(this, function* (value, index) {
        const iterator = inner(callback(value, index)), next = direct(iterator);
        let finished = false;
        try {
          for (let step; !(step = next()).done;) yield step.value;
          finished = true;
        } finally {
          if (!finished) close(iterator);
        }
      }));
    },
    reduce(callback, ...initial) {
      needFunction(needObject(this), callback);
      const next = direct(this);
      let index = 0, result = initial[0];
      if (!initial.length) {
        const first = next();
        if (first.done) throw new TypeError('Reduce of a done iterator with no initial value');
        result = first.value;
        index = 1;
      }
      for (let step; !(step = next()).done; index++) {
        try { result = callback(result, step.value, index); } catch (thrown) { closeAfter(this, thrown); }
      }
      return result;
    },
    toArray() {
      const next = direct(this), values = [];
      for (let step; !(step = next()).done;) values.push(step.value);
      return values;
    },
    forEach(callback) { search(this, callback, () => false); },
    some(callback) { return search(this, callback, found => found).found; },
    every(callback) { return !search(this, callback, found => !found).found; },
    find(callback) { return search(this, callback, found => found).value; },
  });
  const search = (iterator, callback, stop) => {
    needFunction(needObject(iterator), callback);
    const next = direct(iterator);
    for (let index = 0, step; !(step = next()).done; index++) {
      let found;
      try { found = callback(step.value, index); } catch (thrown) { closeAfter(iterator, thrown); }
      if (stop(found)) {
        close(iterator);
        return {found: true, value: step.value};
      }
    }
    return {found: false, value: undefined};
  };
  Object.defineProperty(proto.reduce, 'length', {value: 1});

  define(wrapProto, {
    next() { return stateOf(this).next(); },
    return() {
      const {iterator} = stateOf(this);
      return iterator.return === undefined ? {value: undefined, done: true} : iterator.return();
    },
  });
  define(Iterator, {
    from(value) {
      if (typeof value !== 'string') needObject(value);
      const make = value[Symbol.iterator];
      const iterator = make === undefined || make === null ? value : needObject(make.call(value));
      if (proto.isPrototypeOf(iterator)) return iterator;
      const {next} = iterator, made = Object.create(wrapProto);
      states.set(made, {iterator, next: () => next.call(iterator)});
      return made;
    },
  });
  const accessor = (key, value) => Object.defineProperty(proto, key, {
    get() { return value; },
    set(given) {
      if (this === proto) throw new TypeError('Cannot assign to this property');
      Object.defineProperty(this, key, {value: given, writable: true, enumerable: true, configurable: true});
    },
    configurable: true,
  });
  accessor('constructor', Iterator);
  accessor(Symbol.toStringTag, 'Iterator');
  define(globalThis, {Iterator});
})
