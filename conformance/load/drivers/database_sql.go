package main

import (
	"database/sql"
	"errors"
	"fmt"

	_ "github.com/ncruces/go-sqlite3/driver" // registers the driver "sqlite3"
	_ "modernc.org/sqlite"                   // registers the driver "sqlite"
)

// openSQL opens a database by a driver of database/sql.
func openSQL(name, path string) (connection, error) {
	db, err := sql.Open(name, "file:"+path)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	return &sqlConnection{db: db}, nil
}

type sqlConnection struct {
	db         *sql.DB
	statements []*sql.Stmt
	places     []any // of the type *any, used again for each row
}

func (c *sqlConnection) prepare(statements []string) error {
	for _, text := range statements {
		s, err := c.db.Prepare(text)
		if err != nil {
			return fmt.Errorf("%w: %s", err, text)
		}
		c.statements = append(c.statements, s)
	}
	return nil
}

func (c *sqlConnection) exec(statement string) error {
	_, err := c.db.Exec(statement)
	return err
}

func (c *sqlConnection) run() (amount, error) {
	var read amount
	for _, s := range c.statements {
		if err := c.query(s, &read); err != nil {
			return amount{}, err
		}
	}
	return read, nil
}

// query executes a statement and reads its rows.
func (c *sqlConnection) query(s *sql.Stmt, read *amount) error {
	rows, err := s.Query()
	if err != nil {
		return err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	for len(c.places) < len(columns) {
		c.places = append(c.places, new(any))
	}
	for rows.Next() {
		if err := rows.Scan(c.places[:len(columns)]...); err != nil {
			return err
		}
		read.rows++
		for _, place := range c.places[:len(columns)] {
			switch v := (*place.(*any)).(type) {
			case nil:
				continue
			case string:
				read.texts += len(v)
			case []byte:
				read.texts += len(v)
			}
			read.values++
		}
	}
	return rows.Err()
}

func (c *sqlConnection) close() error {
	var failures []error
	for _, s := range c.statements {
		failures = append(failures, s.Close())
	}
	return errors.Join(append(failures, c.db.Close())...)
}
