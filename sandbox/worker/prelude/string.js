(function ({define}) {
  const text = (value, method) => {
    if (value === undefined || value === null) {
      throw new TypeError(`String.prototype.${method} called on null or undefined`);
    }
    return String(value);
  };
  const wellFormed = (value, fill) => {
    let out = '', from = 0;
    for (let i = 0; i < value.length; i++) {
      const unit = value.charCodeAt(i);
      if (unit < 0xD800 || unit > 0xDFFF) continue;
      const low = value.charCodeAt(i + 1);
      if (unit < 0xDC00 && low >= 0xDC00 && low <= 0xDFFF) { i++; continue; }
      if (fill === undefined) return false;
      out += value.slice(from, i) + fill;
      from = i + 1;
    }
    return fill === undefined ? true : out + value.slice(from);
  };
  define(String.prototype, {
    isWellFormed() { return wellFormed(text(this, 'isWellFormed')); },
    toWellFormed() { return wellFormed(text(this, 'toWellFormed'), '\uFFFD'); },
  });
  const html = (method, tag, attribute) => define(String.prototype, {
    [method](value) {
      const inside = text(this, method);
      const head = attribute ? `${tag} ${attribute}="${String(value).replaceAll('"', '&quot;')}"` : tag;
      return `<${head}>${inside}</${tag}>`;
    },
  });
  for (const [method, tag, attribute] of [
    ['anchor', 'a', 'name'], ['big', 'big'], ['blink', 'blink'], ['bold', 'b'], ['fixed', 'tt'],
    ['fontcolor', 'font', 'color'], ['fontsize', 'font', 'size'], ['italics', 'i'], ['link', 'a', 'href'],
    ['small', 'small'], ['strike', 'strike'], ['sub', 'sub'], ['sup', 'sup'],
  ]) html(method, tag, attribute);
})
