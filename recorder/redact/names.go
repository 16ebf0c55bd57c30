package redact

import "strings"

// kind says what a key makes of the value under it.
type kind uint8

const (
	plain  kind = iota
	counts      // strings go, numbers stay: "tokens": 512 is a count
	secret      // strings and numbers go
	env         // every scalar goes, whatever it is
)

// maxNameBytes bounds the names that are looked at: nobody calls a secret by a
// longer one, and a key may be as long as its document.
const maxNameBytes = 256

// secretWords are name segments that make a key secret by themselves.
var secretWords = map[string]kind{
	"secret": secret, "secrets": counts,
	"password": secret, "passwords": counts, "passwd": secret, "passphrase": secret, "passcode": secret,
	"token": counts, "tokens": counts, "jwt": secret, "jwts": counts, "bearer": secret,
	"authorization": secret, "cookie": counts, "cookies": counts,
	"credential": secret, "credentials": secret, "creds": secret,
	"apikey": secret, "apikeys": counts, "xapikey": secret, "accesskey": secret, "secretkey": secret,
	"privatekey": secret, "authkey": secret, "signingkey": secret, "encryptionkey": secret,
	"accesstoken": secret, "authtoken": secret, "apitoken": secret, "refreshtoken": secret, "idtoken": secret,
	"sessiontoken": secret, "bearertoken": secret, "bottoken": secret, "usertoken": secret,
	"setcookie": secret, "basicauth": secret,
}

// keyOwners are the segments that make a following "key" a secret one; a primary,
// public or cache key is none.
var keyOwners = map[string]bool{
	"api": true, "access": true, "private": true, "signing": true, "encryption": true, "account": true,
	"master": true, "ssh": true, "service": true, "shared": true, "storage": true, "auth": true,
	"deploy": true, "license": true, "webhook": true, "hmac": true, "decryption": true, "subscription": true,
}

// passOwners are the segments that make a following "pass" or "pwd" a password:
// alone, one is a test's outcome and the other a directory.
var passOwners = map[string]bool{
	"db": true, "database": true, "smtp": true, "user": true, "auth": true, "mysql": true, "redis": true,
	"ftp": true, "ssh": true, "mail": true, "email": true, "admin": true, "root": true, "login": true,
	"proxy": true, "http": true, "pg": true, "keystore": true, "truststore": true,
}

// aboutWords, at the end of a name, say that the value is about the secret and
// does not hold it: passwordPolicy, token_type, cookieName.
var aboutWords = map[string]bool{
	"policy": true, "length": true, "required": true, "count": true, "url": true, "uri": true, "endpoint": true,
	"type": true, "name": true, "names": true, "expiry": true, "expires": true, "expiration": true, "at": true,
	"in": true, "limit": true, "ttl": true, "enabled": true, "field": true, "label": true, "version": true,
	"algorithm": true, "size": true, "format": true, "strength": true, "status": true, "scope": true,
	"scopes": true, "arn": true, "usage": true, "domain": true, "issuer": true, "budget": true, "index": true,
	"servers": true, "server": true, "used": true, "method": true, "methods": true, "provider": true,
	"description": true, "ref": true, "supported": true, "placeholder": true, "hint": true,
}

// countedTokens, before "token", make it a unit of text, a place in a listing or
// a parser's word instead of a credential.
var countedTokens = map[string]bool{
	"max": true, "min": true, "num": true, "total": true, "input": true, "output": true, "prompt": true,
	"completion": true, "cached": true, "reasoning": true, "thinking": true, "used": true,
	"page": true, "next": true, "prev": true, "previous": true, "continuation": true, "pagination": true,
	"cursor": true, "starting": true, "start": true, "stop": true, "pad": true, "eos": true, "bos": true,
	"unk": true, "sep": true, "cls": true, "mask": true, "special": true, "progress": true, "sync": true,
	"budget": true, "per": true, "remaining": true, "text": true, "image": true,
}

// nameKind says what the key makes of its value. It is called for every key, so
// the words are split only where one of them can be in there.
func nameKind(name []byte) kind {
	if len(name) < 3 || len(name) > maxNameBytes || !mayName(name) {
		return plain
	}
	return wordsKind(split(name))
}

