(function ({define}) {
  define(globalThis, {global: globalThis});
})
