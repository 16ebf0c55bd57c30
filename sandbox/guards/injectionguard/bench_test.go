package injectionguard_test

import (
	"testing"

	"github.com/bir-run/bir/sandbox/guards/injectionguard"
)

func BenchmarkCheck(b *testing.B) {
	for name, c := range map[string][2]string{
		"name":     {`"us-east"`, `"eu-west"`},
		"path":     {`"/data/us-east/devices 2.json"`, `"/data/eu-west/devices 1.json"`},
		"sentence": {`"add the new export page"`, `"fix the failing test, again"`},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if v := injectionguard.Check(request(c[0], c[1], "runs")); !v.Allow {
					b.Fatal(v)
				}
			}
		})
	}
}
