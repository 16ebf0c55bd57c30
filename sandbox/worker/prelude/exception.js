(function (host) {
  const codes = {DataCloneError: 25, InvalidCharacterError: 5, AbortError: 20, TimeoutError: 23, SyntaxError: 12};
  class DOMException extends Error {
    #name; #message;
    constructor(message = '', options = 'Error') {
      super();
      delete this.message;
      this.#message = String(message);
      this.#name = String(Object(options) === options ? options.name ?? 'Error' : options);
      if (Object(options) === options && 'cause' in options) this.cause = options.cause;
    }
    get name() { return this.#name; }
    get message() { return this.#message; }
    get code() { return codes[this.#name] ?? 0; }
  }
  Object.defineProperty(DOMException.prototype, Symbol.toStringTag, {value: 'DOMException', configurable: true});
  host.DOMException = DOMException;
})
