// Package inboundtest has what tests of received mail need.
package inboundtest

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/objects"
	"github.com/mailhelm/mailhelm/core/objects/files"
)

// Stores keeps the objects of all organizations as files. Fail replaces the store of an
// organization by one whose calls fail with its result, unless that is nil; it may be nil.
type Stores struct {
	*files.Files
	Fail func(call, key string) error
}

// NewStores returns stores in a folder of the test.
func NewStores(tb testing.TB, clock core.Clock) *Stores {
	tb.Helper()
	f, err := files.New(files.Config{
		Folder: filepath.Join(tb.TempDir(), "mail"), Key: make([]byte, files.KeyBytes), FetchURL: "https://fetch.test", Clock: clock,
	})
	if err != nil {
		tb.Fatal(err)
	}
	return &Stores{Files: f}
}

// Of implements [objects.Stores].
func (s *Stores) Of(_ context.Context, orgID string) (objects.Store, error) {
	return failing{s.Files.Of(orgID), s}, nil
}

// At implements [objects.Stores].
func (s *Stores) At(ctx context.Context, orgID, storeID string) (objects.Store, error) {
	if storeID != objects.FilesID && storeID != "" {
		return nil, core.NotFound("store")
	}
	return s.Of(ctx, orgID)
}

// All returns the one store of an organization, as objects.Locator does.
func (s *Stores) All(ctx context.Context, orgID string) ([]objects.Store, error) {
	store, err := s.Of(ctx, orgID)
	return []objects.Store{store}, err
}
