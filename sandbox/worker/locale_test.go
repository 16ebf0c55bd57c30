package worker

import (
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestWhatNoDataAreThereForIsAnErrorAndNotAnotherLocale(t *testing.T) {
	for source, want := range map[string]string{
		"return (5).toLocaleString('zh-CN')":                                                                        "RangeError: The locale zh-CN is not available to bodies: there are data for en, de, fr, es, ja, it, nl, pt, sv and the common regions of each",
		"return new Date(0).toLocaleDateString('de-LU')":                                                            "RangeError: The locale de-LU is not available to bodies",
		"return 'a'.localeCompare('b', 'th')":                                                                       "RangeError: The locale th is not available to bodies",
		"return 'a'.localeCompare('b', 'de-u-co-phonebk')":                                                          "RangeError: The collation phonebk is not available to bodies",
		"return (5).toLocaleString('en-u-nu-arab')":                                                                 "RangeError: The numbering system arab is not available to bodies",
		"return new Date(0).toLocaleString('en', {calendar: 'buddhist'})":                                           "RangeError: The calendar buddhist is not available to bodies",
		"return new Date(0).toLocaleString('ja-JP-u-ca-japanese')":                                                  "RangeError: The calendar japanese is not available to bodies",
		"return 'ι'.toLocaleUpperCase('el')":                                                                        "RangeError: toLocaleUpperCase for el is not available to bodies",
		"return new Intl.Segmenter('en')":                                                                           "TypeError: Intl.Segmenter is not available to bodies",
		"return new Intl.DateTimeFormat('en').formatRange(0, 1)":                                                    "TypeError: formatRange is not available to bodies: format both ends instead",
		"return new Date('1999-12-31').toLocaleString('en', {timeZone: 'America/Sao_Paulo', timeZoneName: 'long'})": "RangeError: The long name of the time zone America/Sao_Paulo is not available to bodies",
		"return new Date(0).toLocaleString('de', {hour: 'numeric', hourCycle: 'h24'})":                              "RangeError: The hour cycle h24 is not available to bodies in de",
		"return new Date(0).toLocaleString('en', {hour: 'numeric', second: 'numeric'})":                             "RangeError: Times with a gap between their fields are not available to bodies",
		"return (1).toLocaleString('en', {style:'currency',currency:'DEM',currencyDisplay:'name'})":                 "RangeError: The name of the currency DEM is not available to bodies",
	} {
		resp := evaluator().Eval(raw(source))
		if resp.Failure == nil || resp.Failure.Type != typeThrow || !strings.HasPrefix(resp.Failure.Message, want) {
			t.Errorf("%s gave %s %+v, want %s", source, resp.Value, resp.Failure, want)
		}
	}
}

func TestAnUnknownLocaleIsTheDefaultAsInNode(t *testing.T) {
	resp := evaluator().Eval(raw("return [(1234.5).toLocaleString('xx'), new Date(0).toLocaleDateString('en-XX')]"))
	if string(resp.Value) != `["1,234.5","1/1/1970"]` {
		t.Errorf("gave %s %+v", resp.Value, resp.Failure)
	}
}

// Formats are kept beside the body's objects and not in them: they must go with them.
func TestFormatsAreFreedWithTheirObjects(t *testing.T) {
	ev := newEvaluation()
	l := ev.newLocales()
	prototype := ev.vm.NewObject()
	for range 1000 {
		l.keep(ev.vm.CreateObject(prototype), &slot{})
	}
	kept := func() int {
		l.mu.Lock()
		defer l.mu.Unlock()
		return len(l.slots)
	}
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); runtime.Gosched() {
		runtime.GC()
		if kept() < 10 {
			return
		}
	}
	t.Errorf("%d of 1000 are still there", kept())
}

func TestASortByLocaleEndsInItsTime(t *testing.T) {
	resp := evaluator().Eval(raw(`const words = [];
		for (let i = 0; i < 500; i++) words.push('item ' + (i * 7919) % 500);
		words.sort((a, b) => a.localeCompare(b, 'de', {numeric: true, sensitivity: 'base'}));
		return [words[0], words[10], words[499]]`))
	if string(resp.Value) != `["item 0","item 10","item 499"]` {
		t.Errorf("gave %s %+v", resp.Value, resp.Failure)
	}
}

func TestLocalesOfEndlessListsAreStopped(t *testing.T) {
	for _, source := range []string{
		"return (5).toLocaleString({length: 2 ** 53, get 0() { while (true) {} }})",
		"return Array.prototype.toLocaleString.call({length: 2 ** 53})",
	} {
		req := raw(source)
		req.Timeout = soon
		resp := evaluator().Eval(req)
		if resp.Failure == nil || resp.Failure.Type != typeTimeout {
			t.Errorf("%s gave %s %+v", source, resp.Value, resp.Failure)
		}
	}
}

func BenchmarkLocales(b *testing.B) {
	for name, source := range map[string]string{
		"none":     "return 1",
		"unused":   "if (false) Intl.x; return 1",
		"number":   "return (1234.5).toLocaleString('de-DE')",
		"currency": "return new Intl.NumberFormat('en-US', {style: 'currency', currency: 'USD'}).format(1234.5)",
		"date":     "return new Date(0).toLocaleDateString('en-US', {timeZone: 'America/New_York'})",
		"clock":    "return new Date(0).getTime()",
		"compare":  "return 'a'.localeCompare('b', 'de', {numeric: true})",
	} {
		b.Run(name, func(b *testing.B) {
			e := evaluator()
			for b.Loop() {
				if resp := e.Eval(raw(source)); resp.Failure != nil {
					b.Fatal(resp.Failure)
				}
			}
		})
	}
}
