(function ({define}) {
  // The messages are V8's, for the same mistakes.
  const check = (items, callback) => {
    if (items === undefined || items === null) throw new TypeError(`${items} is not iterable`);
    if (typeof callback !== 'function') throw new TypeError(`${String(callback)} is not a function`);
  };
  define(Object, {
    groupBy(items, callback) {
      check(items, callback);
      const groups = Object.create(null);
      let index = 0;
      for (const item of items) {
        const given = callback(item, index++), key = typeof given === 'symbol' ? given : String(given);
        (key in groups ? groups[key] : groups[key] = []).push(item);
      }
      return groups;
    },
  });
  define(Map, {
    groupBy(items, callback) {
      check(items, callback);
      const groups = new Map();
      let index = 0;
      for (const item of items) {
        const key = callback(item, index++), group = groups.get(key);
        if (group) group.push(item);
        else groups.set(key, [item]);
      }
      return groups;
    },
  });
})
