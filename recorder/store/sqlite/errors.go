package sqlite

import (
	"database/sql"
	"errors"
	"fmt"

	"modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"

	"github.com/bir-run/bir/recorder/store"
)

// translate puts the store's errors in place of the driver's, where a caller
// branches on the cause. The driver's own text is kept behind them.
func translate(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return store.ErrNotFound
	}
	var failure *sqlite.Error
	if !errors.As(err, &failure) {
		return err
	}
	switch failure.Code() {
	case codes.SQLITE_CONSTRAINT_FOREIGNKEY:
		return store.ErrNotFound
	case codes.SQLITE_CONSTRAINT_PRIMARYKEY, codes.SQLITE_CONSTRAINT_UNIQUE:
		return store.ErrExists
	}
	switch failure.Code() & 0xff { // the low byte is the primary code
	case codes.SQLITE_FULL:
		return fmt.Errorf("%w (%v)", store.ErrFull, err)
	case codes.SQLITE_CORRUPT, codes.SQLITE_NOTADB:
		return fmt.Errorf("%w (%v)", store.ErrDamaged, err)
	}
	return err
}
