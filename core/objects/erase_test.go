package objects_test

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/objects"
	"github.com/mailhelm/mailhelm/core/objects/files"
	"github.com/mailhelm/mailhelm/core/objects/objectstest"
)

// noBuckets has no bucket of any organization.
type noBuckets struct{ objects.BucketStore }

func (noBuckets) AllBuckets(context.Context, string) ([]objects.StoredBucket, error) { return nil, nil }

// onlyFiles finds the store in the data folder.
type onlyFiles struct{ *files.Files }

func (f onlyFiles) Of(_ context.Context, orgID string) (objects.Store, error) {
	return f.Files.Of(orgID), nil
}

func (f onlyFiles) At(_ context.Context, orgID, _ string) (objects.Store, error) {
	return f.Files.Of(orgID), nil
}

// TestEraseAllDeletesObjectsOfOneOrganization checks that EraseAll deletes every kind of
// object, small ones in packs and more than one page of them, and none of another organization.
func TestEraseAllDeletesObjectsOfOneOrganization(t *testing.T) {
	t.Parallel()
	f, err := files.New(files.Config{
		Folder: filepath.Join(t.TempDir(), "objects"), Key: bytes.Repeat([]byte{7}, files.KeyBytes), FetchURL: "https://fetch.test", Clock: core.SystemClock,
	})
	if err != nil {
		t.Fatal(err)
	}
	gone, kept := core.NewID(), core.NewID()
	hash := fmt.Sprintf("%064x", 7)
	fill := func(orgID string, n int) []string {
		store := f.Of(orgID)
		keys := []string{objects.RawKey(orgID, core.NewID()), objects.AttachmentKey(orgID, core.NewID(), 0), objects.AssetKey(orgID, hash)}
		for _, key := range keys {
			objectstest.Put(t, store, key, "content")
		}
		for range n {
			keys = append(keys, objectstest.Add(t, store, objects.TextKey(orgID, core.NewID()), "a small part"))
		}
		return keys
	}
	erased, others := fill(gone, 600), fill(kept, 3)
	for range 2 { // it may be repeated
		if err := objects.EraseAll(t.Context(), onlyFiles{f}, noBuckets{}, gone, time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	for _, key := range erased {
		if content, found := objectstest.Content(t, f.Of(gone), key); found {
			t.Errorf("%s is left: %s", key, content)
		}
	}
	for _, key := range others {
		if _, found := objectstest.Content(t, f.Of(kept), key); !found {
			t.Errorf("%s of the other organization is gone", key)
		}
	}
}
