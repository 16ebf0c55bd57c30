package cases

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// Acceptable tells outcomes whose value could be the expected one from now on: a
// value came back where another, or an error, was expected.
func (o Outcome) Acceptable() bool {
	return !o.OK && o.Error == nil && o.Case.Expect != nil && o.Value != nil
}

// Accept makes the value of an acceptable outcome the expected one in the file that
// its case came from. Nothing else in the file changes, not even spaces.
func Accept(o Outcome) error {
	if !o.Acceptable() || o.Case.Place.File == "" {
		return errors.New("there is no value to accept, or no file to write it to")
	}
	file := o.Case.Place.File
	data, err := os.ReadFile(file)
	if err != nil {
		return missing(file, err)
	}
	if o.Case.Place.Index == Whole {
		return replace(file, append(whole(data, o.Value), '\n'))
	}
	path := fmt.Sprintf("%d.expect", o.Case.Place.Index)
	value := []byte(o.Value)
	if o.Case.Expect.Error != "" {
		value = []byte(`{"value": ` + string(value) + `}`)
	} else {
		path += ".value"
		value = likeBefore(data, path, value)
	}
	changed, err := sjson.SetRawBytes(data, path, value)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return replace(file, changed)
}

// likeBefore indents a value if the one in its place is written on several lines.
func likeBefore(data []byte, path string, value []byte) []byte {
	old := gjson.GetBytes(data, path)
	if !strings.Contains(old.Raw, "\n") {
		return value
	}
	before := data[:old.Index]
	line := before[bytes.LastIndexByte(before, '\n')+1:]
	return indented(value, string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))]))
}

// whole is likeBefore for a file that is nothing but the value.
func whole(data, value []byte) []byte {
	if !bytes.Contains(bytes.TrimSpace(data), []byte("\n")) {
		return value
	}
	return indented(value, "")
}

func indented(value []byte, prefix string) []byte {
	var out bytes.Buffer
	if json.Indent(&out, value, prefix, "  ") != nil {
		return value
	}
	return out.Bytes()
}

// replace writes a file whole or not at all, and keeps its mode. A link stays one.
func replace(path string, data []byte) error {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(path), ".bir-*")
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name()) // does nothing once it is renamed
	_, err = temp.Write(data)
	if err := errors.Join(err, temp.Chmod(info.Mode().Perm()), temp.Close()); err != nil {
		return err
	}
	return os.Rename(temp.Name(), path)
}
