package v8math

import (
	"bufio"
	"compress/gzip"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

var results = flag.String("results", "", "a folder that testdata/record.mjs has written all results to")

// called is every function, with two arguments.
func called() map[string]func(x, y float64) float64 {
	all := map[string]func(x, y float64) float64{"atan2": Atan2, "pow": Pow, "hypot": func(x, y float64) float64 { return Hypot(x, y) }}
	for _, f := range Functions() {
		all[f.Name] = func(x, _ float64) float64 { return f.Of(x) }
	}
	return all
}

func bits(x float64) uint64 {
	if math.IsNaN(x) {
		return math.Float64bits(math.NaN()) &^ 1
	}
	return math.Float64bits(x)
}

func TestEdgesAreAsInNode(t *testing.T) {
	file, err := os.Open("testdata/edges.txt.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	text, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	functions, seen := called(), 0
	for lines := bufio.NewScanner(text); lines.Scan(); seen++ {
		fields := strings.Fields(lines.Text())
		x, y, want := parsed(fields[1]), parsed(fields[2]), parsed(fields[3])
		if got := functions[fields[0]](x, y); bits(got) != bits(want) {
			t.Errorf("%s(%v, %v) = %v, Node says %v", fields[0], x, y, got, want)
		}
	}
	if seen < 9000 {
		t.Errorf("only %d edges", seen)
	}
}

func parsed(field string) float64 {
	word, _ := strconv.ParseUint(field, 16, 64)
	return math.Float64frombits(word)
}

// TestNumbersByChanceAreAsInNode makes the numbers of testdata/record.mjs.
func TestNumbersByChanceAreAsInNode(t *testing.T) {
	data, err := os.ReadFile("testdata/chance.json")
	if err != nil {
		t.Fatal(err)
	}
	var digests map[string]map[string]string
	if err := json.Unmarshal(data, &digests); err != nil {
		t.Fatal(err)
	}
	for name, f := range called() {
		if len(digests[name]) != len(kinds) {
			t.Errorf("%s has %d kinds, not %d", name, len(digests[name]), len(kinds))
		}
		for kind, want := range digests[name] {
			got := resultsOf(name, kind, f)
			if sum := sha256.Sum256(got); hex.EncodeToString(sum[:]) != want {
				t.Errorf("%s differs from Node for numbers of the kind %s%s", name, kind, differences(t, name, kind, got))
			}
		}
	}
}

const chanceCount = 20000

// resultsOf calls a function with all numbers of a kind.
func resultsOf(name, kind string, f func(x, y float64) float64) []byte {
	out := make([]byte, 0, 8*chanceCount)
	everyPair(name, kind, func(x, y float64) { out = binary.LittleEndian.AppendUint64(out, bits(f(x, y))) })
	return out
}

func everyPair(name, kind string, see func(x, y float64)) {
	next, other := chance(), kind
	if name == "pow" {
		other = exponents[kind]
	}
	for range chanceCount {
		a, b, c, d := next(), next(), next(), next()
		see(kinds[kind](a, b), kinds[other](c, d))
	}
}

// differences counts them and says the first, where the results are at hand.
func differences(t *testing.T, name, kind string, got []byte) string {
	if *results == "" {
		return ""
	}
	want, err := os.ReadFile(filepath.Join(*results, name+"."+kind))
	if err != nil {
		t.Fatal(err)
	}
	count, first, at := 0, "", 0
	everyPair(name, kind, func(x, y float64) {
		g, w := binary.LittleEndian.Uint64(got[at:]), binary.LittleEndian.Uint64(want[at:])
		at += 8
		if g == w {
			return
		}
		if count++; count == 1 {
			first = fmt.Sprintf("%v, %v (%x) gives %v, not %v", x, y, math.Float64bits(x), math.Float64frombits(g), math.Float64frombits(w))
		}
	})
	return fmt.Sprintf(": %d of %d, %s", count, chanceCount, first)
}

// chance is Marsaglia's xorshift with 128 bits.
func chance() func() uint32 {
	x, y, z, w := uint32(123456789), uint32(362436069), uint32(521288629), uint32(88675123)
	return func() uint32 {
		t := x ^ x<<11
		x, y, z = y, z, w
		w = w ^ w>>19 ^ t ^ t>>8
		return w
	}
}

// exponents are the kinds of the exponents for a kind of base.
var exponents = map[string]string{
	"money": "small", "percent": "small", "rate": "small", "degrees": "near", "small": "small", "whole": "unit", "unit": "near",
	"near": "near", "far": "unit", "one": "whole", "tiny": "unit", "scale": "near", "bits": "scale",
}

var kinds = map[string]func(a, b uint32) float64{
	"bits":    func(a, b uint32) float64 { return number(int32(a), b) },
	"money":   func(a, _ uint32) float64 { return float64(int32(a)) / 100 },
	"percent": func(a, _ uint32) float64 { return 1 + float64(a%20000)/10000 },
	"rate":    func(a, _ uint32) float64 { return 1 + float64(a%1000)/1200000 },
	"degrees": func(a, _ uint32) float64 { return float64(a%72001) * math.Pi / 18000 },
	"small":   func(a, _ uint32) float64 { return float64(a%201) - 100 },
	"whole":   func(a, b uint32) float64 { return float64(uint64(a>>11)<<32 + uint64(b)) },
	"unit":    unit,
	"near":    func(a, b uint32) float64 { return unit(a, b) * 20 },
	"far":     func(a, b uint32) float64 { return unit(a, b) * 760 },
	"one":     func(a, b uint32) float64 { return 1 + float64(float64(int32(a))/(1<<32)*power2(-int(b%50))) },
	"tiny":    func(a, b uint32) float64 { return number(int32(a&0x800FFFFF|0x38000000+(a>>20&0x7F)<<20), b) },
	"scale":   func(a, b uint32) float64 { return number(int32(a&0x800FFFFF|0x3C000000+(a>>20&0x7F)<<20), b) },
}

func unit(a, b uint32) float64 { return float64(uint64(a>>11)<<32+uint64(b))/(1<<52) - 1 }
