(function ({define, encode, decode}) {
  const names = {
    utf8: 'utf8', 'utf-8': 'utf8', hex: 'hex', base64: 'base64', base64url: 'base64url', latin1: 'latin1', binary: 'latin1',
    ascii: 'ascii', ucs2: 'utf16le', 'ucs-2': 'utf16le', utf16le: 'utf16le', 'utf-16le': 'utf16le',
  };
  const known = encoding => names[String(encoding).toLowerCase()];
  const coded = (Class, code, message) => {
    const error = new Class(message);
    error.code = code;
    error.stack = `${error.name} [${code}]: ${message}`;
    return error;
  };
  const encodingOf = encoding => {
    if (encoding === undefined || encoding === null || encoding === '') return 'utf8';
    const name = known(encoding);
    if (!name) throw coded(TypeError, 'ERR_UNKNOWN_ENCODING', `Unknown encoding: ${encoding}`);
    return name;
  };
  const received = value => {
    if (value === undefined || value === null) return ` Received ${value}`;
    if (typeof value === 'function') return ` Received function ${value.name}`;
    if (typeof value === 'object') return value.constructor?.name ? ` Received an instance of ${value.constructor.name}` : ' Received [Object: null prototype] {}';
    return ` Received type ${typeof value} (${typeof value === 'string' ? `'${value}'` : String(value)})`;
  };
  const wrongType = (what, wanted, value) =>
    coded(TypeError, 'ERR_INVALID_ARG_TYPE', `The ${what} must be ${wanted}.${received(value)}`);
  const outOfRange = (name, range, value) => {
    let shown = String(value);
    if (Number.isInteger(value) && Math.abs(value) > 2 ** 32) shown = shown.replace(/\B(?=(\d{3})+$)/g, '_');
    return coded(RangeError, 'ERR_OUT_OF_RANGE', `The value of "${name}" is out of range. It must be ${range}. Received ${shown}`);
  };
  const sizeOf = size => {
    if (typeof size !== 'number') throw wrongType('"size" argument', 'of type number', size);
    if (!(size >= 0 && size <= 4294967296)) throw outOfRange('size', '>= 0 && <= 4294967296', size);
    return size;
  };
  const text = (bytes, encoding, start, end) =>
    start >= end ? '' : decode(bytes.buffer, bytes.byteOffset + start, end - start, encoding, false, false)[0];
  const clamp = (value, fallback, length) => {
    if (value === undefined) return fallback;
    const n = Math.trunc(Number(value)) || 0;
    return n < 0 ? 0 : Math.min(n, length);
  };
  const wrap = buffer => new Buffer(buffer, 0, buffer.byteLength);
  const toBytes = (value, encoding) => typeof value === 'string' ? new Uint8Array(encode(value, encodingOf(encoding))) : value;

  class Buffer extends Uint8Array {
    static from(value, a, b) {
      if (typeof value === 'string') return wrap(encode(value, encodingOf(a)));
      if (value instanceof ArrayBuffer) {
        const offset = a === undefined ? 0 : Math.trunc(Number(a)) || 0;
        if (offset > value.byteLength) throw coded(RangeError, 'ERR_BUFFER_OUT_OF_BOUNDS', '"offset" is outside of buffer bounds');
        return new Buffer(value, offset, b === undefined ? value.byteLength - offset : Number(b));
      }
      if (typeof value === 'object' && value !== null) {
        if (ArrayBuffer.isView(value)) return wrap(Uint8Array.from(value).buffer);
        const primitive = value.valueOf?.();
        if (primitive !== undefined && primitive !== null && primitive !== value) return Buffer.from(primitive, a, b);
        if (value.type === 'Buffer' && Array.isArray(value.data)) return wrap(Uint8Array.from(value.data).buffer);
        if (value.length !== undefined) return typeof value.length === 'number' && value.length > 0 ? wrap(Uint8Array.from(Array.from(value, Number)).buffer) : Buffer.alloc(0);
        const make = value[Symbol.toPrimitive];
        if (typeof make === 'function') return Buffer.from(make.call(value, 'string'), a, b);
      }
      throw wrongType('first argument', 'of type string or an instance of Buffer, ArrayBuffer, or Array or an Array-like Object', value);
    }
    static of(...values) { return Buffer.from(values); }
    static alloc(size, fill, encoding) {
      const made = wrap(new ArrayBuffer(sizeOf(size)));
      return fill === undefined || fill === 0 ? made : made.fill(fill, encoding);
    }
    static allocUnsafe(size) { return Buffer.alloc(size); }
    static allocUnsafeSlow(size) { return Buffer.alloc(size); }
    static isBuffer(value) { return value instanceof Buffer; }
    static isEncoding(encoding) { return typeof encoding === 'string' && known(encoding) !== undefined; }
    static byteLength(value, encoding) {
      if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return value.byteLength;
      if (typeof value !== 'string') throw wrongType('"string" argument', 'of type string or an instance of Buffer or ArrayBuffer', value);
      const name = known(encoding) ?? 'utf8';
      if (name === 'base64' || name === 'base64url') return Math.floor(value.replace(/={1,2}$/, '').length * 3 / 4);
      if (name === 'hex') return value.length >>> 1;
      return encode(value, name).byteLength;
    }
    static concat(list, total) {
      if (!Array.isArray(list)) throw wrongType('"list" argument', 'an instance of Array', list);
      list.forEach((part, i) => {
        if (!(part instanceof Uint8Array)) throw wrongType(`"list[${i}]" argument`, 'an instance of Buffer or Uint8Array', part);
      });
      const made = Buffer.alloc(total === undefined ? list.reduce((n, part) => n + part.length, 0) : total);
      let at = 0;
      for (const part of list) {
        if (at >= made.length) break;
        made.set(part.length > made.length - at ? part.subarray(0, made.length - at) : part, at);
        at += part.length;
      }
      return made;
    }
    static compare(a, b) { return Buffer.prototype.compare.call(a, b); }

    get parent() { return this.buffer; }
    get offset() { return this.byteOffset; }
    toString(encoding, start, end) {
      const from = clamp(start, 0, this.length), to = clamp(end, this.length, this.length);
      return text(this, encodingOf(encoding), from, to);
    }
    toLocaleString(encoding, start, end) { return this.toString(encoding, start, end); }
    toJSON() { return {type: 'Buffer', data: Array.from(this)}; }
    equals(other) {
      if (!(other instanceof Uint8Array)) throw wrongType('"otherBuffer" argument', 'an instance of Buffer or Uint8Array', other);
      return this.compare(other) === 0;
    }
    compare(other, otherStart = 0, otherEnd, start = 0, end) {
      if (!(other instanceof Uint8Array)) throw wrongType('"target" argument', 'an instance of Buffer or Uint8Array', other);
      otherEnd ??= other.length;
      end ??= this.length;
      const length = Math.min(end - start, otherEnd - otherStart);
      for (let i = 0; i < length; i++) {
        const difference = this[start + i] - other[otherStart + i];
        if (difference) return difference < 0 ? -1 : 1;
      }
      return Math.sign((end - start) - (otherEnd - otherStart));
    }
    #find(value, offset, encoding, step) {
      if (typeof offset === 'string') [offset, encoding] = [undefined, offset];
      if (typeof value === 'number') value = [value & 255];
      else if (typeof value !== 'string' && !(value instanceof Uint8Array)) {
        throw wrongType('"value" argument', 'one of type number or string or an instance of Buffer or Uint8Array', value);
      }
      const wanted = toBytes(value, encoding), last = this.length - wanted.length;
      let at = Math.trunc(Number(offset));
      if (offset === undefined || Number.isNaN(at)) at = step > 0 ? 0 : last;
      else if (at < 0) at += this.length;
      if (at < 0) { if (step < 0) return -1; at = 0; }
      if (step > 0 && wanted.length === 0) return Math.min(at, this.length);
      if (step < 0) at = Math.min(at, last);
      for (; at >= 0 && at <= last; at += step) {
        let same = 0;
        while (same < wanted.length && this[at + same] === wanted[same]) same++;
        if (same === wanted.length) return at;
      }
      return -1;
    }
    indexOf(value, offset, encoding) { return this.#find(value, offset, encoding, 1); }
    lastIndexOf(value, offset, encoding) { return this.#find(value, offset, encoding, -1); }
    includes(value, offset, encoding) { return this.#find(value, offset, encoding, 1) !== -1; }
    subarray(start, end) {
      const place = (n, fallback) => {
        if (n === undefined) return fallback;
        const i = Math.trunc(Number(n)) || 0;
        return i < 0 ? Math.max(0, this.length + i) : Math.min(i, this.length);
      };
      const from = place(start, 0);
      return new Buffer(this.buffer, this.byteOffset + from, Math.max(0, place(end, this.length) - from));
    }
    slice(start, end) { return this.subarray(start, end); }
    write(value, offset, length, encoding) {
      if (typeof value !== 'string') throw wrongType('argument', 'of type string', value);
      if (typeof offset === 'string') [offset, encoding] = [undefined, offset];
      else if (typeof length === 'string') [length, encoding] = [undefined, length];
      const from = offset ?? 0;
      if (from < 0 || from > this.length) throw outOfRange('offset', `>= 0 && <= ${this.length}`, from);
      const name = encodingOf(encoding), bytes = new Uint8Array(encode(value, name));
      let count = Math.min(bytes.length, length ?? Infinity, this.length - from);
      // A character is written whole or not at all.
      if (name === 'utf8') while (count < bytes.length && count > 0 && (bytes[count] & 0xC0) === 0x80) count--;
      this.set(bytes.subarray(0, count), from);
      return count;
    }
    copy(target, targetStart = 0, start = 0, end = this.length) {
      const count = Math.max(0, Math.min(end, this.length) - start), room = Math.max(0, target.length - targetStart);
      const part = Uint8Array.prototype.slice.call(new Uint8Array(this.buffer, this.byteOffset, this.length), start, start + Math.min(count, room));
      target.set(part, targetStart);
      return part.length;
    }
    fill(value, offset, end, encoding) {
      if (typeof offset === 'string') [offset, encoding] = [undefined, offset];
      else if (typeof end === 'string') [end, encoding] = [undefined, end];
      const from = offset ?? 0, to = end ?? this.length;
      if (from < 0 || from > this.length) throw outOfRange('offset', `>= 0 && <= ${this.length}`, from);
      const bytes = typeof value === 'string' || value instanceof Uint8Array ? toBytes(value, encoding) : [Number(value) & 255];
      if (typeof value === 'string' && value !== '' && !bytes.length) {
        throw coded(TypeError, 'ERR_INVALID_ARG_VALUE', `The argument 'value' is invalid. Received '${value}'`);
      }
      for (let i = from; i < to; i++) this[i] = bytes.length ? bytes[(i - from) % bytes.length] : 0;
      return this;
    }
    #swap(size) {
      if (this.length % size) throw coded(RangeError, 'ERR_INVALID_BUFFER_SIZE', `Buffer size must be a multiple of ${size * 8}-bits`);
      for (let i = 0; i < this.length; i += size) Uint8Array.prototype.reverse.call(new Uint8Array(this.buffer, this.byteOffset + i, size));
      return this;
    }
    swap16() { return this.#swap(2); }
    swap32() { return this.#swap(4); }
    swap64() { return this.#swap(8); }
  }
  Object.defineProperty(Buffer, 'poolSize', {value: 8192, writable: true, enumerable: true, configurable: true});

  const place = (buffer, offset, size) => {
    if (typeof offset !== 'number') throw wrongType('"offset" argument', 'of type number', offset);
    if (!Number.isInteger(offset)) throw outOfRange('offset', 'an integer', offset);
    if (buffer.length < size) throw coded(RangeError, 'ERR_BUFFER_OUT_OF_BOUNDS', 'Attempt to access memory outside buffer bounds');
    if (offset < 0 || offset > buffer.length - size) throw outOfRange('offset', `>= 0 and <= ${buffer.length - size}`, offset);
    return new DataView(buffer.buffer, buffer.byteOffset + offset, size);
  };
  const both = (name, method) => {
    define(Buffer.prototype, {[name]: method});
    if (name.includes('UInt')) define(Buffer.prototype, {[name.replace('UInt', 'Uint')]: method});
  };
  const limits = {Int8: [-(2 ** 7), 2 ** 7 - 1], UInt8: [0, 2 ** 8 - 1], Int16: [-(2 ** 15), 2 ** 15 - 1], UInt16: [0, 2 ** 16 - 1], Int32: [-(2 ** 31), 2 ** 31 - 1], UInt32: [0, 2 ** 32 - 1]};
  const fits = (value, [low, high], size) => {
    if (value >= low && value <= high) return;
    const n = typeof low === 'bigint' ? 'n' : '', bits = size * 8;
    const range = size > 4 || n ? (low < 0 ? `>= -(2${n} ** ${bits - 1}${n}) and < 2${n} ** ${bits - 1}${n}` : `>= 0${n} and < 2${n} ** ${bits}${n}`)
      : size === 4 || size === 3 ? (low < 0 ? `>= -(2 ** ${bits - 1}) and <= 2 ** ${bits - 1} - 1`.replace(/<= 2 \*\* (\d+) - 1/, '< 2 ** $1') : `>= 0 and <= ${high}`) : `>= ${low} and <= ${high}`;
    throw outOfRange('value', size === 4 || size === 3 ? `>= ${low} and <= ${high}` : range, value);
  };
  const number = (type, size, view = type.replace('UInt', 'Uint')) => {
    for (const order of size === 1 ? [''] : ['LE', 'BE']) {
      both(`read${type}${order}`, {read(offset = 0) { return place(this, offset, size)[`get${view}`](0, order === 'LE'); }}.read);
      both(`write${type}${order}`, {write(value, offset = 0) {
        const given = type.startsWith('Big') ? value : Number(value);
        if (limits[type]) fits(given, limits[type], size);
        place(this, offset, size)[`set${view}`](0, given, order === 'LE');
        return offset + size;
      }}.write);
    }
  };
  for (const [type, size] of [['Int8', 1], ['UInt8', 1], ['Int16', 2], ['UInt16', 2], ['Int32', 4], ['UInt32', 4], ['Float', 4, 'Float32'], ['Double', 8, 'Float64']]) {
    number(type, size, {Float: 'Float32', Double: 'Float64'}[type]);
  }
  number('BigInt64', 8);
  number('BigUInt64', 8, 'BigUint64');
  for (const order of ['LE', 'BE']) {
    const bytes = (buffer, offset, count) => {
      if (!(count >= 1 && count <= 6)) throw outOfRange('byteLength', '>= 1 and <= 6', count);
      place(buffer, offset, count);
      const part = Array.from(new Uint8Array(buffer.buffer, buffer.byteOffset + offset, count));
      return order === 'LE' ? part.reverse() : part;
    };
    both(`readUInt${order}`, {read(offset, count) { return bytes(this, offset, count).reduce((n, b) => n * 256 + b, 0); }}.read);
    both(`readInt${order}`, {read(offset, count) {
      const value = bytes(this, offset, count).reduce((n, b) => n * 256 + b, 0);
      return value >= 2 ** (8 * count - 1) ? value - 2 ** (8 * count) : value;
    }}.read);
    const store = {write(value, offset, count) {
      bytes(this, offset, count);
      let rest = value < 0 ? value + 2 ** (8 * count) : value;
      for (let i = 0; i < count; i++, rest = Math.floor(rest / 256)) this[offset + (order === 'LE' ? i : count - 1 - i)] = rest % 256;
      return offset + count;
    }}.write;
    both(`writeUInt${order}`, store);
    both(`writeInt${order}`, store);
  }
  define(globalThis, {Buffer});
})
