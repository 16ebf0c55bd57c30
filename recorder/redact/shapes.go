package redact

import (
	"bytes"
	"encoding/base64"
)

// shape is a token that its prefix gives away.
type shape struct {
	prefix string
	min    int // bytes of body at least
	body   func(byte) bool
	name   string
}

// shapes are the tokens by the last byte of their prefix, which is their anchor.
var shapes = [256][]shape{
	'-': {
		{"sk-", 10, isTokenByte, "key"},
		{"glpat-", 16, isTokenByte, "gitlab"}, {"gldt-", 16, isTokenByte, "gitlab"}, {"glrt-", 16, isTokenByte, "gitlab"},
		{"xoxb-", 10, isTokenByte, "slack"}, {"xoxp-", 10, isTokenByte, "slack"}, {"xoxa-", 10, isTokenByte, "slack"},
		{"xoxr-", 10, isTokenByte, "slack"}, {"xoxs-", 10, isTokenByte, "slack"}, {"xoxe-", 10, isTokenByte, "slack"},
		{"xoxc-", 10, isTokenByte, "slack"}, {"xoxd-", 10, isTokenByte, "slack"}, {"xapp-", 10, isTokenByte, "slack"},
		{"GOCSPX-", 20, isTokenByte, "google"}, {"pypi-", 40, isTokenByte, "pypi"},
		{"AGE-SECRET-KEY-", 40, isUpperOrDigit, "age"},
	},
	'_': {
		{"sk_live_", 10, isWord, "stripe"}, {"rk_live_", 10, isWord, "stripe"},
		{"sk_test_", 10, isWord, "stripe"}, {"rk_test_", 10, isWord, "stripe"}, {"whsec_", 16, isBase64, "stripe"},
		{"ghp_", 20, isWord, "github"}, {"gho_", 20, isWord, "github"}, {"ghu_", 20, isWord, "github"},
		{"ghs_", 20, isTokenOrDot, "github"}, {"ghr_", 20, isWord, "github"}, {"github_pat_", 20, isWord, "github"},
		{"npm_", 30, isWord, "npm"}, {"hf_", 30, isWord, "huggingface"}, {"dop_v1_", 40, isWord, "digitalocean"},
		{"shpat_", 24, isWord, "shopify"}, {"lin_api_", 24, isWord, "linear"},
	},
	'.': {{"ya29.", 20, isTokenByte, "google"}, {"SG.", 40, isTokenOrDot, "sendgrid"}, {"hvs.", 20, isTokenByte, "vault"}},
	'A': {{"AKIA", 16, isUpperOrDigit, "aws"}, {"ASIA", 16, isUpperOrDigit, "aws"}, {"ABIA", 16, isUpperOrDigit, "aws"}},
	'z': {{"AIz", 36, isTokenByte, "google"}},
}

// prefixed finds a token whose prefix ends at i.
func prefixed(s []byte, i int) (edit, bool) {
	candidates := shapes[s[i]]
	for n := range candidates {
		sh := &candidates[n]
		start := i + 1 - len(sh.prefix)
		if start < 0 || s[start] != sh.prefix[0] || string(s[start:i+1]) != sh.prefix {
			continue
		}
		if start > 0 && isAlnum(s[start-1]) {
			continue // "task-force" holds no sk- token
		}
		end := look(s, i+1, sh.body)
		if end-i-1 < sh.min || sh.name == "key" && !keyLike(s[i+1:end]) {
			continue
		}
		return edit{start, run(s, end, sh.body), shaped(sh.name)}, true
	}
	return edit{}, false
}

// keyLike tells the body of an sk- key from a hyphenated class name: keys hold
// digits or capitals, or are one long word.
func keyLike(body []byte) bool {
	hyphen := false
	for _, b := range body {
		if isDigit(b) || isUpper(b) {
			return true
		}
		hyphen = hyphen || b == '-'
	}
	return !hyphen && len(body) >= 16
}

// maxHeaderBytes bounds a JWT's first part, which may carry certificates.
const maxHeaderBytes = 4096

// jwt finds three base64url parts, of which the first begins with {" in base64.
// The third may be empty (an unsigned token) or cut off.
func jwt(s []byte, i int) (edit, bool) {
	start := i - 2
	if start < 0 || s[start] != 'e' || s[start+1] != 'y' || start > 0 && isAlnum(s[start-1]) {
		return edit{}, false
	}
	head := run(s[:min(len(s), start+maxHeaderBytes)], start, isTokenByte)
	if head-start < 10 || head == len(s) || s[head] != '.' {
		return edit{}, false
	}
	claims := look(s, head+1, isTokenByte)
	if claims-head < 8 {
		return edit{}, false
	}
	return edit{start, run(s, claims, isTokenOrDot), shaped("jwt")}, true
}

