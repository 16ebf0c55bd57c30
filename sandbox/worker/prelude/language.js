(function ({define}) {
  // Symbols of protocols that the lowered syntax looks up by name.
  for (const name of ['asyncIterator', 'dispose', 'asyncDispose']) {
    if (!(name in Symbol)) Object.defineProperty(Symbol, name, {value: Symbol(`Symbol.${name}`)});
  }
  if (typeof SuppressedError === 'undefined') {
    define(globalThis, {
      SuppressedError: class SuppressedError extends Error {
        constructor(error, suppressed, message) {
          super(message);
          define(this, {error, suppressed});
        }
      },
    });
    define(globalThis.SuppressedError.prototype, {name: 'SuppressedError', message: ''});
  }
})
