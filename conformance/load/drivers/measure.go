package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// connection is a connection of a driver to a database.
type connection interface {
	// prepare compiles the statements that run executes.
	prepare(statements []string) error
	// exec executes a statement without rows, such as BEGIN.
	exec(statement string) error
	// run executes the prepared statements in their order, and returns what they read.
	run() (amount, error)
	close() error
}

// amount is what statements read. All drivers must read the same.
type amount struct{ rows, values, texts int }

// settings are those of Mailhelm's connection for writes.
var settings = []string{"PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL", "PRAGMA secure_delete=1", "PRAGMA foreign_keys=1"}

// measure returns the processor seconds of one execution of the statements, by driver and round.
func measure(ctx context.Context, folder string, r recording, rounds int, turn time.Duration) (times [][]float64, err error) {
	copies, err := os.MkdirTemp("", "drivers")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(copies)) }()
	connections := make([]connection, len(drivers))
	defer func() {
		for _, c := range connections {
			if c != nil {
				err = errors.Join(err, c.close())
			}
		}
	}()
	var want amount
	for i, d := range drivers {
		if connections[i], err = open(d, filepath.Join(folder, r.Database), filepath.Join(copies, d.name+".db"), r.Statements); err != nil {
			return nil, fmt.Errorf("%s: %w", d.name, err)
		}
		got, err := once(connections[i], r.Writes)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.name, err)
		}
		if i == 0 {
			want = got
		}
		if got != want {
			return nil, fmt.Errorf("%s read %+v, %s %+v", d.name, got, drivers[0].name, want)
		}
	}
	times = make([][]float64, len(drivers))
	for range rounds {
		for i, c := range connections {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			took, err := repeat(c, r.Writes, turn)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", drivers[i].name, err)
			}
			times[i] = append(times[i], took)
		}
	}
	return times, nil
}

// open copies a database to a path and opens the copy.
func open(d driver, database, path string, statements []string) (connection, error) {
	content, err := os.ReadFile(database)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		return nil, err
	}
	c, err := d.open(path)
	if err != nil {
		return nil, err
	}
	for _, s := range settings {
		if err := c.exec(s); err != nil {
			return nil, errors.Join(err, c.close())
		}
	}
	if err := c.prepare(statements); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

// once executes the statements once. It rolls back what they wrote.
func once(c connection, writes bool) (amount, error) {
	if !writes {
		return c.run()
	}
	if err := c.exec("BEGIN IMMEDIATE"); err != nil {
		return amount{}, err
	}
	read, err := c.run()
	return read, errors.Join(err, c.exec("ROLLBACK"))
}

// repeat executes the statements again and again for a time, and returns the processor seconds of one execution.
func repeat(c connection, writes bool, turn time.Duration) (float64, error) {
	used, executions := processorTime(), 0
	for began := time.Now(); executions == 0 || time.Since(began) < turn; executions++ {
		if _, err := once(c, writes); err != nil {
			return 0, err
		}
	}
	return (processorTime() - used).Seconds() / float64(executions), nil
}

// processorTime returns the processor time that this process has used.
func processorTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err) // cannot be: the arguments are valid
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
