(function ({define, now}) {
  const started = now();
  define(globalThis, {
    global: globalThis,
    queueMicrotask(callback) {
      if (typeof callback !== 'function') {
        const error = new TypeError(`The "callback" argument must be of type function. Received ${callback === null ? 'null' : typeof callback}`);
        error.code = 'ERR_INVALID_ARG_TYPE';
        throw error;
      }
      Promise.resolve().then(() => { callback(); });
    },
    // Time stands still in a body.
    performance: Object.create({
      now() { return 0; },
      get timeOrigin() { return started; },
      mark() {},
      measure() {},
      toJSON() { return {timeOrigin: started}; },
    }),
  });
})
