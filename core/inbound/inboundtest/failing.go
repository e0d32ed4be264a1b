package inboundtest

import (
	"context"
	"io"

	"github.com/mailhelm/mailhelm/core/objects"
)

// failing is a store whose calls fail as Stores.Fail says.
type failing struct {
	objects.Store
	by *Stores
}

func (f failing) fail(call, key string) error {
	if f.by.Fail == nil {
		return nil
	}
	return f.by.Fail(call, key)
}

func (f failing) Put(ctx context.Context, key string, body io.Reader, size int64, contentType string) error {
	if err := f.fail("put", key); err != nil {
		return err
	}
	return f.Store.Put(ctx, key, body, size, contentType)
}

func (f failing) Add(ctx context.Context, key string, content []byte, contentType string) (string, error) {
	if err := f.fail("put", key); err != nil {
		return "", err
	}
	return f.Store.Add(ctx, key, content, contentType)
}

func (f failing) Open(ctx context.Context, key string) (io.ReadCloser, error) {
	if err := f.fail("open", key); err != nil {
		return nil, err
	}
	return f.Store.Open(ctx, key)
}

func (f failing) Delete(ctx context.Context, keys ...string) error {
	for _, key := range keys {
		if err := f.fail("delete", key); err != nil {
			return err
		}
	}
	return f.Store.Delete(ctx, keys...)
}
