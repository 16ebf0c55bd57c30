(function ({define}) {
  // Rounding goes from the exact double: through a float of 32 bits it would be
  // done twice.
  const round = value => {
    const size = Math.abs(value);
    if (!Number.isFinite(value) || size === 0) return value;
    if (size >= 65520) return Math.sign(value) * Infinity;
    const exponent = size < 2 ** -14 ? -14 : Math.floor(Math.log2(size));
    const step = 2 ** ((size < 2 ** exponent ? exponent - 1 : size >= 2 ** (exponent + 1) ? exponent + 1 : exponent) - 10);
    const unit = Math.max(step, 2 ** -24), whole = size / unit, low = Math.floor(whole);
    const odd = whole - low > 0.5 || whole - low === 0.5 && low % 2 === 1;
    return Math.sign(value) * (low + odd) * unit || Math.sign(value) * 0;
  };
  define(Math, {f16round(value) { return round(Number(value)); }});
})
