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
		"db.users.deleteMany({})":                             {"DELETEMANY without WHERE"},
		"":                                                    nil,
	} {
		got := statement.Read(text)
		var verbs []string
		for _, s := range got.Statements {
			verbs = append(verbs, s.Verbs)
		}
		if diff := cmp.Diff(want, verbs); diff != "" || got.Ambiguous != "" {
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

func TestStatementsThatChangeSomethingKeepTheirShape(t *testing.T) {
	for _, same := range [][2]string{
		{"delete from t where a = 1", "DELETE FROM t WHERE a = 2"}, {"update t set a = 1 where b = 'x'", "update t set c = 'z', d = 2 where b = 'y'"},
		{"insert into t (a) values (1)", "insert into t (b, c) values (2, 'select')"}, {"drop table t", "DROP  TABLE t -- now"},
		{"select a union select 1", "select a union select 2"},
	} {
		if why := statement.Compare(same[0], same[1]); why != "" {
			t.Errorf("%v: %s", same, why)
		}
	}
	for _, other := range [][2]string{
		{"delete from t where a = 1", "delete from t where a = 1 or 1 = 1"}, {"delete from t where a = 1", "delete from t where 1 = 1"},
		{"delete from t where a = 1", "delete t, u from t join u where a = 1"}, {"update t set a = 1 where b = 2", "update t, u set a = 1 where b = 2"},
		{"update t set a = 1 where b = 2", "update t set a = (select max(c) from u) where b = 2"}, {"insert into t values (1)", "insert into t select * from users"},
		{"insert into t values (1)", "insert into t values (1) on conflict do update set a = 1"}, {"drop table t", "drop database t"},
		{"drop table t", "drop table t cascade"}, {"alter table t add a int", "alter table t add b int"}, {"grant select on t to a", "grant all on t to a"},
		{"call f(1)", "call g(1)"}, {"call f(1)", "call f(2)"}, {"use a", "use b"}, {"set a = 1", "set a = 2"}, {"select pg_reload_conf()", "select 1"},
		{"select * from openrowset('x')", "select * from openrowset('y')"}, {`{"find":1}`, `{"delete":1}`},
	} {
		if why := statement.Compare(other[0], other[1]); why == "" {
			t.Errorf("%v are taken for the same", other)
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
