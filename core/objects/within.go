package objects

import (
	"context"
	"fmt"
	"io"
	"time"
)

// Within returns a store that refuses every key that is not valid or belongs to another
// organization, and passes all other calls to s. An implementation that keeps the objects of
// all organizations in one place is given out only through Within.
func Within(orgID string, s Store) Store { return within{s, orgID} }

type within struct {
	Store
	orgID string
}

func (w within) check(keys ...string) error {
	for _, key := range keys {
		if err := CheckKey(key); err != nil {
			return err
		}
		if OrgOf(key) != w.orgID {
			return fmt.Errorf("objects: the key %s does not belong to the organization %s", key, w.orgID)
		}
	}
	return nil
}

// Put passes the call on if the key belongs to the organization.
func (w within) Put(ctx context.Context, key string, body io.Reader, size int64, contentType string) error {
	if err := w.check(key); err != nil {
		return err
	}
	return w.Store.Put(ctx, key, body, size, contentType)
}

// Add passes the call on if the key belongs to the organization.
func (w within) Add(ctx context.Context, key string, content []byte, contentType string) (string, error) {
	if err := w.check(key); err != nil {
		return "", err
	}
	return w.Store.Add(ctx, key, content, contentType)
}

// Open passes the call on if the key belongs to the organization.
func (w within) Open(ctx context.Context, key string) (io.ReadCloser, error) {
	if err := w.check(key); err != nil {
		return nil, err
	}
	return w.Store.Open(ctx, key)
}

// Delete passes the call on if all keys belong to the organization; otherwise it deletes
// nothing.
func (w within) Delete(ctx context.Context, keys ...string) error {
	if err := w.check(keys...); err != nil {
		return err
	}
	return w.Store.Delete(ctx, keys...)
}

// DeleteVersions passes the call on if all keys belong to the organization; otherwise it deletes
// nothing.
func (w within) DeleteVersions(ctx context.Context, keys ...string) error {
	if err := w.check(keys...); err != nil {
		return err
	}
	return DeleteVersions(ctx, w.Store, keys...)
}

// Link passes the call on if the key belongs to the organization.
func (w within) Link(ctx context.Context, key string, l Link) (string, error) {
	if err := w.check(key); err != nil {
		return "", err
	}
	return w.Store.Link(ctx, key, l)
}

// List passes the call on if the organization is the one of the store.
func (w within) List(ctx context.Context, orgID string, before time.Time, after string, limit int) ([]string, string, error) {
	if orgID != w.orgID {
		return nil, "", fmt.Errorf("objects: the store of the organization %s does not list those of %s", w.orgID, orgID)
	}
	return w.Store.List(ctx, orgID, before, after, limit)
}
