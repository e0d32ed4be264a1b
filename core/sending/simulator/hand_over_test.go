package simulator_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
)

// TestHandOverDeletesWhatWasTaken hands over a list of two pages. After a failure the list must
// be complete; after a success its rows and every trace of them must be gone, and the list of
// another organization must be unchanged.
func TestHandOverDeletesWhatWasTaken(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "account.db")
	s := open(t, path, simulator.Options{})
	seed(t, s, "leaves", 1001)
	seed(t, s, "stays", 1)
	refused := errors.New("refused")
	for _, want := range []error{refused, nil} {
		var taken []sending.Contact
		err := s.HandOver(t.Context(), "leaves", func(_ context.Context, list simulator.HandedOver) error {
			for range 2 { // it may be read again
				taken = nil
				for page, err := range list.Contacts() {
					if err != nil || len(page) > 1000 {
						t.Fatalf("a page of %d, %v", len(page), err)
					}
					taken = append(taken, page...)
				}
			}
			return want
		})
		if want != nil && err == nil || want == nil && err != nil {
			t.Errorf("fails with %v, want %v", err, want)
		}
		if len(taken) != 1001 {
			t.Errorf("%d contacts were handed over", len(taken))
		}
	}
	for range 2 { // there is nothing left
		must(t, s.HandOver(t.Context(), "leaves", func(context.Context, simulator.HandedOver) error { return refused }))
	}
	must(t, s.HandOver(t.Context(), "unknown", func(context.Context, simulator.HandedOver) error { return refused }))
	if owners, err := s.ListOwners(t.Context()); err != nil || !slices.Equal(owners, []string{"stays"}) {
		t.Errorf("lists of %v, %v", owners, err)
	}
	if page, _, err := s.Contacts(t.Context(), "stays", ""); err != nil || len(page) != 1 {
		t.Errorf("the other list has %v, %v", page, err)
	}
	for _, name := range []string{path, path + "-wal"} {
		content, err := os.ReadFile(name)
		must(t, err)
		if n := bytes.Count(content, []byte("@example.com")); n > 4 { // the address of the other list, and of its index
			t.Errorf("%s has %d addresses", filepath.Base(name), n)
		}
	}
}
