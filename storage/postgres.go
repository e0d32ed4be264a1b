package storage

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/lib/pq"
)

const (
	postgresConns     = 16
	postgresIdleTime  = 5 * time.Minute
	postgresConnectIn = "10" // seconds
)

// openPostgres opens the database that c.URL names. Statements are prepared on
// each connection, so a pooler in between must keep sessions.
func openPostgres(ctx context.Context, c Config) (*DB, error) {
	name, err := postgresName(c.URL)
	if err != nil {
		return nil, err
	}
	connector, err := pq.NewConnector(name)
	if err != nil {
		return nil, errors.New("storage: the database URL is not one that PostgreSQL's driver reads")
	}
	db := sql.OpenDB(connector)
	size := cmp.Or(c.MaxConns, postgresConns)
	db.SetMaxOpenConns(size)
	db.SetMaxIdleConns(size)
	db.SetConnMaxIdleTime(postgresIdleTime)
	if err := db.PingContext(ctx); err != nil {
		_ = db.Close()
		return nil, fmt.Errorf("storage: open postgres: %w", err)
	}
	p := &pool{sql: db, engine: postgres}
	return &DB{engine: postgres, clock: c.Clock, logger: c.Logger, write: p, read: p}, nil
}

// postgresName adds to the URL what we rely on. Its errors do not repeat the
// URL, which holds a password.
func postgresName(raw string) (string, error) {
	u, err := url.Parse(raw)
	if err != nil || (u.Scheme != "postgres" && u.Scheme != "postgresql") {
		return "", errors.New("storage: the database URL does not begin with postgres:// or is not a URL")
	}
	q := u.Query()
	// One round trip instead of two for a statement that is not prepared.
	q.Set("binary_parameters", "yes")
	for key, value := range map[string]string{"application_name": "mailhelm", "connect_timeout": postgresConnectIn} {
		if !q.Has(key) {
			q.Set(key, value)
		}
	}
	u.RawQuery = q.Encode()
	return u.String(), nil
}
