package engine

import (
	"context"
	"database/sql"
	"sync"
	"sync/atomic"
)

// pool is a set of database connections with prepared statements. Its gate limits how many
// calls use the connections at the same time.
//
// A statement is sent as text the first time, and is prepared when it is used again.
// Preparing all statements at the start of the program took a quarter of the start's
// processor time (core/doc/decisions/0075).
type pool struct {
	sql     *sql.DB
	dialect Dialect
	gate    *gate
	// unprepared is true for pools that send every statement as text: the pools for
	// expensive reads and for jobs. PostgreSQL then plans each read with the actual values
	// of its parameters. The planning costs little compared with an expensive read.
	unprepared bool
	// idle is the largest number of unused connections that stay open.
	idle int

	mu sync.Mutex // locked while a statement is prepared, and in close
	// usage is indexed by Statement.index.
	usage []usage
}

// usage records whether a pool has run a statement before. It also holds the prepared
// statement, once the pool has prepared it.
type usage struct {
	once     atomic.Bool // the statement ran before
	prepared atomic.Pointer[sql.Stmt]
}

// newPool returns a pool on db that keeps at most idle unused connections open. The caller
// must set the field gate, which limits the calls that use the pool at the same time.
func newPool(db *sql.DB, dialect Dialect, idle int) *pool {
	return &pool{sql: db, dialect: dialect, idle: idle, usage: make([]usage, len(statements))}
}

// findPrepared returns the statement s in its prepared form, or nil if s is not prepared.
// The result again is true if s has run before, so that it is worth preparing. For a pool
// with unprepared set, the results are nil and false.
func (p *pool) findPrepared(s *Statement) (stmt *sql.Stmt, again bool) {
	if p.unprepared {
		return nil, false
	}
	use := &p.usage[s.index]
	if stmt := use.prepared.Load(); stmt != nil {
		return stmt, true
	}
	return nil, use.once.Load() || use.once.Swap(true)
}

// prepare prepares s for all connections of the pool. It does nothing if s is prepared
// already. It uses a connection, so a transaction must call it after its end: on SQLite the
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

// close closes the prepared statements and the connections of the pool. It first waits for
// a statement that is being prepared.
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
