package pinguard

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/bir-run/bir/sandbox/internal/rawjson"
)

// placeWords are parts of argument names that say where a call acts.
var placeWords = map[string]bool{
	"path": true, "paths": true, "file": true, "files": true, "filename": true, "filepath": true, "dir": true, "dirs": true,
	"directory": true, "directories": true, "folder": true, "folders": true, "root": true, "cwd": true, "workdir": true,
	"url": true, "urls": true, "uri": true, "uris": true, "href": true, "link": true, "host": true, "hosts": true,
	"hostname": true, "server": true, "address": true, "addr": true, "ip": true, "port": true, "domain": true,
	"endpoint": true, "origin": true, "site": true, "base": true, "database": true, "databases": true, "db": true,
	"dbname": true, "dsn": true, "connection": true, "schema": true, "catalog": true, "dataset": true, "collection": true,
	"table": true, "bucket": true, "container": true, "queue": true, "topic": true, "stream": true, "repo": true,
	"repository": true, "owner": true, "org": true, "organization": true, "workspace": true, "project": true, "cluster": true,
	"namespace": true, "account": true, "tenant": true, "subscription": true, "environment": true, "env": true, "stage": true,
	"region": true, "zone": true, "branch": true, "ref": true, "channel": true, "recipient": true, "recipients": true, "to": true, "cc": true, "bcc": true, "email": true, "phone": true,
	"destination": true, "dest": true, "target": true, "source": true, "src": true, "location": true, "profile": true,
}

// contentWords are parts of names of what is put somewhere. It may be any text, also
// one that looks like a path.
var contentWords = map[string]bool{
	"new": true, "old": true, "content": true, "contents": true, "text": true, "code": true, "body": true, "message": true,
	"description": true, "prompt": true, "title": true, "comment": true, "summary": true, "note": true, "string": true,
}

// eitherIsPlace tells whether an argument of the model's or of the step's is a place.
func eitherIsPlace(name string, model, step any) bool {
	byName, isContent := placeByName(name)
	if byName || isContent {
		return byName
	}
	return isPlaceValue(model) || isPlaceValue(step)
}

// isPlace tells an argument that says where a call acts: by its name, or by a value
// that is a URL or a path from the root.
func isPlace(name string, v any) bool {
	byName, isContent := placeByName(name)
	if byName || isContent {
		return byName
	}
	return isPlaceValue(v)
}

// placeByName tells whether a name says that the value is a place, or that it is
// content and so none.
func placeByName(name string) (isPlace, isContent bool) {
	words := nameWords(name)
	isContent = hasAny(words, contentWords)
	for _, w := range words {
		isPlace = isPlace || placeWords[w] && !(isContent && w == "source")
	}
	return isPlace, isContent
}

func isPlaceValue(v any) bool {
	switch v := v.(type) {
	case string:
		return looksLikePlace(v)
	case []any:
		return slices.ContainsFunc(v, isPlaceValue)
	case map[string]any:
		for key, item := range v {
			if isPlace(key, item) {
				return true
			}
		}
	}
	return false
}

func looksLikePlace(s string) bool {
	if strings.ContainsAny(s, "\n\r") {
		return false
	}
	drive := len(s) > 2 && s[1] == ':' && (s[2] == '\\' || s[2] == '/') && unicode.IsLetter(rune(s[0]))
	return drive || strings.Contains(s, "://") && !strings.Contains(s, " ") ||
		strings.HasPrefix(s, "/") && !strings.HasPrefix(s, "//") || strings.HasPrefix(s, "~/") || strings.HasPrefix(s, `\\`)
}

// samePlace compares paths after cleaning them, and the host of a URL without
// regard to case. In an object, what is no place may differ.
func samePlace(a, b any) bool {
	switch a := a.(type) {
	case string:
		b, ok := b.(string)
		return ok && (a == b || cleanPlace(a) == cleanPlace(b))
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, samePlace)
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok {
			return false
		}
		for _, key := range keysOf(a, b) {
			if eitherIsPlace(key, a[key], b[key]) && !samePlace(a[key], b[key]) {
				return false
			}
		}
		return true
	case rawjson.Number:
		return same(a, b)
	}
	return same(a, b)
}

func cleanPlace(s string) string {
	if scheme, rest, ok := strings.Cut(s, "://"); ok {
		host, tail := rest, ""
		if i := strings.IndexAny(rest, "/?#\\"); i >= 0 {
			host, tail = rest[:i], rest[i:]
		}
		if tail == "" {
			tail = "/"
		}
		return strings.ToLower(scheme+"://"+host) + tail
	}
	if s == "" {
		return ""
	}
	clean := path.Clean(strings.ReplaceAll(s, `\`, "/"))
	if len(clean) > 1 && clean[1] == ':' {
		return strings.ToLower(clean[:1]) + clean[1:]
	}
	return clean
}
