(function ({define, DOMException}) {
  const refuse = value => {
    const shown = typeof value === 'symbol' || typeof value === 'function' ? String(value) : '#<' + (value.constructor?.name || 'Object') + '>';
    throw new DOMException(`${shown} could not be cloned.`, 'DataCloneError');
  };
  const tag = value => Object.prototype.toString.call(value).slice(8, -1);
  const errors = {EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError};
  const own = (object, key, value) =>
    Object.defineProperty(object, key, {value, writable: true, enumerable: true, configurable: true});

  const clone = (value, seen) => {
    if (typeof value === 'symbol' || typeof value === 'function') refuse(value);
    if (Object(value) !== value) return value;
    if (seen.has(value)) return seen.get(value);
    const keep = made => (seen.set(value, made), made);
    if (Array.isArray(value)) {
      const made = keep(new Array(value.length));
      for (const key of Object.keys(value)) own(made, key, clone(value[key], seen));
      return made;
    }
    if (ArrayBuffer.isView(value)) {
      const buffer = clone(value.buffer, seen), length = value instanceof DataView ? value.byteLength : value.length;
      const Class = value instanceof DataView ? DataView : globalThis[Object.getPrototypeOf(Uint8Array.prototype)[Symbol.toStringTag] ?? tag(value)] ?? Uint8Array;
      return keep(new Class(buffer, value.byteOffset, length));
    }
    switch (tag(value)) {
      case 'Boolean': case 'Number': case 'String': case 'BigInt': return keep(Object(value.valueOf()));
      case 'Date': return keep(new Date(value.getTime()));
      case 'RegExp': return keep(new RegExp(value.source, value.flags));
      case 'ArrayBuffer': return keep(value.slice(0));
      case 'Symbol': return refuse(value);
      case 'Map': {
        const made = keep(new Map());
        for (const [k, v] of [...value]) made.set(clone(k, seen), clone(v, seen));
        return made;
      }
      case 'Set': {
        const made = keep(new Set());
        for (const v of [...value]) made.add(clone(v, seen));
        return made;
      }
      case 'Error': return cloneError(value, keep, seen);
      case 'WeakMap': case 'WeakSet': case 'Promise': case 'Generator': return refuse(value);
    }
    const made = keep({});
    for (const key of Object.keys(value)) own(made, key, clone(value[key], seen));
    return made;
  };
  const cloneError = (value, keep, seen) => {
    const Class = errors[value.name] ?? Error;
    const made = keep(Object.create(Class.prototype));
    const fresh = new Class();
    Object.setPrototypeOf(fresh, Class.prototype);
    seen.set(value, fresh);
    for (const key of ['message', 'stack', 'cause']) {
      if (!Object.hasOwn(value, key)) continue;
      define(fresh, {[key]: key === 'cause' ? clone(value[key], seen) : String(value[key])});
    }
    return made && fresh;
  };
  define(globalThis, {
    structuredClone(value, options) {
      if (arguments.length === 0) {
        const error = new TypeError('The "value" argument must be specified');
        error.code = 'ERR_MISSING_ARGS';
        throw error;
      }
      if (options?.transfer?.length) throw new TypeError('structuredClone with transfer is not available in bodies');
      return clone(value, new Map());
    },
  });
  Object.defineProperty(structuredClone, 'length', {value: 0});
})
