package engine

import (
	"context"
	"database/sql"
	"sync"
	"sync/atomic"
)

// pool is a set of connections with the statements prepared on them, behind a gate.
//
// All statements are prepared together, at the first call and before the first
// transaction. Preparing a statement takes a connection of its own. A transaction that
// holds SQLite's only writer would wait for it in vain.
type pool struct {
	sql     *sql.DB
	dialect Dialect
	gate    *gate
	// readsOnly is set for pools that do not prepare statements that write.
	readsOnly bool
	// unprepared is set for pools that send statements as text: those of expensive reads
	// and of jobs. Expensive reads are planned for their given values; planning is cheap
	// compared with the read.
	unprepared bool
	// idle is the largest number of unused connections that stay open.
	idle int

	ready    atomic.Bool
	mu       sync.Mutex
	prepared []*sql.Stmt
}

// prepare prepares every statement. It returns an error while the schema is missing, and
// may be repeated.
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

// dropIdle closes the unused connections. Connections in use stay open.
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
			_ = stmt.Close() // the pool closes, or the statement was never used
		}
	}
}
