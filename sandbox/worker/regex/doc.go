// Package regex is JavaScript's regular expressions, as ECMAScript 2025 defines
// them: a backtracking matcher over UTF-16 with every flag, Unicode properties,
// set notation, look-behind and modifiers. It knows no JavaScript engine. A match
// must always be stoppable, and must never use Go's stack in proportion to its
// input.
//
// Why an engine of our own? The interpreter translates patterns to two engines of
// other languages. Both are silently different in places (a capture inside a
// repeated group, a line's end, a Unicode property), and neither can be stopped.
// What is the same in all of them stays with the interpreter: see Regex.Plain.
package regex
