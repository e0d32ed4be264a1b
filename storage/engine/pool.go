package engine

import (
	"context"
	"database/sql"
	"sync"
	"sync/atomic"
)

// pool is a set of connections together with the statements prepared on them, behind a
// gate.
//
// All statements are prepared together, at the first call and before the first
// transaction: preparing one takes a connection of its own, which a transaction
// that holds SQLite's only writer would wait for in vain.
type pool struct {
	sql     *sql.DB
	dialect Dialect
	gate    *gate
	// readsOnly leaves statements that write unprepared.
	readsOnly bool
	// unprepared sends statements as text. It is for expensive reads, which are planned
	// for their very values and outweigh the planning, and for jobs.
	unprepared bool
	// idle is how many unused connections stay open.
	idle int

	ready    atomic.Bool
	mu       sync.Mutex
	prepared []*sql.Stmt
}

// prepare makes every statement ready. It fails while the schema is missing and
// may be called again.
func (p *pool) prepare(ctx context.Context) error {
	if p.unprepared || p.ready.Load() {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ready.Load() {
		return nil
	}
	prepared := make([]*sql.Stmt, len(statements))
	for i, s := range statements {
		if p.readsOnly && s.writes {
			continue
		}
		stmt, err := p.sql.PrepareContext(ctx, s.on(p.dialect)) //nolint:sqlclosecheck // lives as long as the pool
		if err != nil {
			closeAll(prepared)
			return s.wrap(err)
		}
		prepared[i] = stmt
	}
	p.prepared = prepared
	p.ready.Store(true)
	return nil
}

// dropIdle closes the unused connections. Those in use stay.
func (p *pool) dropIdle() {
	p.sql.SetMaxIdleConns(0)
	p.sql.SetMaxIdleConns(p.idle)
}

func (p *pool) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	closeAll(p.prepared)
	p.prepared = nil
	p.ready.Store(false)
	return p.sql.Close()
}

func closeAll(prepared []*sql.Stmt) {
	for _, stmt := range prepared {
		if stmt != nil {
			_ = stmt.Close() // the connection is going away or was never used
		}
	}
}
