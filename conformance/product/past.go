package product

import (
	"sync"
	"testing"

	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// past is the data folder of a stopped product with [Options.Past]. The first product that
// needs it makes it, because that takes a second or two; the others get copies. It is nil until
// then, and if that product failed.
var past struct {
	once   sync.Once
	folder *enginetest.FolderTemplate
}

// copiesPast reports whether a product with the options can start from a copy of the past: it
// is on SQLite, and nothing in the options changes what the past consists of.
func (o Options) copiesPast() bool {
	return o.Past && !o.Postgres && o.Beside == nil && o.StartsAt.IsZero() && o.Recipients == (simulator.Behaviour{}) && o.KeptMails == 0 && o.Operations == nil
}

// copyPast writes the data folder of a product with a past. If it returns false, the past could
// not be made, and the caller makes one of its own.
func copyPast(t testing.TB, dir string) bool {
	t.Helper()
	past.once.Do(func() {
		p := Start(t, Options{})
		p.MakePast(t)
		p.stop(t)
		p.host = nil
		past.folder = enginetest.CopyOfFolder(t, p.DataDir)
	})
	if past.folder == nil {
		return false
	}
	past.folder.CopyTo(t, dir)
	return true
}
