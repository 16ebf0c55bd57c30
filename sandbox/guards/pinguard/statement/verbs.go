package statement

import (
	"slices"
	"strings"
)

// wordKind says what a word does in a statement.
type wordKind int

const (
	changesSomething wordKind = 1 << iota // more than to read
	joinsQuery                            // another query follows
	beforeTable                           // the name of what is changed follows
	withinTable                           // stands between that word and the name
	startsCondition
)

// writing are words that, anywhere in a statement, make it do more than read.
const writing = "INSERT UPDATE DELETE MERGE UPSERT REPLACE DROP ALTER TRUNCATE CREATE GRANT REVOKE INTO OUTFILE DUMPFILE CALL " +
	"EXEC EXECUTE COPY LOAD ATTACH DETACH PRAGMA DO LOCK UNLOCK SHUTDOWN KILL BACKUP RESTORE RENAME VACUUM " +
	"REINDEX PREPARE ANALYZE COMMIT ROLLBACK BEGIN DECLARE HANDLER IMPORT EXPORT UNLOAD REMOVE FOREACH MUTATION " +
	"SET USE TRIGGER"

// reaching are functions that read or run something outside the tables, or wait.
const reaching = "LOAD_FILE LO_IMPORT LO_EXPORT PG_READ_FILE PG_READ_BINARY_FILE PG_LS_DIR PG_SLEEP SLEEP BENCHMARK WAITFOR " +
	"DBLINK DBLINK_EXEC XP_CMDSHELL XP_DIRTREE SP_EXECUTESQL OPENROWSET OPENQUERY OPENDATASOURCE LOAD_EXTENSION " +
	"READFILE WRITEFILE SYS_EXEC SYS_EVAL SET_CONFIG PG_TERMINATE_BACKEND PG_CANCEL_BACKEND SETVAL NEXTVAL " +
	"UTL_HTTP QUERY_TO_XML PG_RELOAD_CONF READ_CSV READ_TEXT READ_PARQUET URL FILE S3"

// wordKinds has them all, so that one look is enough for a word.
var wordKinds = func() map[string]wordKind {
	kinds := map[string]wordKind{}
	for words, kind := range map[string]wordKind{
		writing: changesSomething, reaching: changesSomething, "WHERE": startsCondition,
		"UNION INTERSECT EXCEPT MINUS RETURNING":                                  joinsQuery,
		"FROM INTO UPDATE TABLE DATABASE SCHEMA VIEW INDEX ON TRUNCATE USER ROLE": beforeTable,
		"IF NOT EXISTS ONLY LOW_PRIORITY IGNORE QUICK":                            withinTable,
	} {
		for _, word := range strings.Fields(words) {
			kinds[word] |= kind
		}
	}
	return kinds
}()

const longestWord = 24 // of those that are looked for

// kindOf looks the word up in any case, without writing it anew: most words are
// names.
func kindOf(word string) wordKind {
	var upper [longestWord]byte
	if len(word) > longestWord {
		return 0
	}
	for i := range len(word) {
		b := word[i]
		if b >= 'a' && b <= 'z' {
			b -= 'a' - 'A'
		}
		upper[i] = b
	}
	return wordKinds[string(upper[:len(word)])]
}

// prefixes of functions that the engines have for their own administration, and
// those of them that only read.
var (
	adminPrefixes   = []string{"PG_", "LO_", "DBLINK", "XP_", "SP_", "UTL_", "DBMS_", "OPEN", "SYS_"}
	readingPrefixes = []string{"PG_SIZE_", "PG_TABLE_", "PG_TOTAL_", "PG_GET_", "PG_RELATION_", "PG_DATABASE_SIZE", "PG_TYPEOF"}
)

// changing are parts of method names of engines that are not told what to do in
// SQL: db.users.deleteMany.
var changing = []string{"DELETE", "REMOVE", "DROP", "INSERT", "UPDATE", "WRITE", "REPLACE", "CREATE", "RENAME", "EXEC"}

// reaches tells of a function that may be a method that changes something, or one of
// the engine's own.
func reaches(upper string) bool {
	starts := func(prefix string) bool { return strings.HasPrefix(upper, prefix) }
	holds := func(part string) bool { return strings.Contains(upper, part) }
	return slices.ContainsFunc(changing, holds) || slices.ContainsFunc(adminPrefixes, starts) && !slices.ContainsFunc(readingPrefixes, starts)
}

func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}
