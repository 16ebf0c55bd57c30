(function ({define, DOMException}) {
  define(globalThis, {DOMException});
})
