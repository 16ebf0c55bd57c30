package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/bir-run/bir/sandbox"
	"github.com/bir-run/bir/sandbox/cases"
)

// junit is the XML that most continuous integration reads. The counts stand before
// the cases, so all is written at the end.
type junit struct {
	w     io.Writer
	suite junitSuite
	ms    float64
}

type junitSuites struct {
	XMLName xml.Name     `xml:"testsuites"`
	Suites  []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Time     string      `xml:"time,attr"` // seconds
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Time    string        `xml:"time,attr"`
	Failure *junitFailure `xml:"failure,omitempty"`
	Error   *junitFailure `xml:"error,omitempty"`
	Output  string        `xml:"system-out,omitempty"`
}

type junitFailure struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

func (j *junit) Case(o cases.Outcome) error {
	c := junitCase{
		Class: "bir logic", Name: o.ID, Time: seconds(o.DurationMS), Output: strings.Join(o.Console, "\n"),
	}
	if o.Case.Place.File != "" && o.Case.Place.Index != cases.Whole {
		c.Class = o.Case.Place.File
	}
	if !o.OK {
		c.Failure = &junitFailure{Message: reason(o), Type: "difference", Text: differenceText(o)}
		j.suite.Failures++
		if o.Error != nil {
			c.Failure.Type = string(o.Error.Type)
		}
		// An error is what is not the body's fault; readers count it apart.
		if o.Error != nil && o.Error.Type == sandbox.TypeSandbox {
			c.Error, c.Failure = c.Failure, nil
			j.suite.Failures, j.suite.Errors = j.suite.Failures-1, j.suite.Errors+1
		}
	}
	j.suite.Cases = append(j.suite.Cases, c)
	j.suite.Tests++
	j.ms += o.DurationMS
	return nil
}

func differenceText(o cases.Outcome) string {
	if o.Value == nil || o.Case.Expect == nil || o.Case.Expect.Value == nil {
		return reason(o)
	}
	return strings.Join(append([]string{"- expected, + result"}, Diff(o.Case.Expect.Value, o.Value)...), "\n")
}

func seconds(ms float64) string { return fmt.Sprintf("%.6f", ms/1000) }

func (j *junit) End() error {
	j.suite.Name, j.suite.Time = "bir logic test", seconds(j.ms)
	if _, err := io.WriteString(j.w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(j.w)
	enc.Indent("", "  ")
	if err := enc.Encode(junitSuites{Suites: []junitSuite{j.suite}}); err != nil {
		return err
	}
	_, err := fmt.Fprintln(j.w)
	return err
}
