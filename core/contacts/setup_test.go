package contacts_test

import (
	"testing"

	"github.com/mailhelm/mailhelm/core/contacts/contactstest"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// bundle is a contactstest.World with helper methods for the tests of this package.
type bundle struct{ *contactstest.World }

func setup(t *testing.T) bundle { return setupOn(t, storagetest.SQLite(t)) }

func setupOn(t *testing.T, db *storage.DB) bundle {
	t.Helper()
	return bundle{contactstest.New(t, db)}
}
