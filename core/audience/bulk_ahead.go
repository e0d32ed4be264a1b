package audience

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
)

// judgedChunk is a chunk of rows as far as they can be judged without the contacts;
// items are the outcomes that follow from that, in the places of the rows.
type judgedChunk struct {
	first int
	rows  []readRow
	items []BulkItem
}

// chunkReader reads and judges the chunks of a job, and the next one while one is
// written. What it has read is good for as long as the job is at that chunk, because
// rows do not change until they are done.
type chunkReader struct {
	audience *Audience
	org, job string
	// next is the chunk that begins at nextFirst, nil when none is being read.
	next      func() (judgedChunk, error)
	nextFirst int
	stop      context.CancelFunc
}

// chunk is the one that begins at an index.
func (r *chunkReader) chunk(ctx context.Context, first int) (judgedChunk, error) {
	if r.next == nil || r.nextFirst != first {
		r.close()
		return r.read(ctx, first)
	}
	chunk, err := r.next()
	r.next = nil
	r.stop()
	return chunk, err
}

// ahead begins to read the chunk that begins at an index.
func (r *chunkReader) ahead(ctx context.Context, first int) {
	ctx, r.stop = context.WithCancel(ctx)
	r.nextFirst = first
	r.next = core.Ahead(func() (judgedChunk, error) { return r.read(ctx, first) })
}

// close ends what is being read.
func (r *chunkReader) close() {
	if r.next == nil {
		return
	}
	r.stop()
	_, _ = r.next() // nobody wants it any more
	r.next = nil
}

func (r *chunkReader) read(ctx context.Context, first int) (judgedChunk, error) {
	chunk, err := r.audience.Store.BulkChunk(ctx, r.org, r.job, first)
	if err != nil {
		return judgedChunk{}, err
	}
	rows, items, err := r.audience.readRows(ctx, r.org, chunk)
	return judgedChunk{first, rows, items}, err
}
