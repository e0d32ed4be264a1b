package assets

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/objects"
)

// PublicStore finds contents of all organizations.
type PublicStore interface {
	// PublicContents returns the organizations that have the content with a hash, the first ones
	// first, and at most limit.
	PublicContents(ctx context.Context, hash string, limit int) ([]Owned, error)
}

// Owned is a content of an organization.
type Owned struct {
	OrgID string
	Content
}

// Public reads contents for the public asset address, which names the hash of a content and no
// organization. Equal contents have one address, so it does not matter whose copy is read.
type Public struct {
	Store   PublicStore
	Objects objects.Stores
}

// maxCopies is how many organizations are asked for a content if their object stores do not work.
const maxCopies = 3

// Find returns the copies of the content with a hash. It fails with core.CodeNotFound if no
// organization has it. All copies have the same Type and SizeBytes.
func (p *Public) Find(ctx context.Context, hash string) ([]Owned, error) {
	found, err := p.Store.PublicContents(ctx, hash, maxCopies)
	if err == nil && len(found) == 0 {
		err = core.NotFound("image")
	}
	return found, err
}

// Open opens the first of the copies that can be opened. A read fails before the last byte is
// returned if the object does not have the hash. The caller closes the content. Open fails with
// core.CodeTemporarilyUnavailable if object stores do not work.
func (p *Public) Open(ctx context.Context, copies []Owned) (io.ReadCloser, error) {
	var failures []error
	for _, c := range copies {
		content, err := openContent(ctx, p.Objects, c.OrgID, c.StoreID, c.Hash, c.SizeBytes)
		if err == nil {
			return content, nil
		}
		failures = append(failures, err)
	}
	if len(failures) == 1 {
		return nil, failures[0]
	}
	return nil, errors.Join(failures...)
}

// ErrLost is the error of a content that its object store does not have any more, or has changed.
// The operator can restore the object; trying again does not help.
var ErrLost = errors.New("the content of the image is lost")

// openContent opens a content in an object store. It fails with ErrLost if the store does not have it, and
// a read does if the object has another content.
func openContent(ctx context.Context, stores objects.Stores, orgID, storeID, hash string, size int) (io.ReadCloser, error) {
	store, err := stores.At(ctx, orgID, storeID)
	var object io.ReadCloser
	if err == nil {
		object, err = store.Open(ctx, objects.AssetKey(orgID, hash))
	}
	if core.IsNotFound(err) { // the image exists, so its caller must not get this error
		return nil, fmt.Errorf("image %s: the store %s of the organization %s does not have it: %w", hash, storeID, orgID, ErrLost)
	}
	if err != nil {
		return nil, fmt.Errorf("image %s: %w", hash, unavailable(err))
	}
	return &verified{object: object, sum: sha256.New(), want: hash, left: size}, nil
}

// verified reads an object. It returns the last bytes only if the object has the hash: another program
// may have replaced it in the bucket of a customer.
type verified struct {
	object io.ReadCloser
	sum    hash.Hash
	want   string
	left   int
}

// Close closes the object.
func (v *verified) Close() error { return v.object.Close() }

// Read reads from the object.
func (v *verified) Read(b []byte) (int, error) {
	if v.left == 0 {
		return 0, io.EOF
	}
	n, err := v.object.Read(b[:min(len(b), v.left)])
	v.sum.Write(b[:n])
	v.left -= n
	switch {
	case v.left == 0 && hex.EncodeToString(v.sum.Sum(nil)) != v.want:
		return 0, fmt.Errorf("image %s: the object has another content: %w", v.want, ErrLost)
	case v.left == 0:
		return n, nil
	case errors.Is(err, io.EOF):
		return n, fmt.Errorf("image %s: the object is too short: %w", v.want, ErrLost)
	}
	return n, err
}
