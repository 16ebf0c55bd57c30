(function ({define}) {
  const hex = (code, digits) => code.toString(16).padStart(digits, '0');
  const controls = {'\t': 't', '\n': 'n', '\v': 'v', '\f': 'f', '\r': 'r'};
  const escape = (char, first) => {
    const code = char.codePointAt(0);
    if (first && /[0-9A-Za-z]/.test(char)) return '\\x' + hex(code, 2);
    if ('^$\\.*+?()[]{}|/'.includes(char)) return '\\' + char;
    if (controls[char]) return '\\' + controls[char];
    const special = ',-=<>#&!%:;@~\'`"'.includes(char) || /\s/.test(char) || code >= 0xD800 && code <= 0xDFFF;
    if (!special) return char;
    return code <= 0xFF ? '\\x' + hex(code, 2) : '\\u' + hex(code, 4);
  };
  define(RegExp, {
    escape(text) {
      if (typeof text !== 'string') throw new TypeError('RegExp.escape requires a string');
      let out = '';
      for (const char of text) out += escape(char, out === '');
      return out;
    },
  });
})
