(function ({define}) {
  define(globalThis, {
    queueMicrotask(callback) {
      if (typeof callback !== 'function') {
        const error = new TypeError(`The "callback" argument must be of type function. Received ${callback === null ? 'null' : typeof callback}`);
        error.code = 'ERR_INVALID_ARG_TYPE';
        throw error;
      }
      Promise.resolve().then(() => { callback(); });
    },
  });
})