// mayName is the prefilter: every word of the tables holds a k, v or w, or one
// of the pairs cr, ss, ut.
func mayName(name []byte) bool {
	for i, b := range name {
		var next byte
		if i+1 < len(name) {
			next = name[i+1] | 0x20
		}
		switch b | 0x20 {
		case 'k', 'v', 'w':
			return true
		case 'c':
			if next == 'r' {
				return true
			}
		case 's':
			if next == 's' {
				return true
			}
		case 'u':
			if next == 't' {
				return true
			}
		case 'b': // bearer
			if next == 'e' {
				return true
			}
		}
	}
	return false
}

func wordsKind(words []string) kind {
	if len(words) == 0 {
		return plain
	}
	last := words[len(words)-1]
	if isEnv(words, last) {
		return env
	}
	if last == "auth" {
		return secret
	}
	for i := range words {
		k := wordKind(words, i)
		if k == plain || i < len(words)-1 && isAbout(words[i], last) {
			continue
		}
		return k
	}
	return plain
}

// isEnv holds for env, containerEnv, env_vars and environmentVariables. A bare
// "environment" is left alone: it is as often the name of a place to deploy to.
func isEnv(words []string, last string) bool {
	switch last {
	case "env", "envs", "environ", "envvars":
		return true
	case "vars", "var", "variables":
		before := words[max(0, len(words)-2)]
		return before == "env" || before == "environment"
	}
	return false
}

// isAbout holds where the last word turns the name into one about the secret. An
// id of a token or a key is an identifier; that of a secret opens a vault.
func isAbout(word, last string) bool {
	return aboutWords[last] || last == "id" && word != "secret"
}

func wordKind(words []string, i int) kind {
	word, before, earlier := words[i], "", ""
	if i > 0 {
		before = words[i-1]
	}
	if i > 1 {
		earlier = words[i-2]
	}
	switch word {
	case "token", "tokens":
		if countedTokens[before] || countedTokens[earlier] { // max_tokens, max_new_tokens
			return plain
		}
	case "key", "keys":
		if keyOwners[before] {
			return secret
		}
	case "pass", "pwd":
		if passOwners[before] {
			return secret
		}
	}
	if k := secretWords[word]; k != plain {
		return k
	}
	if strings.HasSuffix(word, "password") || strings.HasSuffix(word, "passwd") || strings.HasSuffix(word, "secret") {
		return secret // PGPASSWORD, clientsecret
	}
	return plain
}

// split cuts a name into lower-case words at case changes, digits and anything
// that is no letter: "X-Api-Key2", "xAPIKey" and "x_api_key" all give x api key.
func split(name []byte) []string {
	var words []string
	start := -1
	flush := func(end int) {
		if start >= 0 {
			words = append(words, strings.ToLower(string(name[start:end])))
		}
		start = -1
	}
	for i, b := range name {
		switch {
		case !isLetter(b):
			flush(i)
			continue
		case start >= 0 && isUpper(b) && startsWord(name, i):
			flush(i)
		}
		if start < 0 {
			start = i
		}
	}
	flush(len(name))
	return words
}

// startsWord holds for an upper-case letter after a lower-case one, and for the
// last of a run of them that a lower-case one follows: apiKey, APIKey.
func startsWord(name []byte, i int) bool {
	if !isUpper(name[i-1]) {
		return true
	}
	return i+1 < len(name) && isLetter(name[i+1]) && !isUpper(name[i+1])
}

func isUpper(b byte) bool { return b >= 'A' && b <= 'Z' }

// isLetter counts every byte beyond ASCII as a letter.
func isLetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' || b >= 0x80 }

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

func isFlag(word string) bool { return strings.HasPrefix(word, "-") }

// namesSecretFlag holds for --api-key, -token and the like, without a value.
func namesSecretFlag(word string) bool {
	name := strings.TrimLeft(word, "-")
	if !isFlag(word) || strings.ContainsAny(name, "= \t\n") {
		return false
	}
	k := nameKind([]byte(name))
	return k == secret || k == counts
}
