package github

import "sync"

// maxBlobs is the number of bytes of files that are kept, so that a sync reads only changed files.
const maxBlobs = 32 << 20

// blobKey identifies a file: its id is the hash of its content, but who may read it depends on the
// repository.
type blobKey struct {
	token tokenKey
	id    string
}

// blobs keeps the files that were read last. It is safe for use by several goroutines.
type blobs struct {
	mu       sync.Mutex
	contents map[blobKey][]byte
	order    []blobKey // the oldest first
	bytes    int
}

func newBlobs() *blobs { return &blobs{contents: map[blobKey][]byte{}} }

// get returns the content of a file. It must not be changed.
func (b *blobs) get(key blobKey) ([]byte, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	content, ok := b.contents[key]
	return content, ok
}

// put keeps a file, and forgets the oldest ones.
func (b *blobs) put(key blobKey, content []byte) {
	const overhead = 200
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, known := b.contents[key]; known {
		return
	}
	b.contents[key], b.order, b.bytes = content, append(b.order, key), b.bytes+len(content)+overhead
	for b.bytes > maxBlobs {
		oldest := b.order[0]
		b.order, b.bytes = b.order[1:], b.bytes-len(b.contents[oldest])-overhead
		delete(b.contents, oldest)
	}
}
