(function ({define}) {
  define(Promise, {
    withResolvers() {
      const made = {};
      made.promise = new this((resolve, reject) => Object.assign(made, {resolve, reject}));
      return {promise: made.promise, resolve: made.resolve, reject: made.reject};
    },
    try(callback, ...args) {
      return new this(resolve => resolve(callback(...args)));
    },
  });
})
