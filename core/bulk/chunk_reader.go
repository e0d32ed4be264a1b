package bulk

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
)

// judgedChunk is a chunk of rows that were checked without reading the contacts. items has
// one outcome for each row in the chunk's order. Outcomes of invalid rows are set, all
// others are still empty.
type judgedChunk struct {
	first int
	rows  []readRow
	items []Item
}

// chunkReader reads and checks the chunks of one bulk write. It reads the next chunk while
// the current one is written. That is safe because rows do not change until their chunk is
// processed.
type chunkReader struct {
	bulk     *Bulk
	org, job string
	// next waits for the chunk that is being read in advance, and returns it. That chunk
	// begins at the row nextFirst. next is nil if no chunk is being read in advance.
	next      func() (judgedChunk, error)
	nextFirst int
	stop      context.CancelFunc
}

// chunk returns the chunk that begins with the row at the index in the parameter first.
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

// prefetch starts to read the chunk that begins with the row at the index in first.
func (r *chunkReader) prefetch(ctx context.Context, first int) {
	ctx, r.stop = context.WithCancel(ctx)
	r.nextFirst = first
	r.next = core.StartAsync(func() (judgedChunk, error) { return r.read(ctx, first) })
}

// close cancels a read that is in progress and waits for its end.
func (r *chunkReader) close() {
	if r.next == nil {
		return
	}
	r.stop()
	_, _ = r.next() // wait until the read has ended; its result is not used
	r.next = nil
}

func (r *chunkReader) read(ctx context.Context, first int) (judgedChunk, error) {
	chunk, err := r.bulk.Store.BulkChunk(ctx, r.org, r.job, first)
	if err != nil {
		return judgedChunk{}, err
	}
	rows, items, err := r.bulk.readRows(ctx, r.org, chunk)
	return judgedChunk{first, rows, items}, err
}
