package spool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/mailhelm/mailhelm/core/objects"
)

// maxInMemory is the size in bytes up to which a message is held in memory. Larger ones are
// held in a temporary file, so that many connections with large messages need little memory.
const maxInMemory = 256 << 10

// held is a message whose size is known: in the file, or in the buffer if there is no file.
type held struct {
	size   int64
	buffer *bytes.Buffer
	file   *os.File
}

// buffers has memory of messages for use by others.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// hold reads a message to its end. The caller must release it. An error of the reader is
// returned as it is.
func hold(body io.Reader, folder string) (*held, error) {
	h := &held{buffer: buffers.Get().(*bytes.Buffer)} //nolint:forcetypeassert // the pool has nothing else
	h.buffer.Reset()
	n, err := io.CopyN(h.buffer, body, maxInMemory+1)
	switch {
	case errors.Is(err, io.EOF):
		h.size = n
		return h, nil
	case err != nil:
		h.release()
		return nil, err
	}
	if err := h.toFile(body, folder); err != nil {
		h.release()
		return nil, err
	}
	return h, nil
}

// toFile moves what is in memory and the rest of the message to a temporary file. The file has
// no name, so it ends with the process.
func (h *held) toFile(body io.Reader, folder string) error {
	var err error
	if h.file, err = os.CreateTemp(folder, "received-*"); err != nil {
		return fmt.Errorf("inbound: temporary file: %w", err)
	}
	if err := os.Remove(h.file.Name()); err != nil {
		return fmt.Errorf("inbound: temporary file: %w", err)
	}
	started := int64(h.buffer.Len())
	if _, err := h.buffer.WriteTo(h.file); err != nil {
		return fmt.Errorf("inbound: temporary file: %w", err)
	}
	n, err := io.Copy(h.file, body)
	if err != nil {
		return err
	}
	if _, err := h.file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("inbound: temporary file: %w", err)
	}
	h.size = started + n
	return nil
}

// storeIn stores the message, and returns its key.
func (h *held) storeIn(ctx context.Context, store objects.Store, key string) (string, error) {
	const contentType = "message/rfc822"
	if h.file == nil {
		return store.Add(ctx, key, h.buffer.Bytes(), contentType)
	}
	return key, store.Put(ctx, key, h.file, h.size, contentType)
}

// release frees the memory and the file.
func (h *held) release() {
	buffers.Put(h.buffer)
	if h.file != nil {
		_ = h.file.Close() // it has no name, so nothing of it remains
	}
}