// authScheme finds "Bearer <token>" and "Basic <base64 of user:password>", and
// leaves the scheme's name.
func authScheme(s []byte, i int) (edit, bool) {
	if i > 0 && isAlnum(s[i-1]) || i+6 > len(s) {
		return edit{}, false
	}
	word := look(s, i, isAlnum)
	bearer := bytes.EqualFold(s[i:word], []byte("bearer"))
	if !bearer && !bytes.EqualFold(s[i:word], []byte("basic")) {
		return edit{}, false
	}
	start := run(s, word, isBlank)
	end := run(s, start, isBearerByte)
	if start == word || end-start < minText {
		return edit{}, false
	}
	if !bearer {
		return edit{start, end, shaped("basic")}, isBasic(s[start:end])
	}
	whole := i == 0 && end == len(s)
	return edit{start, end, shaped("bearer")}, whole || tokenLike(s[start:end])
}

// tokenLike tells a bearer token from the next word of a sentence.
func tokenLike(value []byte) bool {
	if len(value) >= 24 {
		return true
	}
	capitals := 0
	for _, b := range value {
		if isDigit(b) || b == '_' || b == '=' || b == '/' || b == '+' {
			return true
		}
		if isUpper(b) {
			capitals++
		}
	}
	return capitals > 1
}

// isBasic holds for the base64 of user:password.
func isBasic(value []byte) bool {
	text, err := base64.RawStdEncoding.DecodeString(string(bytes.TrimRight(value, "=")))
	return err == nil && bytes.IndexByte(text, ':') >= 0
}

// userInfo finds the password in scheme://user:password@host; i is at a colon.
// Everything up to the last @ before a slash belongs to it. Outside of HTTP, where
// nobody escapes them, a password may hold slashes too.
func userInfo(s []byte, i int) (edit, bool) {
	if !bytes.HasPrefix(s[i:], []byte("://")) || i == 0 || !isAlnum(s[i-1]) {
		return edit{}, false
	}
	start := i + 3
	end := look(s, start, isAuthorityByte)
	at := bytes.LastIndexByte(s[start:end], '@')
	if at < 0 && !bytes.HasSuffix(s[:i], []byte("http")) && !bytes.HasSuffix(s[:i], []byte("https")) {
		end = look(s, start, isURLByte)
		at = bytes.LastIndexByte(s[start:end], '@')
	}
	if at < 0 {
		return edit{}, false
	}
	colon := bytes.IndexByte(s[start:start+at], ':')
	if colon < 0 {
		return edit{}, false
	}
	from, to := start+colon+1, start+at
	if from >= to || isHidden(s[from:to]) || isPort(s[from:to]) || isPlaceholder(s[from]) {
		return edit{}, false
	}
	return edit{from, to, mark}, true
}

// isPort holds for what follows the colon in db:5432/name?user=a@b.
func isPort(b []byte) bool {
	digits := run(b, 0, isDigit)
	return digits > 0 && digits < len(b) && b[digits] == '/'
}

const pemBegin = "-----BEGIN "

// pemBlock finds a private key. A certificate or a public key is no secret. A
// block without its end goes up to the end of the text: better too much.
func pemBlock(s []byte, i int) (edit, bool) {
	label := s[i+len(pemBegin):]
	dashes := bytes.Index(label[:min(len(label), 64)], []byte("-----"))
	if dashes < 0 || !bytes.Contains(label[:dashes], []byte("PRIVATE KEY")) {
		return edit{}, false
	}
	ending := append([]byte("-----END "), label[:dashes+len("-----")]...)
	end := bytes.Index(s[i:], ending)
	if end < 0 {
		return edit{i, len(s), shaped("pem")}, true
	}
	return edit{i, i + end + len(ending), shaped("pem")}, true
}

func shaped(name string) string { return markPrefix + ":" + name + "]" }

func isHidden(value []byte) bool { return bytes.HasPrefix(value, []byte(markPrefix)) }

// run returns the end of the bytes from start on for which ok holds.
func run(s []byte, start int, ok func(byte) bool) int {
	for start < len(s) && ok(s[start]) {
		start++
	}
	return start
}

// maxLook bounds how far one anchor looks before it decides: without a bound, a
// text of nothing but beginnings ("-eyJ-eyJ-eyJ") takes the square of its length.
// What was found is then followed to its end.
const maxLook = 512

func look(s []byte, start int, ok func(byte) bool) int {
	return run(s[:min(len(s), start+maxLook)], start, ok)
}

func isAlnum(b byte) bool        { return isLetter(b) || isDigit(b) }
func isWord(b byte) bool         { return isAlnum(b) && b < 0x80 || b == '_' }
func isTokenByte(b byte) bool    { return isWord(b) || b == '-' }
func isTokenOrDot(b byte) bool   { return isTokenByte(b) || b == '.' }
func isBase64(b byte) bool       { return isWord(b) || b == '+' || b == '/' || b == '=' }
func isBearerByte(b byte) bool   { return isTokenOrDot(b) || isBase64(b) || b == '~' }
func isUpperOrDigit(b byte) bool { return isUpper(b) || isDigit(b) }
func isBlank(b byte) bool        { return b == ' ' || b == '\t' }

func isURLByte(b byte) bool {
	return b > ' ' && b != '"' && b != '\'' && b != '`' && b != '<' && b != '>' && b != 0x7f
}

func isAuthorityByte(b byte) bool {
	return isURLByte(b) && b != '/' && b != '?' && b != '#'
}
