package statement

import (
	"slices"
	"strings"
)

// writing are words that, anywhere in a statement, make it do more than read.
var writing = setOf("INSERT UPDATE DELETE MERGE UPSERT REPLACE DROP ALTER TRUNCATE CREATE GRANT REVOKE INTO OUTFILE DUMPFILE CALL " +
	"EXEC EXECUTE COPY LOAD ATTACH DETACH PRAGMA DO LOCK UNLOCK SHUTDOWN KILL BACKUP RESTORE RENAME VACUUM " +
	"REINDEX PREPARE ANALYZE COMMIT ROLLBACK BEGIN DECLARE HANDLER IMPORT EXPORT UNLOAD REMOVE FOREACH MUTATION " +
	"SET USE TRIGGER")

// reaching are functions that read or run something outside the tables, or wait.
var reaching = setOf("LOAD_FILE LO_IMPORT LO_EXPORT PG_READ_FILE PG_READ_BINARY_FILE PG_LS_DIR PG_SLEEP SLEEP BENCHMARK WAITFOR " +
	"DBLINK DBLINK_EXEC XP_CMDSHELL XP_DIRTREE SP_EXECUTESQL OPENROWSET OPENQUERY OPENDATASOURCE LOAD_EXTENSION " +
	"READFILE WRITEFILE SYS_EXEC SYS_EVAL SET_CONFIG PG_TERMINATE_BACKEND PG_CANCEL_BACKEND SETVAL NEXTVAL " +
	"UTL_HTTP QUERY_TO_XML PG_RELOAD_CONF READ_CSV READ_TEXT READ_PARQUET URL FILE S3")

// joining are words that join another query to a statement.
var joining = setOf("UNION INTERSECT EXCEPT MINUS RETURNING")

// prefixes of functions that the engines have for their own administration, and
// those of them that only read.
var (
	adminPrefixes   = []string{"PG_", "LO_", "DBLINK", "XP_", "SP_", "UTL_", "DBMS_", "OPEN", "SYS_"}
	readingPrefixes = []string{"PG_SIZE_", "PG_TABLE_", "PG_TOTAL_", "PG_GET_", "PG_RELATION_", "PG_DATABASE_SIZE", "PG_TYPEOF"}
)

// changing are parts of method names of engines that are not told what to do in
// SQL: db.users.deleteMany.
var changing = []string{"DELETE", "REMOVE", "DROP", "INSERT", "UPDATE", "WRITE", "REPLACE", "CREATE", "RENAME", "EXEC"}

// writes tells whether a word changes something. One with a parenthesis may be a
// method, or a function of the engine's own.
func writes(upper string, isCall bool) bool {
	if isCall {
		starts := func(prefix string) bool { return strings.HasPrefix(upper, prefix) }
		holds := func(part string) bool { return strings.Contains(upper, part) }
		if slices.ContainsFunc(changing, holds) || slices.ContainsFunc(adminPrefixes, starts) && !slices.ContainsFunc(readingPrefixes, starts) {
			return true
		}
	}
	return writing[upper] || reaching[upper]
}

func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}
