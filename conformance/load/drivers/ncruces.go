package main

import (
	"errors"
	"fmt"

	"github.com/ncruces/go-sqlite3"
)

// openNcruces opens a database by the driver's own interface.
func openNcruces(path string) (connection, error) {
	c, err := sqlite3.Open(path)
	if err != nil {
		return nil, err
	}
	return &ncrucesConnection{conn: c}, nil
}

type ncrucesConnection struct {
	conn       *sqlite3.Conn
	statements []*sqlite3.Stmt
}

func (c *ncrucesConnection) prepare(statements []string) error {
	for _, text := range statements {
		s, _, err := c.conn.Prepare(text)
		if err != nil {
			return fmt.Errorf("%w: %s", err, text)
		}
		c.statements = append(c.statements, s)
	}
	return nil
}

func (c *ncrucesConnection) exec(statement string) error { return c.conn.Exec(statement) }

func (c *ncrucesConnection) run() (amount, error) {
	var read amount
	for _, s := range c.statements {
		for s.Step() {
			read.rows++
			for i := range s.ColumnCount() {
				switch s.ColumnType(i) {
				case sqlite3.TEXT:
					read.texts += len(s.ColumnText(i))
				case sqlite3.BLOB:
					read.texts += len(s.ColumnBlob(i, nil))
				case sqlite3.INTEGER:
					_ = s.ColumnInt64(i)
				case sqlite3.FLOAT:
					_ = s.ColumnFloat(i)
				default:
					continue
				}
				read.values++
			}
		}
		if err := errors.Join(s.Err(), s.Reset()); err != nil {
			return amount{}, err
		}
	}
	return read, nil
}

func (c *ncrucesConnection) close() error {
	var failures []error
	for _, s := range c.statements {
		failures = append(failures, s.Close())
	}
	return errors.Join(append(failures, c.conn.Close())...)
}
