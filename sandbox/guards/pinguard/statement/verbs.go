package statement

import "strings"

// writing are words that, anywhere in a statement, make it do more than read.
var writing = map[string]bool{
	"INSERT": true, "UPDATE": true, "DELETE": true, "MERGE": true, "UPSERT": true, "REPLACE": true, "DROP": true,
	"ALTER": true, "TRUNCATE": true, "CREATE": true, "GRANT": true, "REVOKE": true, "INTO": true, "OUTFILE": true,
	"DUMPFILE": true, "CALL": true, "EXEC": true, "EXECUTE": true, "COPY": true, "LOAD": true, "ATTACH": true,
	"DETACH": true, "PRAGMA": true, "DO": true, "LOCK": true, "UNLOCK": true, "SHUTDOWN": true, "KILL": true,
	"BACKUP": true, "RESTORE": true, "RENAME": true, "VACUUM": true, "REINDEX": true, "PREPARE": true, "ANALYZE": true,
	"COMMIT": true, "ROLLBACK": true, "BEGIN": true, "DECLARE": true, "HANDLER": true, "IMPORT": true, "EXPORT": true,
	"UNLOAD": true, "CASCADE": true, "REMOVE": true, "FOREACH": true, "MUTATION": true, "UNION": true, "INTERSECT": true,
	"EXCEPT": true, "SET": true, "RETURNING": true, "OWNER": true, "PROGRAM": true, "CONCURRENTLY": true,
}

// reaching are functions that read or run something outside the tables, or wait.
var reaching = map[string]bool{
	"LOAD_FILE": true, "LO_IMPORT": true, "LO_EXPORT": true, "PG_READ_FILE": true, "PG_READ_BINARY_FILE": true, "PG_LS_DIR": true,
	"PG_SLEEP": true, "SLEEP": true, "BENCHMARK": true, "WAITFOR": true, "DBLINK": true, "DBLINK_EXEC": true, "XP_CMDSHELL": true,
	"XP_DIRTREE": true, "SP_EXECUTESQL": true, "OPENROWSET": true, "OPENQUERY": true, "OPENDATASOURCE": true, "LOAD_EXTENSION": true,
	"READFILE": true, "WRITEFILE": true, "SYS_EXEC": true, "SYS_EVAL": true, "SET_CONFIG": true, "PG_TERMINATE_BACKEND": true,
	"PG_CANCEL_BACKEND": true, "SETVAL": true, "NEXTVAL": true, "UTL_HTTP": true, "QUERY_TO_XML": true, "PG_RELOAD_CONF": true,
	"READ_CSV": true, "READ_TEXT": true, "READ_PARQUET": true, "URL": true, "FILE": true, "S3": true,
}

// changing are parts of method names of engines that are not told what to do in
// SQL: db.users.deleteMany.
var changing = []string{"DELETE", "REMOVE", "DROP", "INSERT", "UPDATE", "WRITE", "REPLACE", "CREATE", "RENAME", "EXEC"}

// writes tells whether a word changes something. One with a parenthesis may be a
// method.
func writes(upper string, isCall bool) bool {
	if isCall {
		for _, c := range changing {
			if strings.Contains(upper, c) {
				return true
			}
		}
	}
	return writing[upper] || reaching[upper]
}
