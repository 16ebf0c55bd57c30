// Command upstream is an MCP server over stdio that gives the answers of a recorded
// exchange. A call that was stopped there is not answered; what was not asked there is
// refused.
package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// request is one that was asked in the exchange, with what was answered.
type request struct{ key, answer string }

// key tells requests apart: by their method and, where it is a call, by its id.
func key(msg gjson.Result) string {
	return msg.Get("method").String() + " " + msg.Get(`params._meta.claudecode/toolUseId`).String()
}

func run(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	known := requests(strings.Split(strings.TrimSpace(string(text)), "\n"))
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return nil // the host has left
		}
		msg := gjson.Parse(line)
		if !msg.Get("id").Exists() || !msg.Get("method").Exists() {
			continue
		}
		if answer := reply(known, msg); answer != "" {
			fmt.Println(answer)
		}
	}
}

func requests(lines []string) (out []request) {
	for i, line := range lines {
		msg := gjson.Get(line, "msg")
		if gjson.Get(line, "dir").String() != "c2s" || !msg.Get("method").Exists() || !msg.Get("id").Exists() {
			continue
		}
		r := request{key: key(msg)}
		for _, later := range lines[i:] {
			if a := gjson.Get(later, "msg"); gjson.Get(later, "dir").String() == "s2c" && a.Get("id").Raw == msg.Get("id").Raw && !a.Get("method").Exists() {
				r.answer = a.Raw
				break
			}
		}
		out = append(out, r)
	}
	return out
}

// reply is what was answered to the same request, under the id of this one.
func reply(known []request, msg gjson.Result) string {
	id := msg.Get("id").Raw
	for _, r := range known {
		if r.key != key(msg) {
			continue
		}
		answer, err := sjson.SetRaw(r.answer, "id", id)
		if r.answer == "" || err != nil {
			return ""
		}
		return strings.ReplaceAll(answer, "\n", " ")
	}
	return `{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-32601,"message":"Method not found"}}`
}
