package injectionguard

import (
	"strings"
)

// kindOfText is a form that a text has, and its name for people. Two texts are of one
// form when both parts are the same.
type kindOfText struct{ form, name string }

// form keeps what a sample plainly is: a date of the same writing, an address, a URL
// of the same host, a path of the same depth.
func form(value, sample string, _ class) *fault {
	want := formOf(sample)
	if want.name != "" && formOf(value).form != want.form {
		return &fault{code: CodeForm, words: "has another form than in the recording"}
	}
	if want.name == "" && isPath(sample) && (depth(value) != depth(sample) || rootOf(value) != rootOf(sample)) {
		return &fault{code: CodePath, words: "is no path of the depth that it had in the recording"}
	}
	return nil
}

func formOf(s string) kindOfText {
	if len(s) > 4096 {
		return kindOfText{}
	}
	if scheme, rest, ok := strings.Cut(s, "://"); ok && isName(scheme) {
		if i := strings.IndexAny(rest, "/?#"); i >= 0 {
			rest = rest[:i]
		}
		return kindOfText{strings.ToLower("url " + scheme + "://" + rest), "a URL of the same host"}
	}
	switch {
	case isEmail(s):
		return kindOfText{"e-mail", "an e-mail address"}
	case isUUID(s):
		return kindOfText{"uuid", "a UUID"}
	}
	if name, _, ok := strings.Cut(s, "="); ok && isName(name) {
		return kindOfText{"assignment of " + name, "an assignment to the same name"}
	}
	if f := dateForm(s); f != "" {
		return kindOfText{"date " + f, "a date or a time that is written in the same way"}
	}
	return kindOfText{}
}

func isName(s string) bool {
	for i, r := range s {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_'
		if !letter && (i == 0 || r != '+' && r != '-' && (r < '0' || r > '9')) {
			return false
		}
	}
	return s != ""
}

func isEmail(s string) bool {
	local, domain, ok := strings.Cut(s, "@")
	if !ok || local == "" || !strings.Contains(domain, ".") || strings.HasPrefix(domain, ".") || strings.HasSuffix(domain, ".") {
		return false
	}
	return isMadeOf(local, "._%+-") && isMadeOf(domain, ".-") && !strings.Contains(domain, "..")
}

// isMadeOf takes letters and digits of any script, and these signs.
func isMadeOf(s, signs string) bool {
	for _, r := range s {
		ok := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r > 0x7f || strings.ContainsRune(signs, r)
		if !ok {
			return false
		}
	}
	return true
}

func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i, r := range s {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		hex := r >= '0' && r <= '9' || r >= 'a' && r <= 'f' || r >= 'A' && r <= 'F'
		if dash != (r == '-') || !dash && !hex {
			return false
		}
	}
	return true
}

// dateForms are writings of dates and times, as dateForm makes them.
var dateForms = " 4-2-2 4/2/2 4.2.2 2/2/4 2.2.4 2-2-4 4-2 2/4 2:2 2:2:2 4-2-2T2:2 4-2-2T2:2:2 4-2-2T2:2:2Z 4-2-2T2:2Z " +
	"4-2-2T2:2:2+2:2 4-2-2T2:2+2:2 4-2-2_2:2 4-2-2_2:2:2 2/2/4_2:2 2.2.4_2:2 4-2-2T2:2:2.3Z 4-2-2T2:2:2.3 "

// dateForm writes a date as its form: four digits as 4, one or two as 2. It is empty
// for what is no date, and where a part is out of range.
func dateForm(s string) string {
	if len(s) > 40 || !strings.ContainsAny(s, "-/.:") {
		return ""
	}
	var out []byte
	for i := 0; i < len(s); {
		n := i
		for n < len(s) && s[n] >= '0' && s[n] <= '9' {
			n++
		}
		switch digits := n - i; {
		case digits == 0 && s[i] == ' ':
			out = append(out, '_')
			i++
		case digits == 0:
			out = append(out, s[i])
			i++
		case digits == 4, digits == 3:
			out = append(out, '0'+byte(digits))
			i = n
		case digits <= 2 && inRange(s[i:n]):
			out = append(out, '2')
			i = n
		default:
			return ""
		}
	}
	form := string(out)
	if !strings.Contains(dateForms, " "+form+" ") {
		return ""
	}
	return form
}

// inRange holds for a day, a month, an hour and a minute.
func inRange(digits string) bool { return len(digits) < 2 || digits <= "59" }
