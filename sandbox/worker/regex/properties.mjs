// Writes properties.txt.gz, the Unicode properties that regular expressions can
// name, by asking the engine that runs this script:
//
//   node sandbox/worker/regex/properties.mjs
//
// One property a line: its kind (binary, gc, sc, scx), its names, and its spans as
// base-36 pairs of "gap since the last span" and "characters in the span".
import {writeFileSync} from 'node:fs';
import {gzipSync} from 'node:zlib';

const binary = `ASCII ASCII_Hex_Digit,AHex Alphabetic,Alpha Any Assigned Bidi_Control,Bidi_C Bidi_Mirrored,Bidi_M
Case_Ignorable,CI Cased Changes_When_Casefolded,CWCF Changes_When_Casemapped,CWCM Changes_When_Lowercased,CWL
Changes_When_NFKC_Casefolded,CWKCF Changes_When_Titlecased,CWT Changes_When_Uppercased,CWU Dash
Default_Ignorable_Code_Point,DI Deprecated,Dep Diacritic,Dia Emoji Emoji_Component,EComp Emoji_Modifier,EMod
Emoji_Modifier_Base,EBase Emoji_Presentation,EPres Extended_Pictographic,ExtPict Extender,Ext Grapheme_Base,Gr_Base
Grapheme_Extend,Gr_Ext Hex_Digit,Hex IDS_Binary_Operator,IDSB IDS_Trinary_Operator,IDST ID_Continue,IDC ID_Start,IDS
Ideographic,Ideo Join_Control,Join_C Logical_Order_Exception,LOE Lowercase,Lower Math Noncharacter_Code_Point,NChar
Pattern_Syntax,Pat_Syn Pattern_White_Space,Pat_WS Quotation_Mark,QMark Radical Regional_Indicator,RI
Sentence_Terminal,STerm Soft_Dotted,SD Terminal_Punctuation,Term Unified_Ideograph,UIdeo Uppercase,Upper
Variation_Selector,VS White_Space,space XID_Continue,XIDC XID_Start,XIDS`;

const categories = `Cased_Letter,LC Close_Punctuation,Pe Connector_Punctuation,Pc Control,Cc,cntrl Currency_Symbol,Sc
Dash_Punctuation,Pd Decimal_Number,Nd,digit Enclosing_Mark,Me Final_Punctuation,Pf Format,Cf Initial_Punctuation,Pi
Letter,L Letter_Number,Nl Line_Separator,Zl Lowercase_Letter,Ll Mark,M,Combining_Mark Math_Symbol,Sm Modifier_Letter,Lm
Modifier_Symbol,Sk Nonspacing_Mark,Mn Number,N Open_Punctuation,Ps Other,C Other_Letter,Lo Other_Number,No
Other_Punctuation,Po Other_Symbol,So Paragraph_Separator,Zp Private_Use,Co Punctuation,P,punct Separator,Z
Space_Separator,Zs Spacing_Mark,Mc Surrogate,Cs Symbol,S Titlecase_Letter,Lt Unassigned,Cn Uppercase_Letter,Lu`;

