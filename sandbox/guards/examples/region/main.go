// Command region is an example of a guard in Go, as a reactor: it keeps steps and
// values away from the regions in its settings. Install it with
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -o region.wasm .
//
// as region.wasm in a folder of guards, beside a region.json such as
//
//	{"config": {"deny": ["us-east"]}}
package main

import (
	"encoding/json"
	"strings"

	"github.com/bir-run/bir/sandbox/guardsdk"
)

var _ = guardsdk.Serve(guardsdk.Handlers{Value: check, Step: check})

func main() {}

type config struct {
	Deny []string `json:"deny"`
}

// check denies without settings: a guard that does not know its rule allows
// nothing.
func check(req guardsdk.Request) guardsdk.Verdict {
	var cfg config
	if err := json.Unmarshal(req.Config, &cfg); err != nil || len(cfg.Deny) == 0 {
		return guardsdk.Denied("region_settings", `region.json must have {"config": {"deny": ["..."]}}`)
	}
	for _, s := range req.Strings {
		for _, region := range cfg.Deny {
			if s.Path != "sample" && strings.Contains(strings.ToLower(s.Value), region) {
				return guardsdk.Denied("region_denied", "the region "+region+" is not to be touched ("+s.Path+")")
			}
		}
	}
	return guardsdk.Allowed()
}
