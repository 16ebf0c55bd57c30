package statement_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bir-run/bir/sandbox/guards/pinguard/statement"
)

func TestReadKeepsVerbsAndWhatTheyChange(t *testing.T) {
	for text, want := range map[string][]string{
		"select a from t where b = 'drop table x'":            {"SELECT"},
		"  ; select 1;; select 2 ;":                           {"SELECT", "SELECT"},
		"-- why\nselect 1 /* drop table x */":                 {"SELECT"},
		"with x as (select 1) select a from x":                {"SELECT"},
		"with x as (delete from t returning a) select 1":      {"SELECT DELETE RETURNING t without WHERE"},
		"with x as (select 1) update t set a = 1 where b = 2": {"SELECT SET UPDATE t"},
		"delete from only t where a = 1":                      {"DELETE t"},
		"DELETE FROM a.b":                                     {"DELETE a.b without WHERE"},
		"drop table if exists t":                              {"DROP t without WHERE"},
		"select replace(a, 'x', 'y') from t":                  {"SELECT"},
		"select pg_sleep(1)":                                  {"SELECT PG_SLEEP without WHERE"},
		"select `drop` from `t`":                              {"SELECT"},
		"db.users.deleteMany({})":                             {"DELETEMANY"},
		"":                                                    nil,
	} {
		got := statement.Read(text)
		if diff := cmp.Diff(want, got.Statements); diff != "" || got.Ambiguous != "" {
			t.Errorf("%s: %s %s", text, diff, got.Ambiguous)
		}
	}
}

func TestReadDoesNotChooseBetweenEngines(t *testing.T) {
	for _, text := range []string{
		`select 'a\'; drop table t; -- '`, "select 1 --1; drop table t", "select 1 # '\n; drop table t -- '", "/*!50000 drop table t */",
		"select /* /* */ 1; drop table t -- */ */", "select $$'$$; drop table t --'", "select [a'b]; drop table t --']", "select 'unclosed",
		"select `a", "select `a'b`", "select 1drop", "select \x00", "select /* ' */ 1 -- '", strings.Repeat("select 1;", 10_000),
	} {
		if r := statement.Read(text); r.Ambiguous == "" {
			t.Errorf("%.60q is read as %v", text, r.Statements)
		}
	}
}

func TestCompareTakesAnExactCopyOfAnything(t *testing.T) {
	for _, text := range []string{"select 'unclosed", "", "drop table t", "`"} {
		if why := statement.Compare(text, " "+text+"\n"); why != "" {
			t.Errorf("%q: %s", text, why)
		}
	}
}

func TestCompareSaysWhatEachSideRuns(t *testing.T) {
	for pair, want := range map[[2]string]string{
		{"select 1", "drop table t"}:       "runs SELECT where the step runs DROP t without WHERE",
		{"", "select 1"}:                   "runs nothing where the step runs SELECT",
		{"select 1", "select 'x"}:          "is not an exact copy of the step's statement, which has a string",
		{"select 'x", "select 1"}:          "has a statement that has a string",
		{"select 1; select 2", "select 1"}: "runs SELECT; SELECT where the step runs SELECT",
	} {
		if got := statement.Compare(pair[0], pair[1]); !strings.HasPrefix(got, want) {
			t.Errorf("%v: %q, want %q", pair, got, want)
		}
	}
}
