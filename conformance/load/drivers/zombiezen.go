package main

import (
	"errors"
	"fmt"

	"zombiezen.com/go/sqlite"
)

// openZombiezen opens a database by the driver's own interface.
func openZombiezen(path string) (connection, error) {
	c, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
	if err != nil {
		return nil, err
	}
	return &zombiezenConnection{conn: c}, nil
}

type zombiezenConnection struct {
	conn       *sqlite.Conn
	statements []*sqlite.Stmt
}

func (c *zombiezenConnection) prepare(statements []string) error {
	for _, text := range statements {
		s, _, err := c.conn.PrepareTransient(text)
		if err != nil {
			return fmt.Errorf("%w: %s", err, text)
		}
		c.statements = append(c.statements, s)
	}
	return nil
}

func (c *zombiezenConnection) exec(statement string) error {
	s, err := c.conn.Prepare(statement)
	if err != nil {
		return err
	}
	_, err = s.Step()
	return errors.Join(err, s.Reset())
}

func (c *zombiezenConnection) run() (amount, error) {
	var read amount
	for _, s := range c.statements {
		for {
			row, err := s.Step()
			if err != nil {
				return amount{}, err
			}
			if !row {
				break
			}
			read.rows++
			for i := range s.ColumnCount() {
				switch s.ColumnType(i) {
				case sqlite.TypeText:
					read.texts += len(s.ColumnText(i))
				case sqlite.TypeBlob:
					blob := make([]byte, s.ColumnLen(i))
					read.texts += s.ColumnBytes(i, blob)
				case sqlite.TypeInteger:
					_ = s.ColumnInt64(i)
				case sqlite.TypeFloat:
					_ = s.ColumnFloat(i)
				default:
					continue
				}
				read.values++
			}
		}
		if err := s.Reset(); err != nil {
			return amount{}, err
		}
	}
	return read, nil
}

func (c *zombiezenConnection) close() error {
	var failures []error
	for _, s := range c.statements {
		failures = append(failures, s.Finalize())
	}
	return errors.Join(append(failures, c.conn.Close())...)
}
