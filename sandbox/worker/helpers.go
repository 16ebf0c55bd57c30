package worker

import (
	"encoding/base64"
	"sync"

	"github.com/bir-run/bir/sandbox/worker/text"
	"github.com/dop251/goja"
	"github.com/nlnwa/whatwg-url/url"
)

// helpers are what the prelude's files get from us.
func (ev *evaluation) helpers() *goja.Object {
	object := ev.vm.NewObject()
	for name, f := range map[string]func(goja.FunctionCall) goja.Value{
		"define":    ev.define,
		"now":       func(goja.FunctionCall) goja.Value { return ev.vm.ToValue(float64(ev.req.Now.UnixMilli())) },
		"detach":    ev.detach,
		"encode":    ev.encode,
		"decode":    ev.decode,
		"base64":    ev.base64,
		"parseURL":  ev.parseURL,
		"changeURL": ev.changeURL,
		"unescape":  ev.unescape,
	} {
		_ = object.Set(name, native(ev.vm, name, 0, f))
	}
	return object
}

// define copies the properties of an object as builtins have them: not enumerable.
func (ev *evaluation) define(c goja.FunctionCall) goja.Value {
	target, _ := c.Argument(0).(*goja.Object)
	properties, _ := c.Argument(1).(*goja.Object)
	if target == nil || properties == nil {
		panic(ev.vm.NewTypeError("define takes two objects"))
	}
	for _, name := range properties.Keys() {
		hide(target, name, properties.Get(name))
	}
	for _, symbol := range properties.Symbols() {
		_ = target.DefineDataPropertySymbol(symbol, properties.GetSymbol(symbol), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
	return target
}

// bufferOf is an ArrayBuffer's storage. A helper is only ever given one.
func bufferOf(value goja.Value) goja.ArrayBuffer {
	if object, ok := value.(*goja.Object); ok && object.ExportType() != proxyType {
		if buffer, ok := object.Export().(goja.ArrayBuffer); ok {
			return buffer
		}
	}
	return goja.ArrayBuffer{}
}

func (ev *evaluation) detach(c goja.FunctionCall) goja.Value {
	buffer := bufferOf(c.Argument(0))
	buffer.Detach()
	return goja.Undefined()
}

// encode gives the bytes of a text in an encoding of Buffer.
func (ev *evaluation) encode(c goja.FunctionCall) goja.Value {
	units := unitsOf(ev.textOf(c.Argument(0)))
	ev.needs(3 * float64(len(units)))
	return ev.vm.ToValue(ev.vm.NewArrayBuffer(text.Encode(units, c.Argument(1).String())))
}

// decode gives the text of bytes and how many were used, or undefined where the
// decoder is fatal and they are none.
func (ev *evaluation) decode(c goja.FunctionCall) goja.Value {
	buffer := bufferOf(c.Argument(0))
	data := buffer.Bytes()
	start := min(max(c.Argument(1).ToInteger(), 0), int64(len(data)))
	end := min(start+max(c.Argument(2).ToInteger(), 0), int64(len(data)))
	units, used, ok := text.Decode(data[start:end], c.Argument(3).String(), c.Argument(5).ToBoolean())
	if !ok && c.Argument(4).ToBoolean() {
		return goja.Undefined()
	}
	return ev.vm.NewArray(goja.StringFromUTF16(units), used)
}

func (ev *evaluation) base64(c goja.FunctionCall) goja.Value {
	units := unitsOf(ev.textOf(c.Argument(0)))
	data := make([]byte, len(units))
	for i, unit := range units {
		data[i] = byte(unit)
	}
	return ev.vm.ToValue(base64.StdEncoding.EncodeToString(data))
}

var urls = sync.OnceValue(func() url.Parser { return url.NewParser() })

func (ev *evaluation) parseURL(c goja.FunctionCall) goja.Value {
	var parsed *url.Url
	var err error
	if base := c.Argument(1); goja.IsUndefined(base) {
		parsed, err = urls().Parse(c.Argument(0).String())
	} else {
		parsed, err = urls().ParseRef(base.String(), c.Argument(0).String())
	}
	if err != nil {
		return goja.Null()
	}
	return ev.urlParts(parsed)
}

func (ev *evaluation) urlParts(u *url.Url) goja.Value {
	object := ev.vm.NewObject()
	for _, part := range []struct{ name, value string }{
		{"href", u.Href(false)}, {"origin", originOf(u)}, {"protocol", u.Protocol()},
		{"username", u.Username()}, {"password", u.Password()}, {"host", u.Host()}, {"hostname", u.Hostname()},
		{"port", u.Port()}, {"pathname", u.Pathname()}, {"search", u.Search()}, {"hash", u.Hash()},
	} {
		_ = object.Set(part.name, part.value)
	}
	return object
}

// originOf is null but for the schemes that have one.
func originOf(u *url.Url) string {
	switch u.Scheme() {
	case "http", "https", "ws", "wss", "ftp":
		return u.Protocol() + "//" + u.Host()
	case "blob":
		if inner, err := urls().Parse(u.Pathname()); err == nil && (inner.Scheme() == "http" || inner.Scheme() == "https") {
			return originOf(inner)
		}
	}
	return "null"
}

// changeURL sets one part of a URL, as the setters of the class do. Null means that
// the whole is none.
func (ev *evaluation) changeURL(c goja.FunctionCall) goja.Value {
	name, value := c.Argument(1).String(), c.Argument(2).String()
	source := c.Argument(0).String()
	if name == "href" {
		source = value
	}
	u, err := urls().Parse(source)
	if err != nil {
		return goja.Null()
	}
	set := map[string]func(string){
		"protocol": u.SetProtocol, "username": u.SetUsername, "password": u.SetPassword, "host": u.SetHost,
		"hostname": u.SetHostname, "port": u.SetPort, "pathname": u.SetPathname, "search": u.SetSearch, "hash": u.SetHash,
	}[name]
	if set != nil {
		set(value)
	}
	return ev.urlParts(u)
}

// unescape undoes percent escapes; what is none stays, and bytes that are no UTF-8
// become U+FFFD.
func (ev *evaluation) unescape(c goja.FunctionCall) goja.Value {
	units, _, _ := text.Decode(text.Unescape(c.Argument(0).String()), "utf8", false)
	return goja.StringFromUTF16(units)
}
