(function ({define}) {
  const collect = async (Target, items, map, thisArg) => {
    if (map !== undefined && typeof map !== 'function') throw new TypeError(`${String(map)} is not a function`);
    const isConstructor = typeof Target === 'function' && Target.prototype !== undefined;
    const apply = map === undefined ? value => value : (value, i) => map.call(thisArg, value, i);
    const makeAsync = Symbol.asyncIterator && items[Symbol.asyncIterator];
    const makeSync = items[Symbol.iterator];
    const add = (target, i, value) =>
      Object.defineProperty(target, i, {value, writable: true, enumerable: true, configurable: true});
    let i = 0;
    if (!makeAsync && !makeSync) {
      const length = Math.min(Math.max(Math.trunc(Number(items.length)) || 0, 0), Number.MAX_SAFE_INTEGER);
      const target = isConstructor ? new Target(length) : new Array(length);
      for (; i < length; i++) add(target, i, await apply(await items[i], i));
      target.length = length;
      return target;
    }
    const target = isConstructor ? new Target() : [];
    const iterator = (makeAsync || makeSync).call(items);
    for (;; i++) {
      const step = makeAsync ? await iterator.next() : iterator.next();
      if (Object(step) !== step) throw new TypeError(`Iterator result ${String(step)} is not an object`);
      if (step.done) break;
      try {
        add(target, i, await apply(makeAsync ? step.value : await step.value, i));
      } catch (thrown) {
        if (iterator.return) await iterator.return();
        throw thrown;
      }
    }
    target.length = i;
    return target;
  };
  define(Array, {
    fromAsync(items, map = undefined, thisArg = undefined) { return collect(this, items, map, thisArg); },
  });
  Object.defineProperty(Array.fromAsync, 'length', {value: 1});
})
