package objects

import (
	"context"
	"fmt"
	"time"
)

// erasePage is the maximum number of objects that EraseAll lists and deletes at a time.
const erasePage = 500

// EraseAll deletes all objects of an organization that were stored before a time, from the data
// folder and from all its buckets. It may be interrupted and repeated.
func EraseAll(ctx context.Context, stores Stores, buckets BucketStore, orgID string, before time.Time) error {
	ids := []string{FilesID}
	stored, err := buckets.AllBuckets(ctx, orgID)
	if err != nil {
		return fmt.Errorf("buckets: %w", err)
	}
	for _, b := range stored {
		ids = append(ids, b.ID)
	}
	for _, id := range ids {
		store, err := stores.At(ctx, orgID, id)
		if err != nil {
			return fmt.Errorf("store %s: %w", id, err)
		}
		if err := eraseFrom(ctx, store, orgID, before); err != nil {
			return fmt.Errorf("store %s: %w", id, err)
		}
	}
	return nil
}

// eraseFrom deletes the objects of an organization from one store. It lists again until it
// finds none, because a listing may leave out an object while others are deleted.
func eraseFrom(ctx context.Context, store Store, orgID string, before time.Time) error {
	for {
		found, after := 0, ""
		for {
			keys, next, err := store.List(ctx, orgID, before, after, erasePage)
			if err != nil {
				return err
			}
			if len(keys) > 0 {
				if err := store.Delete(ctx, keys...); err != nil {
					return err
				}
			}
			found += len(keys)
			if after = next; next == "" {
				break
			}
		}
		if found == 0 {
			return nil
		}
	}
}
