package objects

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// Store keeps objects of the mail of one organization. Implementations are safe for
// concurrent use. Every method refuses a key that is not valid (see [CheckKey]) or that
// belongs to another organization.
//
// A method fails with ErrUnavailable if the store cannot serve the call now, for example
// because the disk is full or the bucket does not answer. The call may be repeated later.
type Store interface {
	// ID returns the id that finds this store again by Stores.At. A message row stores it.
	ID() string
	// Put stores an object and replaces an existing one with the same key. When it returns
	// nil, the object is complete and durable. When it fails, no part of the new object is
	// visible, and an existing object is unchanged; but after a timeout of a bucket, the
	// object may be complete. It fails with ErrSize if body does not have exactly size bytes.
	// An error of body is returned as it is.
	Put(ctx context.Context, key string, body io.Reader, size int64, contentType string) error
	// Add stores a new object, whose content is in memory, and returns the key under which it is
	// found from then on. That key has the message of key, but it may be another one: a store can
	// keep small objects together, and their keys then say where. An object that was added under
	// key before is replaced in some stores, and remains in others. It fails as Put does.
	Add(ctx context.Context, key string, content []byte, contentType string) (string, error)
	// Open returns the content of an object. The caller closes it. It fails with not_found if
	// there is no such object.
	Open(ctx context.Context, key string) (io.ReadCloser, error)
	// Delete deletes objects durably. It may be repeated: a missing object is no error.
	Delete(ctx context.Context, keys ...string) error
	// List returns the keys of objects that were stored before a time, in an order of its own. It
	// looks at most at limit objects, after the position that the call before returned as next;
	// "" is the first position. next is "" at the end. Objects that other programs stored have
	// no keys. An object that is stored or deleted during the calls may be left out.
	List(ctx context.Context, orgID string, before time.Time, after string, limit int) (keys []string, next string, err error)
	// Link returns a URL at which its holder can download the object until a time.
	// The URL is a secret and must not be logged. Link does not check that the object exists.
	Link(ctx context.Context, key string, l Link) (string, error)
}

// Link says how an object is downloaded by a URL.
type Link struct {
	// Until is the time at which the URL stops to work. A URL works for at most MaxLinkLife.
	Until time.Time
	// Filename is the file name that a browser proposes; "" for none. It may come from a
	// mail, so it can have any content; implementations make it harmless.
	Filename string
	// ContentType is the content type of the answer; "" for application/octet-stream. It may
	// come from a mail too.
	ContentType string
}

// MaxLinkLife is the longest life of a link. It is the limit of S3 for presigned URLs.
const MaxLinkLife = 7 * 24 * time.Hour

// Stores finds stores of organizations.
type Stores interface {
	// Of returns the store for new objects of an organization.
	Of(ctx context.Context, orgID string) (Store, error)
	// At returns the store with an id, which Store.ID returned earlier, for the objects that
	// are in it; "" means FilesID. It fails with not_found if the organization has no such store.
	At(ctx context.Context, orgID, storeID string) (Store, error)
}

// FilesID is the id of the store in the data folder. It is the same for all organizations.
const FilesID = "files"

// ErrUnavailable is wrapped by errors of stores that do not work at present: a full or
// read-only disk, a missing folder, a bucket that does not answer or refuses the access key.
// A receiver of mail answers such an error with a temporary failure (4xx), so that the
// sender tries again.
var ErrUnavailable = errors.New("the storage of mail is not available")

// ErrSize is the error for a body that has more or fewer bytes than announced.
var ErrSize = errors.New("the object does not have the size that was announced")

// NotFound returns the error for an object that does not exist.
func NotFound() *core.Error { return core.NotFound("object") }
