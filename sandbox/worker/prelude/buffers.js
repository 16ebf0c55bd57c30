(function ({define, detach}) {
  const Original = ArrayBuffer, {prototype} = Original;
  const slice = prototype.slice;
  const transfer = (buffer, length) => {
    const size = length === undefined ? buffer.byteLength : Math.trunc(Number(length));
    const moved = new Original(size), from = new Uint8Array(buffer);
    new Uint8Array(moved).set(from.length > size ? from.subarray(0, size) : from);
    detach(buffer);
    return moved;
  };
  define(prototype, {
    transfer(length) { return transfer(this, length); },
    transferToFixedLength(length) { return transfer(this, length); },
  });
  const reader = (key, get) => Object.defineProperty(prototype, key, {get, configurable: true});
  reader('resizable', function () { return slice.call(this, 0, 0) && false; });
  reader('maxByteLength', function () { return this.byteLength; });
  function Guarded(length, options) {
    if (new.target === undefined) throw new TypeError("Constructor ArrayBuffer requires 'new'");
    if (options !== undefined && options !== null && options.maxByteLength !== undefined) {
      throw new TypeError('resizable ArrayBuffers are not available in bodies');
    }
    return Reflect.construct(Original, [length], new.target === Guarded ? Original : new.target);
  }
  Object.defineProperty(Guarded, 'name', {value: 'ArrayBuffer'});
  Object.defineProperty(Guarded, 'length', {value: 1});
  Object.defineProperty(Guarded, 'prototype', {value: prototype, writable: false});
  define(Guarded, {isView: Original.isView});
  define(prototype, {constructor: Guarded});
  define(globalThis, {ArrayBuffer: Guarded});
})