// Long names of scripts; their codes of four letters are found by trying all.
const scripts = `Adlam Ahom Anatolian_Hieroglyphs Arabic Armenian Avestan Balinese Bamum Bassa_Vah Batak Bengali Beria_Erfe
Bhaiksuki Bopomofo Brahmi Braille Buginese Buhid Canadian_Aboriginal Carian Caucasian_Albanian Chakma Cham Cherokee
Chorasmian Common Coptic Cuneiform Cypriot Cypro_Minoan Cyrillic Deseret Devanagari Dives_Akuru Dogra Duployan
Egyptian_Hieroglyphs Elbasan Elymaic Ethiopic Garay Georgian Glagolitic Gothic Grantha Greek Gujarati Gunjala_Gondi
Gurmukhi Gurung_Khema Han Hangul Hanifi_Rohingya Hanunoo Hatran Hebrew Hiragana Imperial_Aramaic Inherited
Inscriptional_Pahlavi Inscriptional_Parthian Javanese Kaithi Kannada Katakana Kawi Kayah_Li Kharoshthi
Khitan_Small_Script Khmer Khojki Khudawadi Kirat_Rai Lao Latin Lepcha Limbu Linear_A Linear_B Lisu Lycian Lydian
Mahajani Makasar Malayalam Mandaic Manichaean Marchen Masaram_Gondi Medefaidrin Meetei_Mayek Mende_Kikakui
Meroitic_Cursive Meroitic_Hieroglyphs Miao Modi Mongolian Mro Multani Myanmar Nabataean Nag_Mundari Nandinagari
New_Tai_Lue Newa Nko Nushu Nyiakeng_Puachue_Hmong Ogham Ol_Chiki Ol_Onal Old_Hungarian Old_Italic Old_North_Arabian
Old_Permic Old_Persian Old_Sogdian Old_South_Arabian Old_Turkic Old_Uyghur Oriya Osage Osmanya Pahawh_Hmong Palmyrene
Pau_Cin_Hau Phags_Pa Phoenician Psalter_Pahlavi Rejang Runic Samaritan Saurashtra Sharada Shavian Siddham Sidetic
SignWriting Sinhala Sogdian Sora_Sompeng Soyombo Sundanese Sunuwar Syloti_Nagri Syriac Tagalog Tagbanwa Tai_Le Tai_Tham
Tai_Viet Tai_Yo Takri Tamil Tangsa Tangut Telugu Thaana Thai Tibetan Tifinagh Tirhuta Todhri Tolong_Siki Toto
Tulu_Tigalari Ugaritic Unknown Vai Vithkuqi Wancho Warang_Citi Yezidi Yi Zanabazar_Square`;

const words = text => text.split(/\s+/).map(w => w.split(','));
const ranges = [[0, 0xD7FF], [0xE000, 0x10FFFF]];
const everything = ranges.map(([lo, hi]) => {
  const parts = [];
  for (let c = lo; c <= hi; c++) parts.push(String.fromCodePoint(c));
  return parts.join('');
});

function spansOf(expression) {
  const run = new RegExp(`\\p{${expression}}+`, 'gu'), found = [];
  everything.forEach((text, i) => {
    if (i === 1 && new RegExp(`\\p{${expression}}`, 'u').test('\uD800')) found.push([0xD800, 0x800]);
    let unit = 0, char = ranges[i][0];
    for (const m of text.matchAll(run)) {
      for (; unit < m.index; char++) unit += char > 0xFFFF ? 2 : 1;
      const start = char;
      for (; unit < m.index + m[0].length; char++) unit += char > 0xFFFF ? 2 : 1;
      const last = found.at(-1);
      if (last && last[0] + last[1] === start) last[1] += char - start;
      else found.push([start, char - start]);
    }
  });
  let end = 0;
  return found.map(([start, count]) => {
    const pair = [start - end, count].map(n => n.toString(36)).join(' ');
    end = start + count;
    return pair;
  }).join(' ');
}

function valid(expression) {
  try { return !!new RegExp(`\\p{${expression}}`, 'u'); } catch { return false; }
}

function* codes() {
  const letters = 'abcdefghijklmnopqrstuvwxyz';
  for (const a of letters) for (const b of letters) for (const c of letters) for (const d of letters) {
    const code = a.toUpperCase() + b + c + d;
    if (valid('sc=' + code)) yield code;
  }
}

const lines = [];
const line = (kind, names, spans) => lines.push([kind, names.join(','), spans].join('\t'));
for (const names of words(binary)) if (valid(names[0])) line('binary', names.filter(valid), spansOf(names[0]));
for (const names of words(categories)) line('gc', names.filter(n => valid('gc=' + n)), spansOf('gc=' + names[0]));
const aliases = new Map();
for (const code of codes()) {
  const spans = spansOf('sc=' + code);
  aliases.set(spans, [...aliases.get(spans) ?? [], code]);
}
for (const [name] of words(scripts)) {
  if (!valid('sc=' + name)) continue;
  const spans = spansOf('sc=' + name);
  // A code can have the length of a name, as in Cham.
  const names = [...new Set([name, ...(spans ? aliases.get(spans) ?? [] : [])])];
  line('sc', names, spans);
  line('scx', names, spansOf('scx=' + name));
  aliases.delete(spans);
}
for (const [, missed] of aliases) console.error('no long name for', missed);
writeFileSync(new URL('properties.txt.gz', import.meta.url), gzipSync(lines.join('\n') + '\n', {level: 9}));
console.log(lines.length, 'properties of Unicode', process.versions.unicode);
