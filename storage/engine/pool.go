package engine

import (
	"context"
	"database/sql"
	"sync"
	"sync/atomic"
	"time"
)

// pool is a set of database connections with prepared statements. Its gate limits how many
// calls use the connections at the same time.
//
// A statement is sent as text the first time, and is prepared when it is used again.
// Preparing all statements at the start of the program took a quarter of the start's
// processor time (core/doc/decisions/0075).
type pool struct {
	// name is the name of the pool in metrics.
	name    string
	sql     *sql.DB
	dialect Dialect
	gate    *gate
	// unprepared is true for pools that send every statement as text: the pools for
	// expensive reads and for jobs. PostgreSQL then plans each read with the actual values
	// of its parameters. The planning costs little compared with an expensive read. Behind a
	// pooler without sessions all pools are unprepared.
	unprepared bool
	// transactional is true if each read runs in a transaction of its own, because its
	// settings cannot be those of the connection: the pool for expensive reads behind a pooler
	// without sessions.
	transactional bool
	// idle is the largest number of unused connections that stay open.
	idle int

	mu sync.Mutex // locked while a statement is prepared, and in close
	// usage is indexed by Statement.index.
	usage []usage

	combining sync.Mutex // locked while combined is used
	// combined has the combinations of statements by their indexes.
	combined map[string]*Statement
}

// usage records whether a pool has run a statement before. It also holds the prepared
// statement, once the pool has prepared it.
type usage struct {
	once     atomic.Bool // the statement ran before
	prepared atomic.Pointer[sql.Stmt]
}

// newPool returns a pool on db that keeps at most idle unused connections open. The caller
// must set the fields name and gate; the gate limits the calls that use the pool at the same
// time.
func newPool(db *sql.DB, dialect Dialect, idle int) *pool {
	return &pool{sql: db, dialect: dialect, idle: idle, usage: make([]usage, len(statements)), combined: map[string]*Statement{}}
}

// usageOf returns the usage of the statement s.
func (p *pool) usageOf(s *Statement) *usage {
	if s.own != nil {
		return s.own
	}
	return &p.usage[s.index]
}

// findPrepared returns the statement s in its prepared form, or nil if s is not prepared.
// The result again is true if s has run before, so that it is worth preparing. For a pool
// with unprepared set, the results are nil and false.
func (p *pool) findPrepared(s *Statement) (stmt *sql.Stmt, again bool) {
	if p.unprepared {
		return nil, false
	}
	use := p.usageOf(s)
	if stmt := use.prepared.Load(); stmt != nil {
		return stmt, true
	}
	return nil, use.once.Load() || use.once.Swap(true)
}

// prepare prepares s for all connections of the pool. It does nothing if s is prepared
// already. It uses a connection, so a transaction must call it after its end: on SQLite the
// transaction has the only connection that writes.
func (p *pool) prepare(ctx context.Context, s *Statement) (*sql.Stmt, error) {
	use := p.usageOf(s)
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

// PoolStats are the figures of one connection pool. The counts are since the start.
type PoolStats struct {
	// Name is the name of the pool: "write" and "read" on SQLite, "main", "jobs" and
	// "replica" on PostgreSQL, and "expensive" on both. Main is for calls, "expensive" for expensive reads.
	Name string
	// Limit is the largest number of connections. InUse and Idle are those that are open.
	Limit, InUse, Idle int
	// Waiting is how many calls wait for a connection now. Waits is how many had to wait, and
	// Refused how many of them got no connection. Waited is the sum of their waiting times.
	Waiting, Waits, Refused int
	Waited                  time.Duration
}

// PoolStats returns the figures of all connection pools. It reads no database.
//
// Two places let calls wait: the gate of the pool, and database/sql for code that uses its
// handle directly. The figures are the sums of both.
func (db *DB) PoolStats() []PoolStats {
	all := make([]PoolStats, 0, len(db.pools()))
	for _, p := range db.pools() {
		all = append(all, p.stats())
	}
	return all
}

// stats returns the figures of the pool.
func (p *pool) stats() PoolStats {
	own := p.sql.Stats()
	p.gate.mu.Lock()
	defer p.gate.mu.Unlock()
	return PoolStats{
		Name: p.name, Limit: own.MaxOpenConnections, InUse: own.InUse, Idle: own.Idle,
		Waiting: p.gate.waiting(), Waits: p.gate.waits + int(own.WaitCount), Refused: p.gate.refused, Waited: p.gate.waited + own.WaitDuration,
	}
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
		p.usage[i].close()
	}
	p.combining.Lock()
	defer p.combining.Unlock()
	for _, s := range p.combined {
		s.own.close()
	}
	return p.sql.Close()
}

// close closes the prepared statement.
func (u *usage) close() {
	if stmt := u.prepared.Swap(nil); stmt != nil {
		_ = stmt.Close() //nolint:sqlclosecheck // one of many, and the pool closes as well
	}
}
