(function ({define}) {
  // Node's stacks name frames of files that bodies do not have; ours is the place in
  // the body, as the interpreter tells it.
  define(Error, {
    captureStackTrace(target) {
      if (Object(target) !== target) throw new TypeError(`Invalid argument`);
      const frames = String(new Error().stack).split('\n').slice(2).join('\n');
      const {name, message} = target;
      const head = name === undefined ? 'Error' : message ? `${name}: ${message}` : String(name);
      Object.defineProperty(target, 'stack', {value: `${head}\n${frames}`, writable: true, configurable: true});
    },
  });
  Error.stackTraceLimit = 10;
})
