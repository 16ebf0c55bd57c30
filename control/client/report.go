package client

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"

	"github.com/bir-run/bir/recorder"
	"github.com/bir-run/bir/recorder/clean"
	"github.com/bir-run/bir/recorder/redact"
)

// Clean returns the report without secrets and within bounds, which every report must
// be before it leaves the process. It redacts before it cuts: half a secret has no
// shape.
func (r StepReport) Clean() StepReport {
	r.Args = cleanJSON(r.Args)
	r.Result = cleanJSON(r.Result)
	r.Error = clean.Text(r.Error, 0)
	return r
}

// cleanJSON is nil for nothing, and JSON for anything else: a payload that is none
// would spoil the report around it.
func cleanJSON(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return nil
	}
	return clean.JSON(raw, 0)
}

// Fingerprint names a call by what it calls and with which arguments, so that a hook's
// view of it and a proxy's can be joined where the host sends no id. Both compute it
// before redaction; without the key, which is Registered.FingerprintKey, it says
// nothing about the arguments. It is the same however an object's members are ordered
// and spaced and its strings escaped. The text of numbers counts: 1.0 is not 1, since
// no two numbers beyond 2^53 could be told apart otherwise. The names may come
// normalised or not. Without a key there is no fingerprint.
func Fingerprint(key, server, tool string, args json.RawMessage) string {
	if key == "" {
		return ""
	}
	secret, err := hex.DecodeString(key)
	if err != nil {
		secret = []byte(key)
	}
	mac := hmac.New(sha256.New, secret)
	// The qualified name, since a hook may know no other.
	name := recorder.QualifiedName(server, tool)
	mac.Write(binary.BigEndian.AppendUint32(nil, uint32(len(name))))
	mac.Write([]byte(name))
	mac.Write(canonical(args))
	return hex.EncodeToString(mac.Sum(nil))
}

// canonical spells JSON text in one way; what is no JSON stays as it is. No arguments
// are an empty object.
func canonical(raw json.RawMessage) []byte {
	if len(bytes.TrimSpace(raw)) == 0 {
		return []byte("{}")
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var value any
	if d.Decode(&value) != nil || d.More() {
		return raw
	}
	text, err := json.Marshal(value) // sorts the members
	if err != nil {
		return raw
	}
	return text
}

// Clean returns the registration without secrets: a server's command line may hold
// some.
func (r Register) Clean() Register {
	r.Server.Command = redact.Args(r.Server.Command)
	r.Server.CWD = redact.Text(r.Server.CWD)
	r.CWD = redact.Text(r.CWD)
	return r
}
