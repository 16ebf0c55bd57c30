package origin

import (
	"fmt"
	"strings"
)

// connectionHeaders belong to the connection, or say how long a body is.
var connectionHeaders = []string{"Connection", "Content-Length", "Transfer-Encoding", "Upgrade", "Trailer", "Te", "Keep-Alive", "Expect"}

// CheckHeader says what is wrong with a static header. It names the header and
// never its value.
func CheckHeader(name, value string) error {
	if !IsToken(name) {
		return fmt.Errorf("header %q: not a header's name", name)
	}
	for _, own := range connectionHeaders {
		if strings.EqualFold(name, own) {
			return fmt.Errorf("header %q: it cannot be set", name)
		}
	}
	for i := range len(value) {
		if c := value[i]; c < ' ' && c != '\t' || c == 0x7f {
			return fmt.Errorf("header %q: its value has a control character", name)
		}
	}
	return nil
}

// IsToken says whether a text can be a header's name.
func IsToken(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(c rune) bool { return !isTokenChar(c) })
}

func isTokenChar(c rune) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c < 0x80 && strings.ContainsRune("!#$%&'*+-.^_`|~", c)
}
