package peopletest

import (
	"context"
	"sync"

	"github.com/mailhelm/mailhelm/core/jobs"
	"github.com/mailhelm/mailhelm/core/letters"
)

// Queue is a [jobs.Queue] that stores jobs in memory. A rollback does not remove enqueued
// jobs from it, so a test of a rollback must look into the database instead.
type Queue struct {
	mu   sync.Mutex
	Jobs []jobs.Args
}

// Enqueue stores a job.
func (q *Queue) Enqueue(_ context.Context, args jobs.Args) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.Jobs = append(q.Jobs, args)
	return nil
}

// EnqueueOnce stores a job, even if the same job is waiting.
func (q *Queue) EnqueueOnce(ctx context.Context, args jobs.Args) (bool, error) {
	return true, q.Enqueue(ctx, args)
}

// Take removes the waiting jobs and returns them.
func (q *Queue) Take() []jobs.Args {
	q.mu.Lock()
	defer q.mu.Unlock()
	taken := q.Jobs
	q.Jobs = nil
	return taken
}

// Mailbox is a [letters.Sender] that stores the letters. If its field Err is set, Send
// fails with that error instead.
type Mailbox struct {
	letters []letters.Letter
	Err     error
}

// Send stores a letter.
func (m *Mailbox) Send(_ context.Context, l letters.Letter) error {
	if m.Err == nil {
		m.letters = append(m.letters, l)
	}
	return m.Err
}

// Take returns the letters that were sent since the last call of Take.
func (m *Mailbox) Take() []letters.Letter {
	taken := m.letters
	m.letters = nil
	return taken
}
