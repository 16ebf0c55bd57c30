(function ({define, encode, decode, base64, DOMException}) {
  const bytesOf = input => {
    if (input === undefined) return [new ArrayBuffer(0), 0, 0];
    if (ArrayBuffer.isView(input)) return [input.buffer, input.byteOffset, input.byteLength];
    if (input instanceof ArrayBuffer) return [input, 0, input.byteLength];
    const error = new TypeError('The "list" argument must be an instance of SharedArrayBuffer, ArrayBuffer or ArrayBufferView.');
    error.code = 'ERR_INVALID_ARG_TYPE';
    throw error;
  };
  class TextEncoder {
    get encoding() { return 'utf-8'; }
    encode(text = '') { return new Uint8Array(encode(String(text), 'utf8')); }
    encodeInto(text, target) {
      let read = 0, written = 0;
      for (const char of String(text)) {
        const bytes = new Uint8Array(encode(char, 'utf8'));
        if (written + bytes.length > target.length) break;
        target.set(bytes, written);
        written += bytes.length;
        read += char.length;
      }
      return {read, written};
    }
  }
  const labels = {
    'utf-8': ['unicode-1-1-utf-8', 'unicode11utf8', 'unicode20utf8', 'utf-8', 'utf8', 'x-unicode20utf8'],
    'utf-16le': ['utf-16', 'utf-16le', 'ucs-2', 'unicode', 'iso-10646-ucs-2', 'csunicode', 'unicodefeff'],
    'utf-16be': ['utf-16be', 'unicodefffe'],
    'windows-1252': ['latin1', 'ascii', 'us-ascii', 'iso-8859-1', 'iso8859-1', 'windows-1252', 'cp1252', 'l1', 'x-cp1252', 'ansi_x3.4-1968', 'iso88591', 'iso_8859-1', 'cp819', 'ibm819'],
  };
  class TextDecoder {
    #encoding; #fatal; #ignoreBOM; #pending = new Uint8Array(0); #started = false;
    constructor(label = 'utf-8', {fatal = false, ignoreBOM = false} = {}) {
      const wanted = String(label).trim().toLowerCase();
      this.#encoding = Object.keys(labels).find(name => labels[name].includes(wanted));
      if (!this.#encoding) {
        const error = new RangeError(`The "${label}" encoding is not supported`);
        error.code = 'ERR_ENCODING_NOT_SUPPORTED';
        throw error;
      }
      this.#fatal = !!fatal;
      this.#ignoreBOM = !!ignoreBOM;
    }
    get encoding() { return this.#encoding; }
    get fatal() { return this.#fatal; }
    get ignoreBOM() { return this.#ignoreBOM; }
    decode(input, {stream = false} = {}) {
      let [buffer, offset, length] = bytesOf(input);
      if (this.#pending.length) {
        const joined = new Uint8Array(this.#pending.length + length);
        joined.set(this.#pending);
        joined.set(new Uint8Array(buffer, offset, length), this.#pending.length);
        [buffer, offset, length] = [joined.buffer, 0, joined.length];
      }
      const found = decode(buffer, offset, length, this.#encoding, this.#fatal, !!stream);
      if (found === undefined) {
        this.#pending = new Uint8Array(0);
        const error = new TypeError(`The encoded data was not valid for encoding ${this.#encoding}`);
        error.code = 'ERR_ENCODING_INVALID_ENCODED_DATA';
        throw error;
      }
      let [text, used] = found;
      this.#pending = new Uint8Array(buffer.slice(offset + used, offset + length));
      if (!this.#started && !this.#ignoreBOM && text.startsWith('\uFEFF') && this.#encoding !== 'windows-1252') text = text.slice(1);
      this.#started = stream && (this.#started || text !== '');
      return text;
    }
  }
  for (const c of [TextEncoder, TextDecoder]) {
    Object.defineProperty(c.prototype, Symbol.toStringTag, {value: c.name, configurable: true});
  }
  const invalid = message => new DOMException(message, 'InvalidCharacterError');
  const missing = name => {
    const error = new TypeError(`The "${name}" argument must be specified`);
    error.code = 'ERR_MISSING_ARGS';
    return error;
  };
  define(globalThis, {
    TextEncoder, TextDecoder,
    btoa(input) {
      if (arguments.length === 0) throw missing('input');
      const text = String(input);
      if (/[^\0-\xFF]/.test(text)) throw invalid('Invalid character');
      return base64(text);
    },
    atob(input) {
      if (arguments.length === 0) throw missing('input');
      const text = String(input).replace(/[\t\n\f\r ]/g, '');
      const bare = text.length % 4 === 0 ? text.replace(/==?$/, '') : text;
      if (/[^A-Za-z0-9+/]/.test(bare)) throw invalid('Invalid character');
      if (bare.length % 4 === 1) throw invalid('The string to be decoded is not correctly encoded.');
      const bytes = encode(bare, 'base64');
      return decode(bytes, 0, bytes.byteLength, 'latin1', false, false)[0];
    },
  });
})
