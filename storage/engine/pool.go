package engine

import (
	"context"
	"database/sql"
	"sync"
	"sync/atomic"
)

// pool is a set of connections behind a gate, with the statements that are used often
// prepared on them.
//
// A statement is sent as text the first time, and is prepared when it is used again.
// Preparing all of them at the start took a quarter of its processor time
// (core/doc/decisions/0075).
type pool struct {
	sql     *sql.DB
	dialect Dialect
	gate    *gate
	// unprepared is set for pools that send every statement as text: those of expensive
	// reads and of jobs. Expensive reads are planned for their given values; planning is
	// cheap compared with the read.
	unprepared bool
	// idle is the largest number of unused connections that stay open.
	idle int

	mu sync.Mutex // held while a statement is prepared, and by close
	// usage has the use of each statement at its index.
	usage []usage
}

// usage is what a pool knows about the use of one statement.
type usage struct {
	once     atomic.Bool // the statement ran before
	prepared atomic.Pointer[sql.Stmt]
}

// newPool returns a pool of db that keeps at most idle unused connections. The caller sets
// its gate.
func newPool(db *sql.DB, dialect Dialect, idle int) *pool {
	return &pool{sql: db, dialect: dialect, idle: idle, usage: make([]usage, len(statements))}
}

// prepared returns s prepared, or nil if it is not. In that case the caller sends the
// text, and again reports whether s ran before, so that it is worth preparing.
func (p *pool) prepared(s *Statement) (stmt *sql.Stmt, again bool) {
	if p.unprepared {
		return nil, false
	}
	use := &p.usage[s.index]
	if stmt := use.prepared.Load(); stmt != nil {
		return stmt, true
	}
	return nil, use.once.Load() || use.once.Swap(true)
}

// prepare prepares s for all connections of the pool, and may be repeated. It takes a
// connection: a caller in a transaction calls it afterwards, because on SQLite the
// transaction has the only connection that writes.
func (p *pool) prepare(ctx context.Context, s *Statement) (*sql.Stmt, error) {
	use := &p.usage[s.index]
	p.mu.Lock()
	defer p.mu.Unlock()
	if stmt := use.prepared.Load(); stmt != nil {
		return stmt, nil
	}
	stmt, err := p.sql.PrepareContext(ctx, s.on(p.dialect)) //nolint:sqlclosecheck // lives as long as the pool
	if err != nil {
		return nil, s.wrap(err)
	}
	use.prepared.Store(stmt)
	return stmt, nil
}

// dropIdle closes the unused connections. Connections in use stay open.
func (p *pool) dropIdle() {
	p.sql.SetMaxIdleConns(0)
	p.sql.SetMaxIdleConns(p.idle)
}

// close closes the prepared statements and the connections. It waits for a statement that
// is being prepared.
func (p *pool) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.usage {
		if stmt := p.usage[i].prepared.Swap(nil); stmt != nil {
			_ = stmt.Close() //nolint:sqlclosecheck // one of many, and the pool closes as well
		}
	}
	return p.sql.Close()
}
